// A choice of a built-in kernel's blocks and buffers beside the one that was asked for: how others
// are made from it, what they are called, and the program of each.
#pragma once

#include "core/ir/program.h"
#include "kernels/kernel.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::app {

using Changes = std::map<std::string, std::string>; // of parameters

struct BlockChoice
{
    std::vector<std::int64_t> blocks; // in the order of the kernel's block parameters
    std::int64_t buffers = 0;         // 0: the kernel has no such parameter
    auto operator<=>(const BlockChoice&) const = default;
};

// The choices of one kernel with these arguments. It refers to both.
class BlockChoices
{
public:
    BlockChoices(const kernels::Kernel& kernel, const kernels::Arguments& arguments);

    // What was asked for, with no block larger than what it cuts.
    [[nodiscard]] const BlockChoice& asked() const { return m_asked; }

    // Every block, or only the one at `axis`, times 2^shift, but none larger than what it cuts. An
    // odd block is halved to a whole number of tiles. Nullopt if a block is off (0), or if it is
    // odd and has to divide its array.
    [[nodiscard]] std::optional<BlockChoice> scaled(BlockChoice choice, int shift,
                                                    std::optional<std::size_t> axis = {}) const;
    // All blocks as large as the largest.
    [[nodiscard]] BlockChoice allAsTheLargest(BlockChoice choice) const;

    // The same with one block that divides its array, or is all of it; each block in turn.
    [[nodiscard]] std::vector<BlockChoice> withADividingBlock(const BlockChoice& choice) const;

    [[nodiscard]] Changes changesOf(const BlockChoice& choice) const;
    // "1024-blocks", "512×1024×1024 blocks, 3 buffers".
    [[nodiscard]] std::string nameOf(const BlockChoice& choice) const;
    // Nullopt if the kernel does not accept it.
    [[nodiscard]] std::optional<ir::Program> programOf(const BlockChoice& choice) const;

private:
    // How large the block at `axis` may be at most: a large number if nothing says it.
    [[nodiscard]] std::int64_t extentOf(std::size_t axis) const;

    const kernels::Kernel& m_kernel;
    const kernels::Arguments& m_arguments;
    std::vector<std::int64_t> m_extents; // empty: blocks have to divide their arrays
    BlockChoice m_asked;
};

// The program for the arguments with some values replaced; nullopt if the kernel does not accept
// them.
[[nodiscard]] std::optional<ir::Program> programWith(const kernels::Kernel& kernel,
                                                     const kernels::Arguments& arguments,
                                                     const Changes& changes);

// Of the pipelines, or of the loops in all blocks of a core_map, the one that goes round most. Of a
// loop that goes on while something holds, one round counts.
[[nodiscard]] std::int64_t stepsOf(const ir::Program& program);

} // namespace pallascope::app
