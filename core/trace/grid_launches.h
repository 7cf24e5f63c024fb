// The blocks of GPUs' grids launch by launch, as the places of SMs run them. Building it takes
// O(rows log rows); each question then takes O(log n).
#pragma once

#include "core/trace/agent_blocks.h"
#include "core/trace/agents.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::trace {

// One launch of a grid. A block's wave is how many blocks its place had before it.
struct GridLaunch
{
    std::int32_t grid = 0; // row of Info::blockGrids
    std::int32_t device = 0;
    Picoseconds begin, end; // of the first block and of the last

    struct Place
    {
        std::int32_t sm = kNone;        // a number of Agents::sms; kNone: of none that takes part
        std::vector<std::int64_t> rows; // of Trace::gridBlocks: its blocks, wave after wave
    };

    // SM by SM, `perSm` each. Those that run no block are here too, so that SMs that are idle all
    // the time can be seen; they follow the others in number.
    std::vector<Place> places;
    std::int64_t perSm = 1;
    std::int64_t blocks = 0; // that have begun at all
    std::int64_t waves = 0;  // that the fullest place has

    // How many blocks have begun by t, and how many have ended; then the same of those alone that
    // another block has claimed.
    [[nodiscard]] std::int64_t begunBy(Picoseconds t) const;
    [[nodiscard]] std::int64_t endedBy(Picoseconds t) const;
    [[nodiscard]] std::int64_t claimedBy(Picoseconds t) const;
    [[nodiscard]] std::int64_t claimedEndedBy(Picoseconds t) const;

    [[nodiscard]] bool hasClaims() const { return !m_claims.empty(); }

    // Whether the SM of a place has no block left, or never gets one, while others run some.
    [[nodiscard]] bool isIdle(std::size_t place, Picoseconds t) const;
    // How many SMs that are.
    [[nodiscard]] std::int64_t idleSms(Picoseconds t) const;
    // The wave of the block that has begun last by t, counted from 0; 0 before the first.
    [[nodiscard]] std::int64_t waveAt(Picoseconds t) const;

private:
    friend class GridLaunches;

    std::vector<std::int64_t> m_begins, m_ends, m_claims, m_claimEnds; // ascending
    std::vector<std::int64_t> m_waves;                                 // for each of m_begins
    std::vector<std::int64_t> m_smEnds;     // of each SM: when its last block ends; its begin: none
    std::vector<std::int64_t> m_sortedEnds; // the same, ascending
};

class GridLaunches
{
public:
    GridLaunches(const Trace& trace, const Agents& agents); // it refers to the trace

    [[nodiscard]] const std::vector<GridLaunch>& all() const { return m_all; }

    // The one that has begun last by t on a device, or the first one; null if there is none.
    [[nodiscard]] const GridLaunch* at(Picoseconds t, std::int32_t device) const;

    // As AgentBlocks::lastOf.
    [[nodiscard]] std::optional<std::int64_t> blockOf(std::int32_t agent, Picoseconds t) const
    {
        return m_ofAgents.lastOf(agent, t);
    }

    // When that block ends, and with it what it holds on its SM. Empty if there is none, or if a
    // finding stopped the run before the block ended.
    [[nodiscard]] std::optional<Picoseconds> blockEnd(std::int32_t agent, Picoseconds t) const;

private:
    void finish(const Agents& agents, GridLaunch& launch, const std::vector<std::int64_t>& rows);

    std::vector<GridLaunch> m_all;
    const Trace* m_trace;
    AgentBlocks m_ofAgents;
};

} // namespace pallascope::trace
