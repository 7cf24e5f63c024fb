// What was asked for, the job under way and the run that came of it last. Jobs run in the
// background; their progress and errors are said in place (verdict strip, field of the form).
#pragma once

#include "app/run_job/run_job.h"
#include "app/window/run_jobs.h"

#include <QObject>
#include <QString>

#include <optional>

namespace pallascope::app {

// The job under way, and how the last one ended.
struct JobStatus
{
    bool running = false;
    QString what; // "re-running", "opening main.trace.json"
    double share = 0;
    QString error;     // one sentence, empty: none
    QString parameter; // the field of the form that the error is about, empty: none
    QString notice;    // "Saved main.trace.json", empty: none
    bool operator==(const JobStatus&) const = default;
};

class Runs : public QObject
{
    Q_OBJECT

public:
    explicit Runs(QObject* parent = nullptr);

    // The run that is shown; none before the first.
    [[nodiscard]] const std::optional<FinishedRun>& shown() const { return m_shown; }

    [[nodiscard]] const JobStatus& job() const { return m_job; }

    // What was asked for last: the form shows it, whether it ran or not.
    [[nodiscard]] const RunRequest& request() const { return m_request; }

    void start(RunRequest request);
    void setKernel(const std::string& kernel);
    void setChip(const std::string& chip);
    void setParameter(const std::string& name, const std::string& value);
    void applyAlternative(std::size_t index);
    void checkValues(); // the same run with every number computed and checked
    void openTrace(const QString& path);
    void saveTrace(const QString& path);
    void cancel();
    void adopt(FinishedRun run);       // shows a run that is already there
    void report(const QString& error); // shows a sentence in place

Q_SIGNALS:
    void adopted(); // another run is shown
    void requestChanged();
    void jobChanged();
    // Whether what is shown is of the run before the one under way. Jobs that end at once replace
    // the picture without a word.
    void staleChanged(bool stale);

private:
    void startJob(const QString& what, JobBody body);
    void setJob(JobStatus job);
    void finishRun(const JobResult& result);
    void finishSave(const JobResult& result);

    std::optional<FinishedRun> m_shown;
    RunRequest m_request;
    JobStatus m_job;
    QString m_savePath;
    QTimer m_staleDelay;
    RunJobs m_runs, m_saves;
};

} // namespace pallascope::app
