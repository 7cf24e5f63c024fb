// What the kernels for GPUs share: checks of their sizes, and the order of their tiles.
#pragma once

#include "core/ir/builder_schedule.h"
#include "kernels/kernel.h"

#include <array>
#include <string>
#include <vector>

namespace pallascope::kernels {

// The blocks of a persistent kernel, by default so many.
[[nodiscard]] Parameter persistentBlocks(std::int64_t blocks);
// Whether tiles go through SMEM.
[[nodiscard]] Parameter copiesOfTiles();

// Says what must divide the parameters of a kernel.
struct Divisions
{
    std::string kernel;

    // The error says that the value of the parameter is no multiple of `divisor`, which the other
    // parameters give.
    [[nodiscard]] Status check(const std::string& parameter, Extent value, Extent divisor,
                               const std::vector<std::string>& others = {}) const;
};

[[nodiscard]] Status firstError(const std::vector<Status>& checks);

// The row and the column of tile `number` in a plane of tiles: row by row, or in strips of `snake`
// rows (planarSnake) if that is not 0.
[[nodiscard]] std::array<pl::Value, 2> tileOrder(const pl::Value& number,
                                                 std::array<Extent, 2> plane, Extent snake);

// The blocks that go through `tiles` tiles: as many, or so many that stay until no tile is left.
struct RowBlocks
{
    Extent tiles = 1, persistent = 0;

    [[nodiscard]] std::int32_t count() const;
    // What the block has of the tiles that runs this, on the grid axis "block".
    [[nodiscard]] pl::gpu::Share share() const;
};

} // namespace pallascope::kernels
