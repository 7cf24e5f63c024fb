// Paints a slot of a pipeline, or scratch that no copy touches: its fill, its name, what it holds
// and what happens in it.
#include "core/base/format.h"
#include "core/trace/grid_launches.h"
#include "core/trace/slot_state.h"
#include "views/layout/memory/parts.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace {

std::string stepText(const trace::Trace& trace, trace::StepRow step)
{
    return "step " + countText(parts::stepOrdinal(trace, step));
}

// Whether the block of a GPU that has used a place last has ended.
bool isReleased(const RunView& run, const Place& place, Picoseconds now)
{
    const auto end = run.index->launches().blockEnd(place.agent, now);
    return end && *end <= now;
}

trace::SlotState stateOf(const RunView& run, const Place& place, Picoseconds now)
{
    const trace::Trace& trace = *run.trace;
    const trace::Buffer& buffer = trace.info().buffers[static_cast<std::size_t>(place.buffer)];
    if (place.operand != trace::kNone) {
        return trace::slotStateOf(trace, trace::OperandRow{place.operand}, buffer.slot, now);
    }
    trace::SlotState state = trace::slotStateAt(trace, trace::BufferRow{place.buffer}, now);
    state.phase = isReleased(run, place, now) ? trace::SlotPhase::Free : state.phase;
    return state;
}

bool isOutput(const trace::Trace& trace, const trace::Buffer& buffer)
{
    return buffer.operand >= 0
           && trace.info().operands[static_cast<std::size_t>(buffer.operand)].direction
                  == trace::Direction::Out;
}

// Whether it is a slot of an output and nothing has been stored to its block yet.
bool notYetWritten(const trace::Trace& trace, const trace::Buffer& buffer,
                   const trace::SlotState& state, Picoseconds now)
{
    if (state.phase != trace::SlotPhase::InUse || !isOutput(trace, buffer) || !state.visit) {
        return false;
    }
    const std::int32_t first = trace.visits().firstStep[state.visit->index()];
    return now.value() < trace.steps().bodyBegin[static_cast<std::size_t>(first)];
}

// The step of the visit, from 1. The overhead after a body belongs to the step of that body.
std::int64_t stepOfStay(const trace::Trace& trace, const trace::SlotState& state, Picoseconds now)
{
    const std::int32_t first = trace.visits().firstStep[state.visit->index()];
    return std::min<std::int64_t>(state.stepsDone + 1,
                                  trace::stepAt(trace, now)->number - first + 1);
}

// The first step that will use a slot that nothing has used so far.
trace::OptionalRow<trace::StepRow> firstUse(const trace::Trace& trace, std::int32_t operand,
                                            std::int32_t slot)
{
    const trace::Visits& visits = trace.visits();
    const auto [first, last] =
        std::equal_range(visits.operand.begin(), visits.operand.end(), operand);
    // Visits take turns among the slots, so one of the first few rows is the one looked for.
    for (auto it = first; it != last; ++it) {
        const auto row = static_cast<std::size_t>(it - visits.operand.begin());
        if (visits.slot[row] == slot) {
            return trace::StepRow{visits.firstStep[row]};
        }
        if (it - first > 64) {
            break;
        }
    }
    return std::nullopt;
}

struct SlotLook // how a slot is painted
{
    double solid = 0;    // width of the stronger fill, as a share of the slot
    double strength = 0; // strength of that fill, as a share of its colour
    double rest = 0.06;  // strength of the fill of the rest
    bool front = false;  // whether a line of 2 px marks the end of the fill
    bool dashed = false, undefined = false, inUse = false, edge = true;
};

SlotLook lookOf(const trace::Trace& trace, const trace::Buffer& buffer,
                const trace::SlotState& state, Picoseconds now)
{
    using trace::SlotPhase;
    SlotLook look;
    switch (state.phase) {
    case SlotPhase::Empty:
        look.undefined = true;
        look.edge = false;
        return look;
    case SlotPhase::Queued:
        look.dashed = true;
        look.edge = false;
        return look;
    case SlotPhase::Arriving:
        return {state.fraction, 0.30, 0.06, true, false, false, false, true};
    case SlotPhase::Ready:
        return {1, 0.30, 0.06, false, false, false, false, true};
    case SlotPhase::InUse:
        if (notYetWritten(trace, buffer, state, now)) {
            look.undefined = true;
            look.inUse = true;
            return look;
        }
        if (isOutput(trace, buffer) && state.stepsInStay > 1) {
            return {state.fraction, 0.34, 0.12, false, false, false, true, true};
        }
        return {1, buffer.operand < 0 ? 0.20 : 0.30, 0.06, false, false, false, true, true};
    case SlotPhase::LeavingQueued:
        return {0, 0.12, 0.34, false, false, false, false, true};
    case SlotPhase::Leaving:
        return {state.fraction, 0.12, 0.34, true, false, false, false, true};
    case SlotPhase::Free:
        return {1, 0.14, 0.06, false, false, false, false, true};
    }
    return look;
}

void paintSlotTexts(Canvas& canvas, const RunView& run, const trace::Buffer& buffer,
                    const trace::SlotState& state, const SlotLook& look, Rect rect,
                    const std::string& words)
{
    const trace::Info& info = run.trace->info();
    const double y = std::floor(rect.y + (rect.h - 14) / 2);
    const double nameWidth = textWidth(buffer.name, 10, Weight::Mono);
    const double wordsWidth = textWidth(words, 11);
    if (look.undefined) { // plates, so that the hatch does not run through letters
        canvas.fill(rect.x + 7, std::max(rect.y, y - 1), nameWidth + 6, std::min(16.0, rect.h),
                    Role::View);
        if (wordsWidth + nameWidth + 30 < rect.w) {
            canvas.fill(rect.right() - wordsWidth - 12, std::max(rect.y, y - 1), wordsWidth + 8,
                        std::min(16.0, rect.h), Role::View);
        }
    }
    canvas.text(rect.x + 10, y, rect.w - 14, 14, buffer.name,
                {10, Role::Text2, Weight::Mono, Align::Left});
    if (wordsWidth + nameWidth + 30 < rect.w) {
        canvas.text(rect.x, y, rect.w - 8, 14, words,
                    {11, state.phase == trace::SlotPhase::Free ? Role::Text2 : Role::Text,
                     Weight::Regular, Align::Right});
    }
    std::string title;
    if (buffer.operand < 0) {
        title = parts::arrayText(buffer.shape, buffer.dtype);
    } else if (state.block && !(look.undefined && !look.inUse)) {
        title =
            trace::blockName(info.operands[static_cast<std::size_t>(buffer.operand)], *state.block);
    }
    const double at = rect.x + 10 + std::max(42.0, nameWidth + 8);
    const Weight weight = look.inUse ? Weight::SemiBold : Weight::Medium;
    const double room = rect.right() - wordsWidth - 16 - at;
    if (!title.empty() && textWidth(title, 11, weight) <= room
        && !(look.undefined && buffer.operand < 0)) {
        if (look.undefined) {
            canvas.fill(at - 3, std::max(rect.y, y - 1), textWidth(title, 11, weight) + 6,
                        std::min(16.0, rect.h), Role::View);
        }
        canvas.text(at, y, room + 1, 14, title, {11, Role::Text, weight, Align::Left});
    }
}

} // namespace

void paintSlot(Canvas& canvas, const RunView& run, const Place& place, Rect rect, Picoseconds now,
               bool texts)
{
    const trace::Trace& trace = *run.trace;
    const std::int32_t index = place.buffer;
    const trace::Buffer& buffer = trace.info().buffers[static_cast<std::size_t>(index)];
    const trace::SlotState state = stateOf(run, place, now);
    const SlotLook look = lookOf(trace, buffer, state, now);
    const Role role = bufferRole(run, trace::BufferRow{index});
    if (look.undefined) {
        canvas.hatch(rect.x, rect.y, rect.w, rect.h, mix(Role::Poison, 0.28), Role::View,
                     Hatch::Undefined);
    } else {
        canvas.fill(rect.x, rect.y, rect.w, rect.h, mix(role, look.rest));
        canvas.fill(rect.x, rect.y, rect.w * look.solid, rect.h, mix(role, look.strength));
    }
    if (look.edge) {
        canvas.fill(rect.x, rect.y, 4, rect.h, role);
    }
    if (look.front) {
        const double x = std::clamp(rect.x + rect.w * look.solid - 1, rect.x, rect.right() - 2);
        canvas.fill(x, rect.y, 2, rect.h, role);
    }
    if (look.dashed) {
        canvas.dashedFrame(rect.x, rect.y, rect.w, rect.h, role);
    }
    if (look.inUse) {
        canvas.frame(rect.x - 1, rect.y - 1, rect.w + 2, rect.h + 2, Role::Text,
                     rect.h >= 8 ? 2 : 1);
    }
    if (texts) {
        paintSlotTexts(canvas, run, buffer, state, look, rect, slotWords(run, place, now));
    }
    canvas.hit(rect.x, rect.y, rect.w, rect.h, target::Buffer{index});
}

std::string slotWords(const RunView& run, const Place& place, Picoseconds now)
{
    using trace::SlotPhase;
    const trace::Trace& trace = *run.trace;
    const trace::Buffer& buffer = trace.info().buffers[static_cast<std::size_t>(place.buffer)];
    const trace::SlotState state = stateOf(run, place, now);
    const auto firstStep = [&](trace::VisitRow visit) {
        return stepText(trace, trace::StepRow{trace.visits().firstStep[visit.index()]});
    };
    switch (state.phase) {
    case SlotPhase::Empty: {
        const auto step =
            buffer.operand < 0 ? std::nullopt : firstUse(trace, place.operand, buffer.slot);
        return step ? "undefined until " + stepText(trace, *step) : "undefined";
    }
    case SlotPhase::Queued:
        return "queued";
    case SlotPhase::Arriving:
        return "arriving " + percentText(state.fraction, 0);
    case SlotPhase::Ready:
        return state.visit ? "ready for " + firstStep(*state.visit) : "ready";
    case SlotPhase::InUse:
        if (buffer.operand < 0) {
            return "scratch";
        }
        if (notYetWritten(trace, buffer, state, now)) {
            return "undefined until stored";
        }
        if (state.stepsInStay <= 1) {
            return "in use";
        }
        if (state.stepsDone >= state.stepsInStay) {
            return "all " + countText(state.stepsInStay) + " steps of this block done";
        }
        return "step " + countText(stepOfStay(trace, state, now)) + " of "
               + countText(state.stepsInStay) + " of this block";
    case SlotPhase::LeavingQueued:
        return "leaving, queued";
    case SlotPhase::Leaving:
        return "leaving " + percentText(state.fraction, 0);
    case SlotPhase::Free:
        if (isHbms(trace.info(), buffer.memory)) {
            return "not in use";
        }
        return isOutput(trace, buffer) ? "written back, free" : "free";
    }
    return {};
}

} // namespace pallascope::layout
