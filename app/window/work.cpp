#include "app/window/work.h"

#include <QtConcurrentRun>

namespace pallascope::app {

Work::Work(int threads, int pollMs)
{
    m_threads.setMaxThreadCount(threads);
    m_poll.setInterval(pollMs);
    connect(&m_poll, &QTimer::timeout, this, &Work::progressed);
}

Work::~Work()
{
    cancel();
    m_threads.waitForDone();
}

void Work::start(const std::shared_ptr<Control>& control, std::function<Back()> job)
{
    m_control = control;
    m_poll.start();
    (void)QtConcurrent::run(&m_threads, [this, job = std::move(job)] {
        // The destructor waits for this thread, so `this` still exists here. Qt drops what is
        // queued for a deleted object.
        QMetaObject::invokeMethod(this, job(), Qt::QueuedConnection);
    });
}

void Work::cancel()
{
    if (m_control) {
        m_control->isCancelled = true;
    }
}

void Work::end()
{
    m_control.reset();
    m_poll.stop();
}

} // namespace pallascope::app
