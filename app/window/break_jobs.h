// Looks for the stops of breakpoints that need values, outside the GUI thread, one breakpoint after
// the other.
#pragma once

#include "app/run_job/break_search.h"
#include "app/window/work.h"

#include <QString>

#include <deque>
#include <memory>
#include <optional>

namespace pallascope::app {

class BreakJobs : public QObject
{
    Q_OBJECT

public:
    explicit BreakJobs(QObject* parent = nullptr);

    // From now on, searches are in this run. Those in another run are dropped.
    void open(const RunRequest& request, std::shared_ptr<const layout::RunView> run,
              bool isReopened);
    void close(); // there is no run
    void search(const trace::Breakpoint& breakpoint);
    void cancel(); // those under way and those that wait

    // The share of the run that the current search has looked at; nullopt if none is under way.
    [[nodiscard]] std::optional<double> share() const;

Q_SIGNALS:
    void found(const pallascope::trace::Breakpoint& breakpoint,
               const std::vector<std::int64_t>& stops);
    void failed(const pallascope::trace::Breakpoint& breakpoint, const QString& why);
    void progressed(); // also when a search begins and ends

private:
    using Stops = Result<std::optional<std::vector<std::int64_t>>>;

    void next();
    void finish(int run, const trace::Breakpoint& breakpoint, const Stops& stops);

    RunRequest m_request;
    std::shared_ptr<const layout::RunView> m_view; // null: there is no run
    bool m_isReopened = false;
    std::deque<trace::Breakpoint> m_waiting;
    int m_run = 0; // counts runs, so that answers about an earlier one are dropped
    Work m_work;   // one search after the other
};

} // namespace pallascope::app
