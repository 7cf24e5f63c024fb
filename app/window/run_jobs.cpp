#include "app/window/run_jobs.h"

#include <QtConcurrentRun>

#include <exception>

namespace pallascope::app {
namespace {

constexpr int kPollMs = 50;
constexpr int kThreads = 2; // the current job, and a cancelled one that is still ending

// If an invariant breaks in a worker, the user must see a sentence, and the program must go on.
JobResult guarded(const JobBody& body, const Progress& progress)
{
    try {
        return body(progress);
    } catch (const std::exception& error) {
        return {{}, Error{ErrorKind::Internal, std::string("internal error: ") + error.what()}};
    }
}

} // namespace

RunJobs::RunJobs(QObject* parent)
    : QObject(parent)
{
    m_threads.setMaxThreadCount(kThreads);
    m_poll.setInterval(kPollMs);
    connect(&m_poll, &QTimer::timeout, this, &RunJobs::progressed);
}

RunJobs::~RunJobs()
{
    cancel();
    m_threads.waitForDone();
}

void RunJobs::start(JobBody body)
{
    cancel();
    const int id = ++m_id;
    auto control = std::make_shared<Control>();
    m_control = control;
    m_poll.start();
    (void)QtConcurrent::run(&m_threads, [this, id, control, body = std::move(body)] {
        const JobResult result = guarded(body, [&control](double share) {
            control->share = share;
            return !control->cancelled;
        });
        // The destructor waits for this thread, so `this` still exists here. Qt drops what is
        // queued for a deleted object.
        QMetaObject::invokeMethod(
            this, [this, id, result] { deliver(id, result); }, Qt::QueuedConnection);
    });
}

void RunJobs::cancel()
{
    if (m_control) {
        m_control->cancelled = true;
        m_control.reset();
        m_poll.stop();
    }
}

double RunJobs::share() const
{
    return m_control ? m_control->share.load() : 0;
}

void RunJobs::deliver(int id, const JobResult& result)
{
    if (id != m_id || !m_control) {
        return; // the job was cancelled, or a newer one replaced it
    }
    m_control.reset();
    m_poll.stop();
    Q_EMIT finished(result);
}

} // namespace pallascope::app
