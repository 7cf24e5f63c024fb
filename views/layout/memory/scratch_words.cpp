#include "views/layout/memory/scratch_words.h"

#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

using trace::ScratchPhase;

bool isInHbm(const trace::Trace& trace, trace::EndRow end)
{
    const std::int32_t buffer = trace.copyEnds().buffer[end.index()];
    return buffer == trace::kNone
           || isHbms(trace.info(), trace.info().buffers[trace::at(buffer)].memory);
}

// " from device 6", " to device 4": where the other end is, if that is another's memory.
std::string elsewhere(const RunView& run, trace::EndRow end)
{
    const trace::Trace& trace = *run.trace;
    const trace::CopyEnds& ends = trace.copyEnds();
    const std::int32_t here = ends.agent[end.index()],
                       there = ends.agent[trace::otherEnd(end).index()];
    const std::vector<std::int32_t>& smOf = run.index->agents().smOf;
    const bool isOnSm = !smOf.empty() && smOf[trace::at(here)] == smOf[trace::at(there)];
    if (here == there || isOnSm) { // what a warpgroup copies is in the memory of its block
        return {};
    }
    const trace::Info& info = trace.info();
    const std::int32_t device = info.deviceOf(there);
    // A block may copy what another one of its cluster gets or has; GMEM is of neither.
    if (!smOf.empty() && device == info.deviceOf(here) && isInHbm(trace, trace::otherEnd(end))) {
        return {};
    }
    const std::string name = device == info.deviceOf(here) ? info.agents[trace::at(there)]
                                                           : "device " + std::to_string(device);
    return (trace::isSource(end) ? " to " : " from ") + name;
}

// "61 %" of one copy, "2 of 4 here" of several.
std::string howFar(const trace::ScratchState& state, std::string_view word)
{
    return state.ends.size() == 1
               ? " " + percentText(state.moved, 0)
               : fmt::format(", {} of {} {}", state.landed, state.ends.size(), word);
}

// ", read by 2 dots since"; empty where nobody can tell.
std::string readersText(const RunView& run, std::size_t slot, Picoseconds arrived, Picoseconds now)
{
    const auto count = run.readers ? run.readers->between(slot, arrived, now) : std::nullopt;
    if (!count) {
        return {};
    }
    if (count->reads == 0) {
        return ", not read since";
    }
    return fmt::format(", read by {} {}{} since", countText(count->reads),
                       count->areProducts ? "dot" : "load", count->reads == 1 ? "" : "s");
}

} // namespace

std::vector<std::string> pieceNames(const trace::Trace& trace, std::span<const trace::EndRow> ends)
{
    std::vector<std::vector<Extent>> places;
    for (const trace::EndRow end : ends) {
        const std::size_t copy = trace::copyOf(trace, end).index();
        const trace::Copies& copies = trace.copies();
        places.push_back(trace::blockIndex(trace.info().operands[trace::at(copies.operand[copy])],
                                           copies.block[copy]));
    }
    std::vector<std::string> names(places.size());
    for (std::size_t axis = 0; !places.empty() && axis < places.front().size(); ++axis) {
        const bool varies = std::any_of(places.begin(), places.end(), [&](const auto& place) {
            return place.size() == places.front().size() && place[axis] != places.front()[axis];
        });
        for (std::size_t i = 0; varies && i < places.size(); ++i) {
            if (axis < places[i].size()) {
                names[i] += (names[i].empty() ? "" : ",") + std::to_string(places[i][axis]);
            }
        }
    }
    return names;
}

std::string scratchAge(const RunView& run, std::size_t slot, Picoseconds now, bool inShort)
{
    const trace::Trace& trace = *run.trace;
    const trace::ScratchState state = run.index->scratch().stateAt(trace, slot, now);
    std::int64_t landed = 0;
    for (const trace::EndRow end : state.ends) {
        landed = std::max(landed, trace.copies().end[trace::copyOf(trace, end).index()]);
    }
    const std::string since = timeText(std::max(Picoseconds(0), now - state.since)) + " ago";
    switch (state.phase) {
    case ScratchPhase::Unused:
        return {};
    case ScratchPhase::Queued:
    case ScratchPhase::LeavingQueued:
        return "issued " + since;
    case ScratchPhase::Arriving:
    case ScratchPhase::Leaving:
        return "started " + since;
    case ScratchPhase::Ready:
        return "arrived " + since + ", not yet waited for";
    case ScratchPhase::InUse:
        return "arrived " + timeText(std::max(Picoseconds(0), now - Picoseconds(landed))) + " ago"
               + (inShort ? "" : readersText(run, slot, Picoseconds(landed), now));
    case ScratchPhase::Sent:
        return "left " + since;
    }
    return {};
}

std::string placeName(const RunView& run, const Place& place)
{
    const std::string& name = run.trace->info().buffers[trace::at(place.buffer)].name;
    const std::int32_t slot =
        place.slot ? run.index->scratch().all()[*place.slot].index : trace::kNone;
    return slot == trace::kNone ? name : fmt::format("{}[{}]", name, slot);
}

std::string scratchWords(const RunView& run, std::size_t slot, Picoseconds now)
{
    const trace::Trace& trace = *run.trace;
    const trace::ScratchState state = run.index->scratch().stateAt(trace, slot, now);
    const auto there = [&] { return elsewhere(run, state.ends.front()); };
    const std::int32_t buffer = run.index->scratch().all()[slot].buffer,
                       memory = trace.info().buffers[trace::at(buffer)].memory;
    switch (state.phase) {
    case ScratchPhase::Unused:
        return isHbms(trace.info(), memory) ? "not in use" : "free";
    case ScratchPhase::Queued:
        return "queued" + there();
    case ScratchPhase::Arriving:
        return "arriving" + there() + howFar(state, "here");
    case ScratchPhase::Ready:
        return "ready";
    case ScratchPhase::InUse:
        return "in use";
    case ScratchPhase::LeavingQueued:
        return "leaving" + there() + ", queued";
    case ScratchPhase::Leaving:
        return "leaving" + there() + howFar(state, "gone");
    case ScratchPhase::Sent: {
        return isInHbm(trace, trace::otherEnd(state.ends.front())) && there().empty()
                   ? "written back"
                   : "sent" + there();
    }
    }
    return {};
}

std::string scratchTitle(const RunView& run, std::size_t slot, Picoseconds now, bool inShort)
{
    const trace::Trace& trace = *run.trace;
    const trace::ScratchState state = run.index->scratch().stateAt(trace, slot, now);
    if (state.ends.empty()) {
        return {};
    }
    const auto arrayOf = [&](trace::EndRow end) {
        const std::int32_t operand = trace.copies().operand[trace::copyOf(trace, end).index()];
        return std::string(trace::arrayName(trace.info().operands[trace::at(operand)]));
    };
    const std::string array = arrayOf(state.ends.front());
    if (state.ends.size() == 1) {
        return inShort ? array : trace::copyLabel(trace, trace::copyOf(trace, state.ends.front()));
    }
    const std::size_t others =
        trace::at(std::count_if(state.ends.begin(), state.ends.end(),
                                [&](trace::EndRow end) { return arrayOf(end) != array; }));
    if (others > 0) {
        return inShort ? std::string()
                       : fmt::format("{} and {} more copies", array, state.ends.size() - 1);
    }
    if (inShort) {
        return fmt::format("{}, {} parts", array, state.ends.size());
    }
    const std::vector<std::string> names = pieceNames(trace, state.ends);
    const bool single = std::none_of(names.begin(), names.end(), [](const std::string& name) {
        return name.find(',') != std::string::npos;
    });
    std::string title = array;
    for (std::size_t i = 0; i < names.size() && !names[i].empty(); ++i) {
        title += (i == 0 ? " " : ", ") + (single ? names[i] : "(" + names[i] + ")");
    }
    return title;
}

std::vector<std::string> scratchLines(const RunView& run, const ViewState& state,
                                      std::int32_t buffer)
{
    constexpr std::size_t kMost = 4;
    const trace::ScratchSlots::Range slots =
        run.index->scratch().of(buffer, shownAgent(run, state));
    std::vector<std::string> lines;
    for (std::size_t slot = slots.first; slot < std::min(slots.last, slots.first + kMost); ++slot) {
        const std::string title = scratchTitle(run, slot, state.now, false);
        const std::string age = scratchAge(run, slot, state.now, false);
        lines.push_back(placeName(run, {buffer, slot, {}, {}}) + ": "
                        + scratchWords(run, slot, state.now)
                        + (title.empty() ? "" : " · " + title));
        if (!age.empty()) {
            lines.push_back("    " + age);
        }
    }
    if (slots.size() > kMost) {
        lines.push_back("and " + std::to_string(slots.size() - kMost) + " slots more");
    }
    return lines;
}

} // namespace pallascope::layout
