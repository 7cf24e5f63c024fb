// The sums and histories behind class Index. Private to core/trace.
#pragma once

#include "core/trace/cache_history.h"
#include "core/trace/device_times.h"
#include "core/trace/grid_launches.h"
#include "core/trace/lookup.h"
#include "core/trace/loop_rounds.h"
#include "core/trace/manual_arrays.h"
#include "core/trace/pieces.h"
#include "core/trace/rows_by.h"
#include "core/trace/scratch_slots.h"
#include "core/trace/semaphore_counts.h"
#include "core/trace/windows.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace pallascope::trace {

// Rows between two stored prefix sums. At 32, a quantity takes a quarter of a byte per row, and a
// look-up adds at most 32 rows.
inline constexpr std::size_t kSampleRows = 32;

// Prefix sums of several quantities over the rows of a table. They are unsigned so that a hostile
// file that overflows them only makes them wrap.
class PrefixSums
{
public:
    explicit PrefixSums(std::size_t quantities = 0)
        : m_totals(quantities, 0)
    {}

    // Call it for each row in order, before adding the row, and once more after the last row.
    void beginRow(std::size_t row)
    {
        if (row % kSampleRows == 0) {
            m_samples.insert(m_samples.end(), m_totals.begin(), m_totals.end());
        }
    }

    void add(std::size_t quantity, std::int64_t value)
    {
        m_totals[quantity] += static_cast<std::uint64_t>(value);
    }

    [[nodiscard]] std::int64_t total(std::size_t quantity) const
    {
        return static_cast<std::int64_t>(m_totals[quantity]);
    }

    // The sum over rows [0, last); value(row) must return what was added for the row.
    template<class Value>
    [[nodiscard]] std::int64_t upTo(std::size_t quantity, std::size_t last, Value value) const
    {
        const std::size_t sample = last / kSampleRows;
        std::uint64_t sum = m_samples[sample * m_totals.size() + quantity];
        for (std::size_t row = sample * kSampleRows; row < last; ++row) {
            sum += static_cast<std::uint64_t>(value(row));
        }
        return static_cast<std::int64_t>(sum);
    }

private:
    std::vector<std::uint64_t> m_totals;
    std::vector<std::uint64_t> m_samples; // [sample][quantity]
};

// The copies of one link, in order. If there is only one link, `rows` stays empty and means every
// row.
struct Lane
{
    std::vector<std::uint32_t> rows;
    std::size_t size = 0;
    // For each operand: how often HBM is read or written for a byte of it that the link moves, as
    // Summary counts.
    std::vector<int> hbmTimes;
    // Bytes by key, copies by key, busy time in and out, all bytes, all bytes as HBM is read or
    // written for them; a key is operand * 2 + out.
    PrefixSums sums;

    [[nodiscard]] std::size_t row(std::size_t i) const { return rows.empty() ? i : rows[i]; }

    // The numbers of two quantities of a lane of a run with so many operands.
    [[nodiscard]] static std::size_t allBytes(std::size_t operands) { return operands * 4 + 2; }

    [[nodiscard]] static std::size_t hbmBytes(std::size_t operands) { return operands * 4 + 3; }

    // Whether any copy has this key, in a run of so many operands.
    [[nodiscard]] bool has(std::size_t key, std::size_t operands) const
    {
        return sums.total(operands * 2 + key) != 0;
    }

    // How many of this lane's copies have column <= t. The column must be sorted along a lane.
    [[nodiscard]] std::size_t by(const std::vector<std::int64_t>& column, std::int64_t t) const;
};

[[nodiscard]] inline std::size_t keyOf(const Copies& copies, std::size_t row)
{
    return static_cast<std::size_t>(copies.operand[row]) * 2 + copies.out[row];
}

// The bytes of HBM that are read or written for a copy of a lane. Unsigned, as the sums are.
[[nodiscard]] inline std::int64_t hbmBytesOf(const Lane& lane, const Copies& copies,
                                             std::size_t row)
{
    const auto times =
        static_cast<std::uint64_t>(lane.hbmTimes[static_cast<std::size_t>(copies.operand[row])]);
    return static_cast<std::int64_t>(times * static_cast<std::uint64_t>(copies.bytes[row]));
}

// How long one unit is busy in the first `since` ps of a segment.
[[nodiscard]] std::int64_t busyWithin(const SegmentTemplate& segment, UnitRow unit,
                                      std::int64_t since);

struct Index::Sums
{
    Agents agents;
    PipelineKinds pipelines;
    Arrays arrays;
    SemaphoreCounts semaphores;
    CacheHistory caches;
    GridLaunches launches;
    ScratchSlots scratch;
    LeadingSteps leading;
    LoopRounds rounds;
    std::vector<Pieces> pieces; // for each device
    DeviceTimes devices;
    std::vector<std::vector<std::int32_t>> sharing; // per operand that is the first of several
                                                    // which share an array: all of them
    std::vector<std::int32_t> firstSharing;         // per operand: that first one

    struct BlockOwner
    {
        std::int64_t block;
        std::int32_t operand;
        auto operator<=>(const BlockOwner&) const = default;
    };

    std::vector<std::vector<BlockOwner>> owners; // per first operand of several: sorted
    std::vector<std::int64_t> busyOf;   // busy time in a whole instance, at template * units + unit
    std::vector<std::int64_t> flopsOf;  // for each template
    PrefixSums segments;                // busy time by unit, then FLOPs
    PrefixSums waits;                   // waiting time, ends
    std::vector<std::int64_t> waitEnds; // sorted
    PrefixSums endedWaits;              // these
    std::vector<Lane> lanes;            // for each link
    // For each operand: its visits; those of a block by time.
    std::vector<RowsByBlock> visitsByBlock;
    // For each operand and block: how many visits had begun when it was last asked, as a guess for
    // the next picture, which is of a moment near that one. Any thread may guess.
    mutable std::vector<std::vector<std::atomic<std::uint32_t>>> begunBefore;
    // For each operand of manual DMA: its copies; those of a block by their end.
    std::vector<RowsByBlock> manualCopiesByBlock;
    // For each operand: when each block was first written back, sorted.
    std::vector<std::vector<std::int64_t>> written;
    // For each operand: the elements of its Indirect blocks, sorted.
    std::vector<std::vector<ListedElement>> listed;

    explicit Sums(const Trace& trace);

    // What only pictures need. It is made when it is first asked for, by any thread.
    struct ForPictures
    {
        std::vector<ManualArrays> manual;             // for each device
        std::vector<std::vector<std::int32_t>> alike; // for each operand
        std::vector<Windows> windows;                 // for each operand
    };

    [[nodiscard]] const ForPictures& forPictures(const Trace& trace) const;

private:
    mutable std::once_flag m_pictured;
    mutable ForPictures m_forPictures;

    void addSegments(const Trace& trace);
    void addVisits(const Trace& trace);
    void collectManualCopies(const Trace& trace);
    void addLists(const Trace& trace);
    void addSharing(const Trace& trace);
    void addOwners(const Trace& trace);
};

} // namespace pallascope::trace
