// Does long work outside the GUI thread: runs, opening and saving traces. There is one current job.
// A newer job cancels the older one, whose result, if it still arrives, is recognized by its id and
// dropped.
#pragma once

#include "app/run_job/run_job.h"

#include <QObject>
#include <QThreadPool>
#include <QTimer>

#include <atomic>
#include <functional>
#include <memory>
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
    ~RunJobs() override; // cancels and waits, so no thread outlives the object

    void start(JobBody body);
    void cancel();

    [[nodiscard]] bool isRunning() const { return m_control != nullptr; }

    [[nodiscard]] double share() const;

Q_SIGNALS:
    void progressed(); // at most 20 times a second
    void finished(const pallascope::app::JobResult& result);

private:
    struct Control // shared with the working thread
    {
        std::atomic<bool> cancelled = false;
        std::atomic<double> share = 0;
    };

    void deliver(int id, const JobResult& result);

    QThreadPool m_threads;              // destroyed before the members that its threads use
    std::shared_ptr<Control> m_control; // of the current job; null if there is none
    QTimer m_poll;
    int m_id = 0;
};

} // namespace pallascope::app
