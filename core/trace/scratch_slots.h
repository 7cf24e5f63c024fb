// The slots of scratch that manual DMA fills or empties, and what they hold at any time. A trace
// without the ends of copies has none.
#pragma once

#include "core/trace/grid_launches.h"
#include "core/trace/row.h"
#include "core/trace/semaphore_counts.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pallascope::trace {

// One index of the leading axis of a scratch, if every copy addresses a single one, or else the
// whole scratch.
struct ScratchSlot
{
    std::int32_t buffer = 0;    // row of Info::buffers
    std::int32_t agent = 0;     // in whose memory it lies
    std::int32_t index = kNone; // kNone: the whole scratch
    bool operator==(const ScratchSlot&) const = default;
};

// What is happening in such a slot. Copies that are started before somebody has waited for those
// before them go together, unless they touch the same part.
enum class ScratchPhase : std::uint8_t
{
    Unused,        // no copy so far or, on a GPU, none in the block that is there
    Queued,        // copies into it are issued, none has started
    Arriving,      // some of them have not landed
    Ready,         // all have landed, and nobody has waited for all of them
    InUse,         // they have been waited for; lasts until the next copies are issued or, on a
                   // GPU, the block ends
    LeavingQueued, // copies out of it are issued, none has started
    Leaving,       // some of them have not landed
    Sent           // all have landed
};

struct ScratchState
{
    ScratchPhase phase = ScratchPhase::Unused;
    // The ends in this slot of the copies that go together, also of those that will be issued only
    // later; empty if Unused.
    std::span<const EndRow> ends;
    std::int64_t landed = 0; // of these copies
    Bytes bytes;             // of all of them
    double moved = 0;        // the share of these bytes
    // When the phase began: the first issue or start, the last landing, the wait.
    Picoseconds since;
    // That the last of these copies signals (row of Info::semaphores); before the first copy, that
    // of the first.
    std::int32_t semaphore = kNone;
};

class ScratchSlots
{
public:
    // Reads every row of CopyEnds once. Use Index::scratch, which keeps the result.
    ScratchSlots(const Trace& trace, const SemaphoreCounts& semaphores,
                 const GridLaunches& launches);

    // Sorted by buffer, agent and index.
    [[nodiscard]] const std::vector<ScratchSlot>& all() const { return m_slots; }

    // The slots of a buffer in the memory of an agent, as numbers [first, last) of all(). There are
    // none if no copy touches it. A buffer that is listed for several pipelines has the same slots
    // in each row.
    struct Range
    {
        std::size_t first = 0, last = 0;

        [[nodiscard]] bool empty() const { return first == last; }

        [[nodiscard]] std::size_t size() const { return last - first; }
    };

    [[nodiscard]] Range of(std::int32_t buffer, std::int32_t agent) const;

    [[nodiscard]] ScratchState stateAt(const Trace& trace, std::size_t slot, Picoseconds t) const;

    // Whether a semaphore (row of Info::semaphores) tells about the copies of some slot.
    [[nodiscard]] bool isGuard(std::int32_t semaphore) const;

    // When somebody has waited for the copy at an end; empty if nobody does.
    [[nodiscard]] std::optional<Picoseconds> awaited(EndRow end) const;

    // When the block of a GPU ends that holds what lies at an end; empty if none does.
    [[nodiscard]] std::optional<Picoseconds> released(EndRow end) const;

private:
    // Copies that go together: `count` ends of a slot from `first` on.
    struct Group
    {
        std::size_t first = 0, count = 0;
        bool out = false;
        std::int64_t issue = 0, landed = 0;
        std::int64_t firstAwaited = 0, awaited = 0; // kNever: by nobody
        std::int64_t released = 0;                  // kNever: no block ends
    };

    struct History
    {
        std::vector<EndRow> ends; // in the order of issue
        std::vector<Group> groups;
    };

    void findReleases(const Trace& trace, const GridLaunches& launches);
    void findWaits(const Trace& trace, const SemaphoreCounts& semaphores);
    void findBarrierWaits(const Trace& trace, const SemaphoreCounts& semaphores);
    void makeSlots(const Trace& trace);
    void addToSlot(const Trace& trace, std::size_t slot, EndRow end);

    std::vector<ScratchSlot> m_slots;
    std::vector<History> m_histories;     // for each slot
    std::vector<std::int32_t> m_listedAs; // for each buffer: the row that the ends name
    std::vector<std::int64_t> m_awaited;  // for each end, kNever: by nobody
    std::vector<std::int64_t> m_released; // for each end, kNever: no block ends
    std::vector<bool> m_guards;           // for each row of Info::semaphores
};

} // namespace pallascope::trace
