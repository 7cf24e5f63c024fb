#include "app/window/runs.h"

#include "app/run_job/break_search.h"
#include "app/run_job/kernel_choice.h"
#include "app/window/request_fields.h"
#include "core/trace_file/trace_file.h"
#include "views/fonts.h"

#include <QFileInfo>

namespace pallascope::app {
namespace {

using views::text;

constexpr int kStaleAfterMs = 200;

// Turns a finished run into the result of a job.
JobResult jobResult(Result<FinishedRun> run)
{
    if (!run) {
        return {{}, run.error()};
    }
    return {std::move(*run), {}};
}

} // namespace

Runs::Runs(QObject* parent)
    : QObject(parent)
{
    m_staleDelay.setSingleShot(true);
    m_staleDelay.setInterval(kStaleAfterMs);
    connect(&m_staleDelay, &QTimer::timeout, this, [this] {
        // Nothing is stale where nothing is shown.
        Q_EMIT staleChanged(m_job.running && m_shown.has_value());
    });
    connect(&m_runs, &RunJobs::progressed, this, [this] {
        m_job.share = m_runs.share();
        Q_EMIT jobChanged();
    });
    connect(&m_runs, &RunJobs::finished, this, &Runs::finishRun);
    connect(&m_saves, &RunJobs::finished, this, &Runs::finishSave);
}

void Runs::startJob(const QString& what, const QString& failed, JobBody body)
{
    m_failed = failed;
    setJob({true, what, 0, {}, {}, {}, {}});
    m_staleDelay.start();
    m_runs.start(std::move(body));
}

void Runs::start(RunRequest request)
{
    m_request = std::move(request);
    m_history.add(m_request);
    m_isOpening = false;
    const QFileInfo kernel(text(m_request.kernel));
    m_asked = kernel.isFile() ? kernel.filePath() : QString();
    Q_EMIT requestChanged();
    const bool isOfTrace =
        m_shown && m_shown->walls.empty() && m_shown->request.kernel == m_request.kernel;
    const auto trace = isOfTrace ? m_shown->view : nullptr;
    startJob(tr("re-running"), tr("Not run"), [asked = m_request, trace](const Progress& progress) {
        if (trace != nullptr) {
            if (const Status same = isStillKernelOf(asked, *trace); !same) {
                return JobResult{{}, same.error()};
            }
        }
        JobResult result = jobResult(runKernel(asked, progress));
        if (result.error && result.error->kind != ErrorKind::Cancelled) {
            result.run = viewWithoutRun(asked, *result.error);
        }
        return result;
    });
}

void Runs::startAgain(const std::optional<RunRequest>& request)
{
    if (request) {
        start(*request);
    }
}

void Runs::undo()
{
    startAgain(m_history.undo());
}

void Runs::redo()
{
    startAgain(m_history.redo());
}

void Runs::setKernel(const std::string& kernel)
{
    RunRequest next = m_request;
    next.kernel = kernel;
    next.chip = chipFor(kernel, m_request.chip);
    next.parameters.clear();
    next.fullValues = next.check = false;
    start(next);
}

void Runs::setChip(const std::string& chip)
{
    RunRequest next = m_request;
    next.chip = chip;
    next.fullValues = next.check = false;
    start(next);
}

void Runs::setParameter(const std::string& name, const std::string& value)
{
    RunRequest next = m_request;
    putParameter(next, name, value);
    // Times do not need all values; "Check values" asks for them.
    next.fullValues = next.check = false;
    if (next == m_request && m_job.error.isEmpty()) {
        return;
    }
    start(next);
}

void Runs::applyAlternative(std::size_t index)
{
    if (!m_shown || index >= m_shown->view->alternatives.size()) {
        return;
    }
    apply(m_shown->request, m_shown->view->alternatives[index]);
}

void Runs::applyFitting(std::size_t index)
{
    if (m_unfit && index < m_unfit->alternatives.size()) {
        apply(m_request, m_unfit->alternatives[index]);
    }
}

void Runs::apply(const RunRequest& from, const analysis::Alternative& choice)
{
    RunRequest next = from;
    for (const auto& [name, value] : choice.changed) {
        if (name == "chip") {
            next.chip = value;
        } else {
            putParameter(next, name, value);
        }
    }
    next.fullValues = next.check = false;
    start(next);
}

void Runs::checkValues()
{
    RunRequest next = m_request;
    next.fullValues = next.check = true;
    start(next);
}

void Runs::openTrace(const QString& path, const QString& chip)
{
    m_asked = path;
    m_isOpening = true;
    startJob(tr("opening %1").arg(QFileInfo(path).fileName()), tr("Not opened"),
             [file = path.toStdString(), on = chip.toStdString()](const Progress& progress) {
                 JobResult result = jobResult(openFile(file, progress, on));
                 if (result.error && result.error->kind != ErrorKind::Cancelled) {
                     const RunRequest asked{
                         .kernel = file, .chip = on, .fullValues = false, .check = false};
                     result.run = viewWithoutRun(asked, *result.error);
                 }
                 return result;
             });
}

void Runs::saveTrace(const QString& path)
{
    if (!m_shown) {
        return;
    }
    m_savePath = path;
    m_saves.start([file = path.toStdString(),
                   trace = m_shown->view->trace](const Progress& progress) -> JobResult {
        trace_file::SaveOptions options;
        options.progress = progress;
        const Status status = trace_file::save(*trace, file, options);
        return {{}, status ? std::nullopt : std::optional(status.error())};
    });
}

void Runs::finishSave(const JobResult& result)
{
    JobStatus job = m_job;
    job.error = result.error ? text(result.error->message) : QString();
    job.failed = tr("Not saved");
    job.fields.clear();
    job.notice = result.error ? QString() : tr("Saved %1").arg(m_savePath);
    setJob(job);
}

void Runs::cancel()
{
    if (!m_job.running) {
        return;
    }
    m_runs.cancel();
    if (m_shown) { // the form shows the request of the run that the views show
        m_request = m_shown->request;
        setUnfit(nullptr);
        Q_EMIT requestChanged();
    }
    setJob({false, {}, 0, {}, {}, tr("Cancelled"), {}});
}

bool Runs::dismissError()
{
    const bool isOfFile = !m_job.running && !m_job.error.isEmpty() && m_job.fields.isEmpty();
    if (isOfFile) {
        setJob({});
    }
    return isOfFile;
}

void Runs::finishRun(const JobResult& result)
{
    if (!result.error) {
        m_file = m_asked;
        show(result.run.value());
        return;
    }
    const Error& error = *result.error;
    if (error.kind == ErrorKind::Cancelled) {
        setJob({false, {}, 0, {}, {}, tr("Cancelled"), {}});
        return;
    }
    QStringList fields = fieldsOfError(error);
    if (result.run) { // all blocks that do not fit are at fault
        m_request = result.run->request;
        setUnfit(result.run->view);
        Q_EMIT requestChanged();
    } else if (m_isOpening) {
        fields.clear();
    } else {
        fields = {fieldOfError(error, m_request, m_shown ? &m_shown->request : nullptr)};
    }
    const QString failed = result.run ? tr("Not run") : m_failed;
    setJob({false, {}, 0, text(error.message), fields, {}, failed});
}

void Runs::setUnfit(std::shared_ptr<const layout::RunView> view)
{
    if (view != m_unfit) {
        m_unfit = std::move(view);
        Q_EMIT unfitChanged();
    }
}

void Runs::adopt(FinishedRun run)
{
    m_file.clear();
    show(std::move(run));
}

void Runs::goOn(const State& state)
{
    if (state.shown) {
        m_file = state.file;
        show(*state.shown);
    }
    m_history = state.history;
    if (!(state.request == m_request)) {
        start(state.request);
    }
}

void Runs::show(FinishedRun run)
{
    m_staleDelay.stop();
    m_shown = std::move(run);
    m_request = m_shown->request;
    m_history.adopt(m_request);
    m_unfit = nullptr;
    Q_EMIT adopted();
    Q_EMIT unfitChanged();
    Q_EMIT requestChanged();
    setJob({});
}

void Runs::report(const QString& error)
{
    setJob({m_job.running, m_job.what, m_job.share, error, {}, {}, tr("Not saved")});
}

void Runs::reportUnopened(const QString& error)
{
    setJob({m_job.running, m_job.what, m_job.share, error, {}, {}, tr("Not opened")});
}

void Runs::note(const QString& notice)
{
    JobStatus job = m_job;
    job.notice = notice;
    setJob(job);
}

void Runs::setJob(JobStatus job)
{
    if (!job.running) {
        m_staleDelay.stop();
        Q_EMIT staleChanged(false);
    }
    if (job != m_job) {
        m_job = std::move(job);
        Q_EMIT jobChanged();
    }
}

} // namespace pallascope::app
