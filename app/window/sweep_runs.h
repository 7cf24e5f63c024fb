// Runs one sweep at a time outside the GUI thread. Its rows come a few times a second, while it
// goes on.
#pragma once

#include "app/run_job/sweep_job.h"
#include "app/window/work.h"

#include <QObject>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pallascope::app {

class SweepRuns : public QObject
{
    Q_OBJECT

public:
    explicit SweepRuns(QObject* parent = nullptr);

    void start(SweepRequest request);
    void cancel(); // rows that came stay; nothing is emitted after this

    [[nodiscard]] bool isRunning() const { return m_work.isRunning(); }

    // A row with its number among all combinations.
    using Numbered = std::pair<std::size_t, study::SweepRow>;

Q_SIGNALS:
    void prepared(const std::shared_ptr<const pallascope::app::SweepJob>& job);
    void came(const std::vector<pallascope::app::SweepRuns::Numbered>& rows);
    void finished(const std::optional<pallascope::Error>& error);

private:
    struct Arrivals; // what the working thread leaves for the GUI thread

    void take();
    void deliver(int id, const std::optional<Error>& error);

    int m_id = 0;
    std::shared_ptr<Arrivals> m_arrivals; // of the current sweep
    Work m_work;
};

} // namespace pallascope::app
