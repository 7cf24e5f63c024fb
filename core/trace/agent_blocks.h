// Which block of a GPU's grid an agent works for at a moment.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::trace {

class AgentBlocks
{
public:
    explicit AgentBlocks(const Trace& trace); // it refers to the trace

    // The block that has begun last by t among those that an agent takes part in: a row of
    // Trace::gridBlocks. What it has claimed does not count. Takes O(log n).
    [[nodiscard]] std::optional<std::int64_t> lastOf(std::int32_t agent, Picoseconds t) const;
    // Whether that block has not ended by then.
    [[nodiscard]] bool isInBlock(std::int32_t agent, Picoseconds t) const;

private:
    const GridBlocks& m_blocks;
    std::vector<std::vector<std::int64_t>> m_rowsOf; // of each agent, by begin
};

// How many agents run the block of a row of Trace::gridBlocks.
[[nodiscard]] std::int64_t agentsOfBlock(const Trace& trace, std::size_t row);

} // namespace pallascope::trace
