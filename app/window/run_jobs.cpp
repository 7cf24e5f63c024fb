#include "app/window/run_jobs.h"

#include <exception>

namespace pallascope::app {
namespace {

constexpr int kPollMs = 50;
constexpr int kThreads = 2; // the current job, and a cancelled one that is still ending

// If an invariant breaks in a worker, the user must see a sentence, and the program must go on.
JobResult guarded(const JobBody& body, const Progress& progress)
{
    try {
        JobResult result = body(progress);
        if (result.run) {
            const layout::RunView& view =
                *result.run->view; // prepared here, not on the window's thread
            view.index->prepareForPictures();
            if (view.readers != nullptr) {
                view.readers->prepareForPictures();
            }
        }
        return result;
    } catch (const std::exception& error) {
        return {{}, Error{ErrorKind::Internal, std::string("internal error: ") + error.what()}};
    }
}

} // namespace

RunJobs::RunJobs(QObject* parent)
    : QObject(parent)
    , m_work(kThreads, kPollMs)
{
    connect(&m_work, &Work::progressed, this, &RunJobs::progressed);
}

void RunJobs::start(JobBody body)
{
    cancel();
    const int id = ++m_id;
    auto control = std::make_shared<Work::Control>();
    m_work.start(control, [this, id, control, body = std::move(body)]() -> Work::Back {
        JobResult result =
            guarded(body, [&control](double share) { return control->goesOn(share); });
        return [this, id, result = std::move(result)] { deliver(id, result); };
    });
}

void RunJobs::cancel()
{
    m_work.cancel();
    m_work.end();
}

void RunJobs::deliver(int id, const JobResult& result)
{
    if (id != m_id || !m_work.isRunning()) {
        return; // the job was cancelled, or a newer one replaced it
    }
    m_work.end();
    Q_EMIT finished(result);
}

} // namespace pallascope::app
