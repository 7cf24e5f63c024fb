#include "core/trace/scratch_slots.h"

#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"
#include "core/trace/lookup.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace pallascope::trace {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// More indices than this are rows of an array rather than slots. Of a matrix, few are slots.
constexpr Extent kMostSlots = 32, kMostRows = 4;

// Whether a buffer has as many slots as its leading axis is long.
std::vector<bool> slicedBuffers(const Trace& trace)
{
    std::vector<bool> sliced;
    for (const Buffer& buffer : trace.info().buffers) {
        const Extent most = buffer.shape.rank() > 2 ? kMostSlots : kMostRows;
        sliced.push_back(buffer.shape.rank() >= 2 && buffer.shape[0] > 1
                         && buffer.shape[0] <= most);
    }
    const CopyEnds& ends = trace.copyEnds();
    for (std::size_t row = 0; row < ends.size(); ++row) {
        const Shape& box = trace.info().copiedShapes[at(ends.shape[row])];
        if (ends.buffer[row] != kNone && sliced[at(ends.buffer[row])] && box[0] != 1) {
            sliced[at(ends.buffer[row])] = false;
        }
    }
    return sliced;
}

// The place of an end's slot on the leading axis of its buffer.
Extent indexOf(const Trace& trace, EndRow end)
{
    const CopyEnds& ends = trace.copyEnds();
    const Buffer& buffer = trace.info().buffers[at(ends.buffer[end.index()])];
    return rowMajorIndex(buffer.shape.extents(), ends.first[end.index()]).front();
}

// The semaphore that tells when a copy is done with an end: its own or, at the source of a copy
// within a device, that of the target.
std::int32_t semaphoreOfEnd(const Trace& trace, EndRow end)
{
    const CopyEnds& ends = trace.copyEnds();
    const std::size_t other = otherEnd(end).index();
    const bool borrows = isSource(end) && ends.semaphore[end.index()] == kNone
                         && ends.agent[end.index()] == ends.agent[other];
    return ends.semaphore[borrows ? other : end.index()];
}

// For each semaphore its waits, in the order in which they end.
std::vector<std::vector<std::size_t>> waitsBySemaphore(const Trace& trace)
{
    const Waits& waits = trace.waits();
    std::vector<std::vector<std::size_t>> all(trace.info().semaphores.size());
    for (std::size_t row = 0; row < waits.semaphore.size(); ++row) {
        if (waits.semaphore[row] != kNone) {
            all[at(waits.semaphore[row])].push_back(row);
        }
    }
    for (std::vector<std::size_t>& ofOne : all) {
        std::ranges::stable_sort(ofOne, {}, [&](std::size_t row) { return waits.end[row]; });
    }
    return all;
}

} // namespace

ScratchSlots::ScratchSlots(const Trace& trace, const SemaphoreCounts& semaphores,
                           const GridLaunches& launches)
{
    const SharedList<Buffer>& buffers = trace.info().buffers;
    std::map<std::tuple<std::string, std::vector<Extent>, DType, std::int32_t>, std::int32_t> known;
    for (std::size_t row = 0; row < buffers.size(); ++row) {
        const Buffer& buffer = buffers[row];
        const auto number = static_cast<std::int32_t>(row);
        m_listedAs.push_back(buffer.operand != kNone
                                 ? number
                                 : known
                                       .try_emplace({buffer.name,
                                                     {buffer.shape.begin(), buffer.shape.end()},
                                                     buffer.dtype,
                                                     buffer.memory},
                                                    number)
                                       .first->second);
    }
    findReleases(trace, launches);
    findWaits(trace, semaphores);
    makeSlots(trace);
}

void ScratchSlots::findReleases(const Trace& trace, const GridLaunches& launches)
{
    const CopyEnds& ends = trace.copyEnds();
    for (std::size_t end = 0; end < ends.size(); ++end) {
        const Picoseconds issue(trace.copies().issue[at(ends.copy[end])]);
        const std::optional<Picoseconds> released = launches.blockEnd(ends.agent[end], issue);
        m_released.push_back(released ? released->value() : kNever);
    }
}

// A semaphore counts bytes, so the waits take them in the order in which copies have landed.
void ScratchSlots::findWaits(const Trace& trace, const SemaphoreCounts& semaphores)
{
    const CopyEnds& ends = trace.copyEnds();
    m_awaited.assign(ends.size(), kNever);
    std::vector<std::vector<std::size_t>> signalling(trace.info().semaphores.size());
    for (std::size_t end = 0; end < ends.size(); ++end) {
        if (ends.semaphore[end] != kNone && !isBarrier(trace.info(), ends.semaphore[end])) {
            signalling[at(ends.semaphore[end])].push_back(end);
        }
    }
    const auto landing = [&](std::size_t end) { return trace.copies().end[at(ends.copy[end])]; };
    for (std::size_t semaphore = 0; semaphore < signalling.size(); ++semaphore) {
        std::vector<std::size_t>& order = signalling[semaphore];
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return landing(a) < landing(b); });
        const auto row = static_cast<std::int32_t>(semaphore);
        for (std::size_t i = 0; i < order.size(); ++i) {
            const auto taken = semaphores.takenAt(row, semaphores.added(row, i + 1));
            if (taken && taken->value() >= landing(order[i])) {
                m_awaited[order[i]] = taken->value();
            }
        }
    }
    findBarrierWaits(trace, semaphores);
    for (std::size_t end = 0; end < ends.size(); end += 2) { // sources without a semaphore
        if (ends.semaphore[end] == kNone && semaphoreOfEnd(trace, EndRow::at(end)) != kNone) {
            m_awaited[end] = m_awaited[end + 1];
        }
    }
}

// A copy arrives on a barrier. It has been waited for when the first wait for the phase that its
// arrival completes has ended, which begins before the next phase completes and the block ends.
void ScratchSlots::findBarrierWaits(const Trace& trace, const SemaphoreCounts& semaphores)
{
    const CopyEnds& ends = trace.copyEnds();
    const Waits& waits = trace.waits();
    const std::vector<std::vector<std::size_t>> bySemaphore = waitsBySemaphore(trace);
    for (std::size_t end = 0; end < ends.size(); ++end) {
        const std::int32_t barrier = ends.semaphore[end];
        if (barrier == kNone || !isBarrier(trace.info(), barrier)) {
            continue;
        }
        const Picoseconds landed(trace.copies().end[at(ends.copy[end])]);
        const std::optional<Picoseconds> complete = semaphores.nextTake(barrier, landed);
        if (!complete) {
            continue;
        }
        const std::optional<Picoseconds> next =
            semaphores.nextTake(barrier, *complete + Picoseconds(1));
        const std::int64_t before = std::min(next ? next->value() : kNever, m_released[end]);
        const auto wait = std::ranges::lower_bound(bySemaphore[at(barrier)], complete->value(), {},
                                                   [&](std::size_t row) { return waits.end[row]; });
        if (wait != bySemaphore[at(barrier)].end() && waits.begin[*wait] < before) {
            m_awaited[end] = waits.end[*wait];
        }
    }
}

void ScratchSlots::makeSlots(const Trace& trace)
{
    const CopyEnds& ends = trace.copyEnds();
    const std::vector<bool> sliced = slicedBuffers(trace);
    std::set<std::pair<std::int32_t, std::int32_t>> used; // buffer, agent
    for (std::size_t row = 0; row < ends.size(); ++row) {
        if (ends.buffer[row] != kNone) {
            used.insert({m_listedAs[at(ends.buffer[row])], ends.agent[row]});
        }
    }
    for (const auto& [buffer, agent] : used) {
        const bool bySlot = sliced[at(buffer)];
        const Extent count = bySlot ? trace.info().buffers[at(buffer)].shape[0] : 1;
        for (std::int32_t index = 0; index < count; ++index) {
            m_slots.push_back({buffer, agent, bySlot ? index : kNone});
        }
    }
    m_histories.resize(m_slots.size());
    m_guards.resize(trace.info().semaphores.size());
    for (std::size_t row = 0; row < ends.size(); ++row) {
        if (ends.buffer[row] == kNone) {
            continue;
        }
        const Range range = of(ends.buffer[row], ends.agent[row]);
        const EndRow end = EndRow::at(row);
        addToSlot(trace, range.size() == 1 ? range.first : range.first + at(indexOf(trace, end)),
                  end);
    }
}

void ScratchSlots::addToSlot(const Trace& trace, std::size_t slot, EndRow end)
{
    const CopyEnds& ends = trace.copyEnds();
    const Copies& copies = trace.copies();
    const std::size_t copy = copyOf(trace, end).index();
    History& history = m_histories[slot];
    const auto touches = [&](const Group& group) {
        return std::any_of(
            history.ends.end() - static_cast<std::ptrdiff_t>(group.count), history.ends.end(),
            [&](EndRow other) { return ends.first[other.index()] == ends.first[end.index()]; });
    };
    const bool joins = !history.groups.empty() && history.groups.back().out == isSource(end)
                       && history.groups.back().firstAwaited > copies.issue[copy]
                       && history.groups.back().released > copies.issue[copy]
                       && !touches(history.groups.back());
    if (!joins) {
        history.groups.push_back(
            {history.ends.size(), 0, isSource(end), copies.issue[copy], 0, kNever, 0, 0});
    }
    if (const std::int32_t semaphore = semaphoreOfEnd(trace, end); semaphore != kNone) {
        m_guards[at(semaphore)] = true;
    }
    history.ends.push_back(end);
    Group& group = history.groups.back();
    ++group.count;
    group.landed = std::max(group.landed, copies.end[copy]);
    group.firstAwaited = std::min(group.firstAwaited, m_awaited[end.index()]);
    group.awaited = std::max(group.awaited, m_awaited[end.index()]);
    group.released = std::max(group.released, m_released[end.index()]);
}

ScratchSlots::Range ScratchSlots::of(std::int32_t buffer, std::int32_t agent) const
{
    const std::pair wanted(m_listedAs[at(buffer)], agent);
    const auto before = [](const ScratchSlot& slot, const auto& key) {
        return std::pair(slot.buffer, slot.agent) < key;
    };
    const auto after = [](const auto& key, const ScratchSlot& slot) {
        return key < std::pair(slot.buffer, slot.agent);
    };
    const auto first = std::lower_bound(m_slots.begin(), m_slots.end(), wanted, before);
    const auto last = std::upper_bound(first, m_slots.end(), wanted, after);
    return {at(first - m_slots.begin()), at(last - m_slots.begin())};
}

bool ScratchSlots::isGuard(std::int32_t semaphore) const
{
    return m_guards[at(semaphore)];
}

std::optional<Picoseconds> ScratchSlots::awaited(EndRow end) const
{
    const std::int64_t time = m_awaited[end.index()];
    return time == kNever ? std::nullopt : std::optional(Picoseconds(time));
}

std::optional<Picoseconds> ScratchSlots::released(EndRow end) const
{
    const std::int64_t time = m_released[end.index()];
    return time == kNever ? std::nullopt : std::optional(Picoseconds(time));
}

ScratchState ScratchSlots::stateAt(const Trace& trace, std::size_t slot, Picoseconds time) const
{
    const History& history = m_histories[slot];
    const std::int64_t t = clamped(trace, time);
    const auto next = std::partition_point(history.groups.begin(), history.groups.end(),
                                           [&](const Group& one) { return one.issue <= t; });
    ScratchState state;
    const bool isFree =
        next == history.groups.begin() || std::max((next - 1)->released, (next - 1)->landed) <= t;
    if (isFree) {
        if (!history.ends.empty()) {
            state.semaphore = semaphoreOfEnd(trace, history.ends.front());
        }
        return state;
    }
    const Group& group = *(next - 1);
    state.ends = std::span(history.ends).subspan(group.first, group.count);
    const Copies& copies = trace.copies();
    std::int64_t firstStart = kNever;
    double moved = 0;
    std::uint64_t bytes = 0; // of any file: may wrap
    for (const EndRow end : state.ends) {
        const std::size_t copy = copyOf(trace, end).index();
        const double fraction = copyFraction(trace, copyOf(trace, end), Picoseconds(t));
        bytes += static_cast<std::uint64_t>(copies.bytes[copy]);
        state.landed += copies.end[copy] <= t ? 1 : 0;
        moved += fraction * static_cast<double>(copies.bytes[copy]);
        firstStart = std::min(firstStart, copies.start[copy]);
    }
    state.bytes = Bytes(static_cast<std::int64_t>(bytes));
    const bool all = t >= group.landed;
    state.moved = all                        ? 1
                  : state.bytes.value() == 0 ? 0
                                             : moved / static_cast<double>(state.bytes.value());
    state.semaphore = semaphoreOfEnd(trace, state.ends.back());
    if (!all) {
        const bool started = firstStart <= t;
        state.phase = group.out ? (started ? ScratchPhase::Leaving : ScratchPhase::LeavingQueued)
                                : (started ? ScratchPhase::Arriving : ScratchPhase::Queued);
        state.since = Picoseconds(started ? firstStart : group.issue);
    } else if (group.out) {
        state.phase = ScratchPhase::Sent;
        state.since = Picoseconds(group.landed);
    } else {
        const bool inUse = group.awaited <= t;
        state.phase = inUse ? ScratchPhase::InUse : ScratchPhase::Ready;
        state.since = Picoseconds(inUse ? group.awaited : group.landed);
    }
    return state;
}

} // namespace pallascope::trace
