#include "app/window/viewpoint.h"

#include "core/trace/lookup.h"
#include "views/layout/run/position.h"
#include "views/layout/timeline/time_axis.h"
#include "views/navigation/times.h"

#include <algorithm>
#include <cmath>

namespace pallascope::app {
namespace {

using layout::Target;
namespace target = layout::target;
using layout::TimeRange;
using layout::ViewState;

// Share of the range; the time line stands still until playback comes here.
constexpr double kFollowAt = 0.75;
// Share of the range; where the playhead comes if a jump has left the range.
constexpr double kJumpTo = 0.25;
// The first line of a source view that follows the playhead.
constexpr std::int64_t kAtPlayhead = 0;

// The number among those of its device of the last SM; 0 if the run is not for a GPU.
std::int32_t lastSm(const layout::RunView& run, std::int32_t device)
{
    const auto [first, end] = run.index->agents().smsOf(device);
    return std::max(0, end - first - 1);
}

// The range of the time line if nothing ran.
constexpr Picoseconds kShownOfNothing{10'000'000};

// The mean time of what a run is played by: of a step in its steady part, or of a round.
Picoseconds steadyTime(const layout::RunView& run)
{
    const trace::LoopRounds& loops = run.index->rounds();
    std::int64_t time = run.periodTime.value() / std::max<std::int64_t>(1, run.period);
    if (!layout::goesBySteps(run) && !loops.outermost().empty()) {
        const std::int32_t loop = loops.outermost().front();
        const std::size_t count = loops.size(loop);
        const trace::Rounds& rounds = run.trace->rounds();
        const auto row = [&](std::size_t number) { return loops.row(loop, number).index(); };
        time =
            (rounds.end[row(count - 1)] - rounds.begin[row(0)]) / static_cast<std::int64_t>(count);
    }
    return Picoseconds(std::max<std::int64_t>(1, time));
}

} // namespace

Viewpoint::Viewpoint(QObject* parent)
    : ShownState(parent)
{
    connect(&m_playback, &Playback::advanced, this, &Viewpoint::play);
}

void Viewpoint::show(std::shared_ptr<const layout::RunView> run)
{
    const Picoseconds before = m_run ? trace().end() : Picoseconds(0);
    m_run = std::move(run);
    m_stops = std::make_unique<navigation::Stops>(m_run->trace);
    m_playback.setRun(steadyTime(*m_run), trace().end());
    const std::vector<StepUnit> units = m_stops->units();
    if (!m_isUnitChosen || std::find(units.begin(), units.end(), m_unit) == units.end()) {
        m_unit = m_stops->ownUnit();
        m_isUnitChosen = false;
    }
    ViewState next = state();
    next.loop = m_unit == StepUnit::Round && layout::goesBySteps(*m_run)
                    ? m_run->index->rounds().outermost().front()
                    : trace::kNone;
    m_stops->mark(next.loop);
    next.stale = false;
    if (next.kept != nullptr) {
        next.kept = layout::keptBeside(next.kept->run, *m_run);
    }
    next.selection = next.hover = {};
    next.breaks = nullptr; // they stop this run elsewhere
    next.firstSourceLine = 0;
    next.device = next.device < trace().info().deviceCount() ? next.device : 0;
    next.sm = next.sm <= lastSm(*m_run, next.device) ? next.sm : 0;
    if (!m_run->notRun.empty()) {
        next.now = {};
        next.visible = {Picoseconds(0), kShownOfNothing};
    } else if (trace().end() != before) {
        const double share = before.value() > 0 ? ratio(state().now, before) : 0;
        const double end = static_cast<double>(trace().end().value());
        next.now = Picoseconds(std::llround(std::clamp(share, 0.0, 1.0) * end));
        next.visible = next.now.value() == 0 ? layout::firstFrame(trace())
                                             : layout::frameAround(trace(), next.now);
    }
    put(next);
    Q_EMIT runChanged();
    Q_EMIT unitChanged();
    Q_EMIT nowChanged();
    Q_EMIT rangeChanged();
    Q_EMIT keptChanged();
}

std::vector<StepUnit> Viewpoint::units() const
{
    return m_stops ? m_stops->units() : std::vector<StepUnit>{StepUnit::Step};
}

void Viewpoint::setUnit(StepUnit unit)
{
    m_unit = unit;
    m_isUnitChosen = true;
    if (unit == StepUnit::Step && m_run) { // of the grid, so no loop is marked any more
        setLoop(trace::kNone);
    }
    Q_EMIT unitChanged();
}

void Viewpoint::setLoop(std::int32_t loop)
{
    m_stops->mark(loop);
    ViewState next = state();
    next.loop = loop;
    change(next);
}

void Viewpoint::markLoop(std::int32_t loop)
{
    if (!m_run) {
        return;
    }
    setLoop(loop);
    setUnit(StepUnit::Round);
}

void Viewpoint::look(ViewState next)
{
    if (!m_run) {
        return;
    }
    next.now = std::clamp(next.now, Picoseconds(0), trace().end());
    if (next.visible.begin >= next.visible.end) {
        next.visible = layout::frameAround(trace(), next.now);
    }
    next.device = std::clamp(next.device, 0, trace().info().deviceCount() - 1);
    next.sm = std::clamp(next.sm, 0, lastSm(*m_run, next.device));
    next.playing = state().playing;
    next.stale = state().stale;
    next.breaks = state().breaks;
    change(next);
}

// ---- the playhead

void Viewpoint::setPlaying(bool playing)
{
    if (!m_run || playing == state().playing) {
        return;
    }
    if (playing && state().now >= trace().end()) {
        moveTo(Picoseconds(0), Follow::Jump);
    }
    playing ? m_playback.start() : m_playback.stop();
    if (playing) {
        setFirstSourceLine(kAtPlayhead);
    }
    ViewState next = state();
    next.playing = playing;
    change(next);
}

void Viewpoint::play(Picoseconds time)
{
    const Picoseconds next = state().now + time;
    const auto stop = m_nextStop ? m_nextStop(state().now) : std::nullopt;
    const bool isStopped = stop && *stop <= next;
    moveTo(isStopped ? *stop : next, Follow::Scroll);
    if (isStopped) {
        setPlaying(false);
    }
}

void Viewpoint::jumpTo(Picoseconds time)
{
    setPlaying(false);
    setFirstSourceLine(kAtPlayhead);
    setNow(time);
}

void Viewpoint::setNow(Picoseconds now)
{
    moveTo(now, Follow::Jump);
}

void Viewpoint::end()
{
    if (m_run) {
        setNow(trace().end());
    }
}

void Viewpoint::step(StepUnit unit, int direction)
{
    if (!m_run) {
        return;
    }
    setPlaying(false);
    setFirstSourceLine(kAtPlayhead);
    const auto stop =
        direction > 0 ? m_stops->next(unit, state().now) : m_stops->previous(unit, state().now);
    if (stop) {
        setNow(*stop);
    }
}

void Viewpoint::moveTo(Picoseconds now, Follow follow)
{
    if (!m_run) {
        return;
    }
    ViewState next = state();
    next.now = std::clamp(now, Picoseconds(0), trace().end());
    const Picoseconds length = next.visible.end - next.visible.begin;
    const auto part = [length](double share) {
        return Picoseconds(std::llround(share * static_cast<double>(length.value())));
    };
    const bool outside = next.now < next.visible.begin || next.now > next.visible.end;
    if (follow == Follow::Scroll && next.now > next.visible.begin + part(kFollowAt)) {
        next.visible = navigation::within(*m_run, next, next.now - part(kFollowAt), length);
    } else if (outside) {
        next.visible = navigation::within(*m_run, next, next.now - part(kJumpTo), length);
    }
    const bool over = next.now == trace().end() && state().playing;
    if (over) {
        m_playback.stop();
        next.playing = false;
    }
    change(next);
}

// ---- the range of the time line

void Viewpoint::changeRange(const navigation::NextRange& next)
{
    if (m_run) {
        setVisible(next(*m_run, state()));
    }
}

// ---- looking at things

void Viewpoint::goTo(const Target& target)
{
    if (!m_run) {
        return;
    }
    if (const auto time = navigation::timeOf(trace(), target, state().now)) {
        jumpTo(*time);
    }
}

void Viewpoint::selectAndGoTo(const Target& target)
{
    select(target);
    goTo(target);
}

void Viewpoint::showLine(const target::SourceLine& line)
{
    constexpr std::int64_t kAbove = 3; // lines that are seen above it
    ViewState next = state();
    next.selection = line;
    next.firstSourceLine = std::max<std::int64_t>(1, line.line - kAbove);
    change(next);
}

// From place to place, of one finding after the other.
bool Viewpoint::nextFinding(int direction)
{
    if (!m_run || m_run->findingPlaces.empty()) {
        return false;
    }
    const std::vector<layout::FindingPlace>& places = m_run->findingPlaces;
    const auto* selected = std::get_if<target::Finding>(&state().selection);
    const auto ofSelected = [&](const layout::FindingPlace& place) {
        return selected != nullptr && selected->index == place.finding;
    };
    auto at = std::find_if(places.begin(), places.end(), [&](const layout::FindingPlace& place) {
        return ofSelected(place) && place.time == state().now;
    });
    at = at == places.end() ? std::find_if(places.begin(), places.end(), ofSelected) : at;
    const auto count = static_cast<std::int64_t>(places.size());
    const std::int64_t before = direction > 0 ? -1 : count; // where nothing is selected
    const std::int64_t from = at == places.end() ? before : at - places.begin();
    const layout::FindingPlace& next =
        places[static_cast<std::size_t>((from + direction + count) % count)];
    select(target::Finding{next.finding});
    jumpTo(next.time);
    return true;
}

// ---- the kept run

void Viewpoint::keep(std::shared_ptr<const layout::RunView> run)
{
    if (m_run) {
        show(run ? layout::keptBeside(std::move(run), *m_run) : nullptr);
    }
}

// What of the kept run's time was in sight may lie behind the end of the present one.
void Viewpoint::show(std::shared_ptr<const layout::KeptRun> kept)
{
    if (!m_run) {
        return;
    }
    ViewState next = state();
    next.kept = std::move(kept);
    const Picoseconds end = std::max(Picoseconds(1), layout::axisEnd(*m_run, next));
    if (next.visible.end > end && m_run->notRun.empty()) {
        const Picoseconds length = std::min(next.visible.end - next.visible.begin, end);
        next.visible = {end - length, end};
    }
    change(next);
}

void Viewpoint::alignBySteps(bool bySteps)
{
    ViewState next = state();
    next.isKeptBySteps = bySteps;
    change(next);
    if (m_run) {
        show(next.kept);
    }
}

void Viewpoint::setDevice(std::int32_t device)
{
    if (!m_run) {
        return;
    }
    ViewState next = state();
    next.device = std::clamp(device, 0, trace().info().deviceCount() - 1);
    change(next);
}

void Viewpoint::setSm(std::int32_t sm)
{
    if (!m_run) {
        return;
    }
    const trace::Agents& agents = m_run->index->agents();
    ViewState next = state();
    if (sm >= 0 && static_cast<std::size_t>(sm) < agents.sms.size()) {
        next.device = agents.sms[static_cast<std::size_t>(sm)].device;
        next.sm = sm - agents.smsOf(next.device).first;
    }
    change(next);
}

} // namespace pallascope::app
