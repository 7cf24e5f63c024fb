// What a report needs of a run's rows, as sums: counts, bytes, busy times. Made from a finished
// trace, or row by row while a run keeps none; both give the same numbers.
#pragma once

#include "core/trace/trace.h"

#include <array>
#include <vector>

namespace pallascope::trace {

struct Summary
{
    // Between HBM and another memory, or between others. A copy from HBM to HBM counts as read and
    // as written: of one device's link half of its bytes each, between two devices all of them.
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
        bool operator==(const Moved&) const = default;
    };

    std::vector<std::int64_t> instances;      // executed segments, per template
    std::vector<std::array<Moved, 3>> moved;  // per operand, by Way
    std::vector<Picoseconds> linkBusy;        // per link
    std::int64_t steps = 0, stalledSteps = 0; // stalled: waited for a copy after the first body
    Picoseconds firstBody,
        lastStepEnd; // of the first step's body, of the last step; 0 without steps
    Picoseconds computeBefore, computeAfter; // segments, and waits in fusions, before the first
                                             // step and after the last
    Picoseconds waitedForCopies;             // of all agents, fusions aside
    Picoseconds waitedInFusions;             // for what they read and write
    Picoseconds idle;                        // neither a segment runs nor a link moves
    Picoseconds end;                         // of the run

    bool operator==(const Summary&) const = default;
};

[[nodiscard]] Summary summaryOf(const Trace& trace);

// Rows come as a run makes them: segments by begin; a copy before the first segment that begins
// after its issue; waits by step.
class Summarizer
{
public:
    explicit Summarizer(const Info& info); // its templates, operands and links, all known by now

    void addSegment(std::int32_t templateId, std::int32_t step, Picoseconds begin);
    void addCopy(std::int32_t operand, bool out, std::int32_t link, Bytes bytes, Picoseconds start,
                 Picoseconds end);
    enum class WaitKind : std::uint8_t
    {
        Other,
        Copy,
        Fusion // for what it reads and writes itself
    };

    // Of a wait for a copy, or none, by a fusion or something else.
    [[nodiscard]] static WaitKind kindOf(std::int32_t copy, bool isFusion);

    void addWait(std::int32_t step, WaitKind kind, Picoseconds begin, Picoseconds end);

    // The sums so far as those of a whole run.
    [[nodiscard]] Summary finish(std::int64_t steps, Picoseconds firstBody, Picoseconds lastStepEnd,
                                 Picoseconds end) &&;

private:
    struct Interval
    {
        std::int64_t begin = 0, end = 0;
    };

    struct Wait
    {
        std::int32_t step = kNone;
        Picoseconds begin, end;
    };

    void cover(std::int64_t begin, std::int64_t end)
    {
        m_covered += std::max<std::int64_t>(0, end - std::max(begin, m_until));
        m_until = std::max(m_until, end);
    }

    void coverCopies(std::int64_t until);
    void count(const Wait& wait);

    Summary m_sums;
    std::vector<Picoseconds> m_durations; // per template
    std::vector<int> m_hbmPasses;         // per link
    std::vector<bool> m_staysInHbm;       // per operand of Info at the start; later ones do not
    std::vector<Interval> m_copies;       // not covered yet, by begin, from m_next on
    std::size_t m_next = 0;
    std::int64_t m_covered = 0, m_until = 0;
    std::vector<Wait> m_fusionWaits;
    std::vector<Wait> m_waits; // of step 0 and outside steps: where they count is known at the end
    std::vector<bool> m_stalled; // by step; those of several agents lie between each other
    Picoseconds m_outside;       // segments of no step since the last one of a step
    bool m_inSteps = false;
};

} // namespace pallascope::trace
