#include "app/window/break_jobs.h"

#include "views/fonts.h"

#include <QtConcurrentRun>

#include <exception>

namespace pallascope::app {

namespace {

constexpr int kBreakPollMs = 100;

} // namespace

BreakJobs::BreakJobs(QObject* parent)
    : QObject(parent)
{
    m_thread.setMaxThreadCount(1);
    m_poll.setInterval(kBreakPollMs);
    connect(&m_poll, &QTimer::timeout, this, &BreakJobs::progressed);
}

BreakJobs::~BreakJobs()
{
    m_waiting.clear();
    if (m_control) {
        m_control->isCancelled = true;
    }
    m_thread.waitForDone();
}

void BreakJobs::open(const RunRequest& request, std::shared_ptr<const layout::RunView> run,
                     bool isReopened)
{
    close();
    m_request = request;
    m_view = std::move(run);
    m_isReopened = isReopened;
}

void BreakJobs::close()
{
    ++m_run;
    m_view = nullptr;
    m_waiting.clear();
    if (m_control) {
        m_control->isCancelled = true;
    }
}

void BreakJobs::search(const trace::Breakpoint& breakpoint)
{
    m_waiting.push_back(breakpoint);
    next();
}

void BreakJobs::cancel()
{
    const std::deque<trace::Breakpoint> waiting = std::exchange(m_waiting, {});
    if (m_control) {
        m_control->isCancelled = true;
    }
    for (const trace::Breakpoint& breakpoint : waiting) {
        Q_EMIT failed(breakpoint, tr("The search was cancelled."));
    }
}

std::optional<double> BreakJobs::share() const
{
    return m_control ? std::optional(m_control->share.load()) : std::nullopt;
}

void BreakJobs::next()
{
    if (m_control || m_waiting.empty() || !m_view) {
        return;
    }
    m_control = std::make_shared<Control>();
    m_poll.start();
    const trace::Breakpoint breakpoint = m_waiting.front();
    m_waiting.pop_front();
    (void)QtConcurrent::run(&m_thread, [this, breakpoint, run = m_run, control = m_control,
                                        request = m_request, view = m_view,
                                        isReopened = m_isReopened] {
        const Progress proceed = [&](double share) {
            control->share = share;
            return !control->isCancelled;
        };
        Stops stops = std::optional<std::vector<std::int64_t>>();
        try {
            stops = searchStops(request, *view, isReopened, breakpoint, proceed);
        } catch (const std::exception& error) {
            stops = userError(std::string("Internal error: ") + error.what());
        }
        // The destructor waits for this thread, so `this` still exists here.
        QMetaObject::invokeMethod(
            this, [this, run, breakpoint, stops] { finish(run, breakpoint, stops); },
            Qt::QueuedConnection);
    });
    Q_EMIT progressed();
}

void BreakJobs::finish(int run, const trace::Breakpoint& breakpoint, const Stops& stops)
{
    m_control.reset();
    m_poll.stop();
    if (run == m_run) {
        if (!stops) {
            Q_EMIT failed(breakpoint, views::text(stops.error().message));
        } else if (!*stops) {
            Q_EMIT failed(breakpoint, tr("The search was cancelled."));
        } else {
            Q_EMIT found(breakpoint, **stops);
        }
    }
    next();
    Q_EMIT progressed();
}

} // namespace pallascope::app
