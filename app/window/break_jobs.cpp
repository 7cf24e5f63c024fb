#include "app/window/break_jobs.h"

#include "views/fonts.h"

#include <exception>

namespace pallascope::app {

namespace {

constexpr int kBreakPollMs = 100;

} // namespace

BreakJobs::BreakJobs(QObject* parent)
    : QObject(parent)
    , m_work(1, kBreakPollMs)
{
    connect(&m_work, &Work::progressed, this, &BreakJobs::progressed);
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
    m_work.cancel();
}

void BreakJobs::search(const trace::Breakpoint& breakpoint)
{
    m_waiting.push_back(breakpoint);
    next();
}

void BreakJobs::cancel()
{
    const std::deque<trace::Breakpoint> waiting = std::exchange(m_waiting, {});
    m_work.cancel();
    for (const trace::Breakpoint& breakpoint : waiting) {
        Q_EMIT failed(breakpoint, tr("The search was cancelled."));
    }
}

std::optional<double> BreakJobs::share() const
{
    return m_work.isRunning() ? std::optional(m_work.share()) : std::nullopt;
}

void BreakJobs::next()
{
    if (m_work.isRunning() || m_waiting.empty() || !m_view) {
        return;
    }
    const trace::Breakpoint breakpoint = m_waiting.front();
    m_waiting.pop_front();
    auto control = std::make_shared<Work::Control>();
    m_work.start(control,
                 [this, breakpoint, run = m_run, control, request = m_request, view = m_view,
                  isReopened = m_isReopened]() -> Work::Back {
                     const Progress proceed = [&](double share) { return control->goesOn(share); };
                     Stops stops = std::optional<std::vector<std::int64_t>>();
                     try {
                         stops = searchStops(request, *view, isReopened, breakpoint, proceed);
                     } catch (const std::exception& error) {
                         stops = userError(std::string("Internal error: ") + error.what());
                     }
                     return [this, run, breakpoint, stops] { finish(run, breakpoint, stops); };
                 });
    Q_EMIT progressed();
}

void BreakJobs::finish(int run, const trace::Breakpoint& breakpoint, const Stops& stops)
{
    m_work.end();
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
