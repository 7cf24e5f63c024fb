// What was asked for last, the current job, and the run that is shown. Jobs run in the background;
// their progress and errors are shown where they belong (in the verdict strip, or below the field
// of the form).
#pragma once

#include "app/run_job/run_job.h"
#include "app/window/request_history.h"
#include "app/window/run_jobs.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>

namespace pallascope::app {

// The current job, or how the last one ended.
struct JobStatus
{
    bool running = false;
    QString what; // such as "re-running" or "opening main.trace.json"
    double share = 0;
    QString error;      // one sentence; empty if there is none
    QStringList fields; // the fields of the form that the error is about
    QString notice;     // such as "Saved main.trace.json"; empty if there is none
    QString failed;     // what the error is the reason of: "Not run", "Not opened" or "Not saved"
    bool operator==(const JobStatus&) const = default;
};

class Runs : public QObject
{
    Q_OBJECT

public:
    explicit Runs(QObject* parent = nullptr);

    // The run that is shown; nullopt before the first one.
    [[nodiscard]] const std::optional<FinishedRun>& shown() const { return m_shown; }

    // What was asked for last, where that does not fit its chip: the form's budget and choices are
    // its, not those of the run that is shown. Null else.
    [[nodiscard]] std::shared_ptr<const layout::RunView> unfit() const { return m_unfit; }

    [[nodiscard]] const JobStatus& job() const { return m_job; }

    // What was asked for last. The form shows it, whether it ran or not.
    [[nodiscard]] const RunRequest& request() const { return m_request; }

    // The trace or kernel file that the run is of; empty for a kernel that is built in.
    [[nodiscard]] const QString& file() const { return m_file; }

    void start(RunRequest request);
    // Asks again for what was asked for before, or after, what is asked for now. A request that
    // could not be met counts as well: one wants to come back from it.
    void undo();
    void redo();
    void setKernel(const std::string& kernel); // and its own chip, if it cannot run on this one
    void setChip(const std::string& chip);
    void setParameter(const std::string& name, const std::string& value);
    void applyAlternative(std::size_t index); // of the run that is shown
    void applyFitting(std::size_t index);     // of what does not fit
    void checkValues();                       // runs it again with every value computed and checked
    void openTrace(const QString& path, const QString& chip = {}); // or a kernel file, on a chip
    void saveTrace(const QString& path);
    void cancel();
    // Takes away what is said of a file that was not opened or not saved. What is said of the form
    // stays until the form changes. Returns false if there is nothing to take away.
    bool dismissError();
    void adopt(FinishedRun run); // shows a run that exists already

    // What another window needs to go on from here, with undo and redo.
    struct State
    {
        std::optional<FinishedRun> shown;
        QString file;
        RunRequest request;
        RequestHistory history;
    };

    [[nodiscard]] State state() const { return {m_shown, m_file, m_request, m_history}; }

    // Asks again for what was not met, or was under way.
    void goOn(const State& state);
    void report(const QString& error); // shows why something was not saved
    void reportUnopened(const QString& error);
    void note(const QString& notice); // shows one for some seconds, beside a job under way

Q_SIGNALS:
    void adopted(); // another run is shown
    void unfitChanged();
    void requestChanged();
    void jobChanged();
    // Whether the views still show the run before the current one. It stays false if a job ends
    // almost at once: the picture is then replaced without a word.
    void staleChanged(bool stale);

private:
    // `failed`: what is said if it fails.
    void startJob(const QString& what, const QString& failed, JobBody body);
    void startAgain(const std::optional<RunRequest>& request);
    void apply(const RunRequest& from, const analysis::Alternative& choice);
    void setUnfit(std::shared_ptr<const layout::RunView> view);
    void setJob(JobStatus job);
    void show(FinishedRun run);
    void finishRun(const JobResult& result);
    void finishSave(const JobResult& result);

    std::optional<FinishedRun> m_shown;
    std::shared_ptr<const layout::RunView> m_unfit;
    RunRequest m_request;
    RequestHistory m_history;
    JobStatus m_job;
    QString m_file;
    QString m_asked;          // the file that the current job reads
    bool m_isOpening = false; // whether the current job opens a file, which the form does not name
    QString m_failed;         // what is said if the current job fails
    QString m_savePath;
    QTimer m_staleDelay;
    RunJobs m_runs, m_saves;
};

} // namespace pallascope::app
