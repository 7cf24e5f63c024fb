// The sums over a run's rows that a report needs: counts, bytes, busy times. They come from a
// finished trace, or row by row from a run that keeps no rows; both give the same numbers, except
// where such a run passes over blocks of a long grid.
#pragma once

#include "core/trace/row.h"
#include "core/trace/trace.h"

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace pallascope::trace {

struct Summary
{
    // Between HBM and another memory, or between other memories. A copy from HBM to HBM counts both
    // as read and as written: on one device's link with half of its bytes each, between two devices
    // with all of them.
    enum Way : std::uint8_t
    {
        Read,
        Written,
        OnChip
    };

    struct Moved
    {
        std::int64_t copies = 0;
        Bytes bytes;
        Bytes betweenDevices; // of `bytes`, those that links between devices moved, not HBM's own
        bool operator==(const Moved&) const = default;
    };

    std::vector<std::int64_t> instances;      // executed segments of each template
    std::vector<std::array<Moved, 3>> moved;  // for each operand, by Way
    std::vector<Picoseconds> linkBusy;        // for each link
    std::int64_t steps = 0, stalledSteps = 0; // stalled: waited for a copy after the first body
    Picoseconds firstBody,
        lastStepEnd; // the end of the first step's body, and of the last step; 0 without steps
    // Segments, and waits that are not a pipeline's, before the first step and after the last. Of
    // all devices.
    Picoseconds computeBefore, computeAfter;
    Picoseconds waitedForCopies; // of all agents, without those of fusions
    Picoseconds waitedAround;    // those of pipelines among these before the first step and after
                                 // the last: what the prologue and the epilogue wait for
    Picoseconds busiest;         // bodies and step overhead of the agent that has most of them

    struct Agents
    {
        Picoseconds ran;    // bodies and step overhead
        Picoseconds copies; // waits for copies
        Picoseconds own;    // waits for its own products, and delays
        Picoseconds others; // waits for other agents and the units that they use

        [[nodiscard]] Picoseconds all() const { return ran + copies + own + others; }

        Agents& operator+=(const Agents& other)
        {
            ran += other.ran;
            copies += other.copies;
            own += other.own;
            others += other.others;
            return *this;
        }

        bool operator==(const Agents&) const = default;
    };

    // On average over the agents that wait for copies, or over all if none does; instances of units
    // are none.
    Agents agents;
    // On a GPU: how long blocks run, summed over their warpgroups, and what these wait for
    // meanwhile. Warps that work beside the first one of their warpgroup do not count.
    Picoseconds inBlocks;
    Agents warpgroups;
    std::int64_t blocks = 0;     // that began, on all devices; those that others claimed, too
    Picoseconds waitedInFusions; // for what fusions read and write
    Picoseconds idle;            // no segment runs and no link moves
    Picoseconds end;             // the length of the run
    // Of a long grid: blocks that did not run. What they would have added to the rest is in it.
    std::int64_t passedBlocks = 0;

    bool operator==(const Summary&) const = default;
};

[[nodiscard]] Summary summaryOf(const Trace& trace);

// Takes rows in the order in which a run makes them: segments by begin; each copy before the first
// segment that begins after its issue; waits by step.
class Summarizer
{
public:
    // Its agents, units, templates, operands and links must be complete.
    explicit Summarizer(const Info& info);

    void addSegment(std::int32_t templateId, AgentRow agent, OptionalRow<StepRow> step,
                    Picoseconds begin);
    void addCopy(OperandRow operand, bool out, LinkRow link, Bytes bytes, Picoseconds start,
                 Picoseconds end);
    enum class WaitKind : std::uint8_t
    {
        Other,
        Own, // for products that the agent has started, or a delay
        PipelineCopy,
        ManualCopy,
        Fusion // for what the fusion itself reads and writes
    };

    // The kind of a wait, by what it is for, if anything, and the operation that waits, empty if it
    // is a pipeline's own.
    [[nodiscard]] static WaitKind kindOf(OptionalRow<CopyRow> copy,
                                         OptionalRow<SemaphoreRow> semaphore,
                                         OptionalRow<OperationRow> operation, bool isFusion);

    // `inBlock`: while a block runs for which the agent works.
    void addWait(AgentRow agent, OptionalRow<StepRow> step, WaitKind kind, Picoseconds begin,
                 Picoseconds end, bool inBlock = false);

    // Blocks of a GPU, each with so many agents from one of these on, begin together. endBlocks
    // ends those that began with `first` as the first of these, if any did.
    void beginBlocks(const std::vector<std::int32_t>& firsts, std::int64_t agents,
                     Picoseconds begin);
    void endBlocks(std::int32_t first, Picoseconds end);

    // Whether a block that an agent works for has begun and not ended.
    [[nodiscard]] bool isInBlock(AgentRow agent) const
    {
        return agent.index() < m_isInBlock.size() && m_isInBlock[agent.index()];
    }

    // Blocks ran for so long, with so many agents in all.
    void addBlocks(std::int64_t agents, Picoseconds each) { m_sums.inBlocks += each * agents; }

    void countBlocks(std::int64_t blocks) { m_sums.blocks += blocks; }

    // What grows with each block of a grid outside of pipelines.
    struct SoFar
    {
        std::vector<std::int64_t> instances;
        std::vector<std::array<Summary::Moved, 3>> moved;
        std::vector<Picoseconds> linkBusy;
        std::vector<Summary::Agents> ofAgent, waitsInBlocks;
        Picoseconds outside, waitedForCopies, inBlocks;
        std::int64_t covered = 0;
    };

    [[nodiscard]] SoFar soFar(Picoseconds now) const;
    // Adds what was added between two moments, times ÷ of.
    void addAgain(const SoFar& from, const SoFar& to, std::int64_t times, std::int64_t of);

    void countPassed(std::int64_t blocks)
    {
        m_sums.passedBlocks += blocks;
        m_sums.blocks += blocks;
    }

    // Ends the run and returns its sums.
    [[nodiscard]] Summary finish(std::int64_t steps, Picoseconds firstBody, Picoseconds lastStepEnd,
                                 Picoseconds end) &&;

private:
    struct Interval
    {
        std::int64_t begin = 0, end = 0;
    };

    struct Wait
    {
        OptionalRow<StepRow> step;
        Picoseconds begin, end;
        bool isPipelines = false;
    };

    struct BegunBlocks
    {
        std::vector<std::int32_t> firsts;
        std::int64_t agents = 0; // of each
        Picoseconds begin;
    };

    void markBlocks(const BegunBlocks& blocks, bool areThere);

    void cover(std::int64_t begin, std::int64_t end)
    {
        m_covered += std::max<std::int64_t>(0, end - std::max(begin, m_until));
        m_until = std::max(m_until, end);
    }

    static Summary::Agents& rowOf(std::vector<Summary::Agents>& all, AgentRow agent)
    {
        all.resize(std::max(all.size(), agent.index() + 1));
        return all[agent.index()];
    }

    [[nodiscard]] bool isUnit(std::size_t agent) const
    {
        return agent < m_isUnit.size() && m_isUnit[agent];
    }

    [[nodiscard]] Summary::Agents averageAgent() const;
    [[nodiscard]] Summary::Agents sumOfWarpgroups(const std::vector<Summary::Agents>& all) const;
    void coverCopies(std::int64_t until);
    void count(const Wait& wait);

    Summary m_sums;
    std::vector<Picoseconds> m_durations; // for each template
    std::vector<bool> m_isKernels;        // for each template: a body or step overhead
    std::vector<bool> m_isUnit;           // for each agent: an instance of a matrix unit
    std::vector<bool> m_isWarp;           // for each agent: beside the first warp of its warpgroup
    std::vector<Summary::Agents> m_ofAgent, m_waitsInBlocks;
    std::vector<int> m_hbmPasses; // for each link
    // For each operand that Info has at the start; it is false for later ones.
    std::vector<bool> m_staysInHbm, m_staysOnChip;
    std::vector<Interval> m_copies; // copies not yet covered, sorted by begin, from m_next on
    std::size_t m_next = 0;
    std::int64_t m_covered = 0, m_until = 0;
    std::map<std::int32_t, BegunBlocks> m_blocks; // that have not ended, by their first agent
    std::vector<bool> m_isInBlock;                // for each agent
    bool m_hasGrids = false;
    std::vector<Wait> m_fusionWaits;
    // The waits outside of steps, and those of steps that may be in the prologue: only the end
    // shows where they count.
    std::vector<Wait> m_waits;
    std::vector<bool> m_stalled; // for each step; steps of several agents are interleaved
    Picoseconds m_outside; // time of segments outside of steps since the last segment in a step
    // The begin of the first segment in a step; with it the prologue ends for other agents.
    Picoseconds m_firstInStep{std::numeric_limits<std::int64_t>::max()};
};

// The kind of a wait of a finished trace.
[[nodiscard]] Summarizer::WaitKind kindOfWait(const Trace& trace, std::size_t wait);

} // namespace pallascope::trace
