// Connects runs and viewpoint: a new run is shown, and clicks become actions.
#include "app/window/session.h"

#include "views/fonts.h"
#include "views/layout/run/grid_blocks.h"
#include "views/layout/scene/scene.h"
#include "views/layout/source/source.h"
#include "views/navigation/break_targets.h"

#include <utility>

namespace pallascope::app {

using layout::Target;
namespace target = layout::target;

Session::Session(QObject* parent)
    : QObject(parent)
{
    connect(&m_runs, &Runs::adopted, this, &Session::showRun);
    connect(&m_runs, &Runs::jobChanged, this, &Session::openAwaited);
    connect(&m_runs, &Runs::unfitChanged, this, [this] {
        if (m_runs.unfit() && !m_runs.shown()) { // better than nothing
            m_viewpoint.show(m_runs.unfit());
            m_breakpoints.showNothing();
        }
    });
    m_viewpoint.setStops([this](Picoseconds now) {
        const auto hit = m_breakpoints.hit(now, 1);
        return hit ? std::optional(hit->time) : std::nullopt;
    });
    connect(&m_runs, &Runs::staleChanged, &m_viewpoint, &Viewpoint::setStale);
    connect(&m_breakpoints, &Breakpoints::changed, &m_viewpoint,
            [this] { m_viewpoint.setBreaks(m_breakpoints.marks()); });
}

void Session::keepRun()
{
    if (m_runs.shown()) {
        m_viewpoint.keep(m_runs.shown()->view);
    }
}

void Session::letGo()
{
    m_viewpoint.keep(nullptr);
}

Session::State Session::state() const
{
    const Playback& playback = m_viewpoint.playback();
    return {m_runs.state(),   m_viewpoint.state(),      m_viewpoint.unit(),
            playback.speed(), playback.reducedMotion(), m_lesson.state()};
}

void Session::goOn(const State& state)
{
    m_viewpoint.playback().setReducedMotion(state.reducedMotion);
    m_runs.goOn(state.runs);
    m_lesson.goOn(state.lesson);
    if (!m_viewpoint.run()) {
        return;
    }
    if (state.view.loop != trace::kNone) {
        m_viewpoint.markLoop(state.view.loop);
    } else if (state.unit != m_viewpoint.unit()) {
        m_viewpoint.setUnit(state.unit);
    }
    m_viewpoint.playback().setSpeed(state.speed);
    m_viewpoint.look(state.view);
    m_viewpoint.setPlaying(state.view.playing);
}

void Session::open(const QString& path)
{
    if (isLesson(path.toStdString())) {
        m_lesson.open(path);
    } else {
        m_runs.openTrace(path);
    }
}

void Session::compareFiles(const QString& kept, const QString& other)
{
    m_runs.openTrace(kept);
    m_toKeep = kept;
    m_awaited = other;
}

// Once the job that opens the first file has ended. If that failed, or something else was asked for
// meanwhile, that stays in sight.
void Session::openAwaited()
{
    if (m_awaited.isEmpty() || m_runs.job().running) {
        return;
    }
    const QString next = std::exchange(m_awaited, QString());
    if (m_runs.job().error.isEmpty() && m_runs.file() == m_toKeep) {
        keepRun();
        m_runs.openTrace(next);
    }
}

void Session::showRun()
{
    const FinishedRun& shown = *m_runs.shown();
    m_viewpoint.show(m_lesson.shownOf(shown.view));
    const QString kernel =
        m_runs.file().isEmpty() ? views::text(shown.request.kernel) : m_runs.file();
    m_breakpoints.show(kernel, shown.request, shown.view, shown.walls.empty());
    m_lesson.follow();
}

void Session::goToBreakpoint(int direction)
{
    if (!m_viewpoint.run()) {
        return;
    }
    const Picoseconds now = m_viewpoint.state().now;
    if (const auto hit = m_breakpoints.hit(now, direction)) {
        m_viewpoint.jumpTo(hit->time);
        const auto& entries = m_breakpoints.entries();
        Q_EMIT said(tr("Stopped by %1").arg(entries[hit->breakpoints.front()].name()));
        return;
    }
    m_viewpoint.setPlaying(false);
    const QString where = direction > 0 ? tr("after") : tr("before");
    Q_EMIT said(m_breakpoints.entries().empty()
                    ? tr("There is no breakpoint: click beside a line number, or type one")
                : m_breakpoints.isLooking()
                    ? tr("No stop %1 here so far; the search goes on").arg(where)
                    : tr("No breakpoint stops the run %1 this moment").arg(where));
}

void Session::toggleBreakpoint(const Target& target)
{
    if (!m_viewpoint.run()) {
        return;
    }
    const auto breakpoint =
        navigation::breakpointOf(*m_viewpoint.run()->trace, target, m_viewpoint.state().now);
    if (breakpoint) {
        m_breakpoints.toggle(*breakpoint);
    } else {
        Q_EMIT said(tr("Nothing there stops the run"));
    }
}

void Session::toggleBreakpointHere()
{
    if (!m_viewpoint.run()) {
        return;
    }
    const Target& selection = m_viewpoint.state().selection;
    const trace::SourceLine line = layout::currentLine(*m_viewpoint.run(), m_viewpoint.state());
    const bool isChosen =
        navigation::breakpointOf(*m_viewpoint.run()->trace, selection, m_viewpoint.state().now)
            .has_value();
    toggleBreakpoint(isChosen ? selection : Target(target::SourceLine{line.file, line.line}));
}

void Session::activate(const Target& target)
{
    if (const auto* other = std::get_if<target::Alternative>(&target)) {
        const auto index = static_cast<std::size_t>(other->index);
        m_runs.shown() ? m_runs.applyAlternative(index) : m_runs.applyFitting(index);
    } else if (const auto* at = std::get_if<target::Time>(&target)) {
        if (at->time) {
            m_viewpoint.setNow(*at->time);
        }
    } else if (const auto* piece = std::get_if<target::Piece>(&target)) {
        m_viewpoint.goTo(*piece);
    } else if (const auto* device = std::get_if<target::Device>(&target)) {
        m_viewpoint.setDevice(device->device);
    } else if (const auto* sm = std::get_if<target::Sm>(&target)) {
        if (layout::is<target::GridBlock>(m_viewpoint.state().selection)) {
            m_viewpoint.select({}); // its SM would stay in view
        }
        m_viewpoint.setSm(sm->sm);
    } else if (const auto* block = std::get_if<target::GridBlock>(&target);
               block != nullptr && target != m_viewpoint.state().selection) {
        m_viewpoint.setSm(layout::smOfBlock(*m_viewpoint.run(), block->row));
        m_viewpoint.select(target);
    } else if (layout::is<target::Finding>(target) || layout::is<target::Print>(target)) {
        m_viewpoint.selectAndGoTo(target);
    } else if (const auto* kept = std::get_if<target::Kept>(&target);
               layout::is<target::Lane>(kept != nullptr ? layout::ofKept(*kept) : target)
               || target == m_viewpoint.state().selection) {
        m_viewpoint.select({});
    } else {
        m_viewpoint.select(target);
    }
}

void Session::setTheme(layout::Theme theme)
{
    if (theme != m_theme) {
        m_theme = theme;
        Q_EMIT themeChanged();
    }
}

} // namespace pallascope::app
