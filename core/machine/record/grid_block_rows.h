// The rows of the blocks that SMs of a GPU run, while the run goes on. A recorder owns them and
// takes them at the end.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <map>
#include <vector>

namespace pallascope::machine {

// What blocks begin together: one, or all of a cluster.
struct BegunBlocks
{
    std::int32_t grid = 0;            // row of Info::blockGrids
    std::int32_t point = 0;           // of the grid, row-major
    std::vector<std::int32_t> agents; // the first one of each block
    bool areClaimed = false;
};

class GridBlockRows
{
public:
    void begin(const BegunBlocks& blocks, Picoseconds time);
    // What has begun with this first agent, or was claimed there, ends.
    void end(std::int32_t agent, Picoseconds time);

    [[nodiscard]] std::size_t size() const { return m_rows.size(); }

    // All rows; those that a stopped run leaves open end then, and none later.
    [[nodiscard]] trace::GridBlocks take(Picoseconds end);

private:
    trace::GridBlocks m_rows;
    std::map<std::int32_t, std::vector<std::size_t>> m_open; // rows, by the first agent
};

} // namespace pallascope::machine
