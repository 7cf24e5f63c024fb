// Does long work outside the GUI thread: runs, opening and saving traces. There is one current job.
// A newer job cancels the older one, whose result, if it still arrives, is recognized by its id and
// dropped.
#pragma once

#include "app/run_job/run_job.h"
#include "app/window/work.h"

#include <functional>
#include <optional>

namespace pallascope::app {

// What a job yields: a run to show, nothing (for a saved file), or why it ended without a run. With
// an error there may be a view of what was asked for (viewWithoutRun).
struct JobResult
{
    std::optional<FinishedRun> run;
    std::optional<Error> error;
};

using JobBody = std::function<JobResult(const Progress&)>;

class RunJobs : public QObject
{
    Q_OBJECT

public:
    explicit RunJobs(QObject* parent = nullptr);

    void start(JobBody body);
    void cancel();

    [[nodiscard]] bool isRunning() const { return m_work.isRunning(); }

    [[nodiscard]] double share() const { return m_work.share(); }

Q_SIGNALS:
    void progressed(); // at most 20 times a second
    void finished(const pallascope::app::JobResult& result);

private:
    void deliver(int id, const JobResult& result);

    int m_id = 0;
    Work m_work;
};

} // namespace pallascope::app
