// How many registers values fill, which is how many instructions of a unit they take.
#pragma once

#include "core/cost/segment.h"

#include <cstdint>
#include <vector>

namespace pallascope::cost {

// How many threads of a GPU have parts of the same row of a product's result (CUDA PTX ISA, the
// fragments of wgmma and mma). Each of them has what belongs to the row as a whole, such as its
// sum.
inline constexpr std::int64_t kRowThreads = 4;
// The most rows that an agent keeps with their columns: of 512, 255 registers would hold less than
// 64 columns. What is longer is no column of what belongs to rows, but a row itself.
inline constexpr std::int64_t kMostRows = 256;

class RegisterCounts
{
public:
    RegisterCounts(const ir::Program& program, const chip::Chip& chip, const Runner& runner,
                   const Variation* variation)
        : m_program(program)
        , m_chip(chip)
        , m_agent(runner.agent)
        , m_isAround(runner.isAround)
        , m_variation(variation)
    {}

    // Whether the agents have registers of a size of their own.
    [[nodiscard]] bool areOwn() const;
    // Extents of a register's tile; none where registers are the agents' own.
    [[nodiscard]] const std::vector<std::int64_t>& tile() const;
    // How many registers hold a value while it is computed with: elements are widened to 32 bits
    // unless the vector unit takes them packed, and tiles are padded.
    [[nodiscard]] std::int64_t of(const Shape& shape, DType dtype = DType::F32) const;
    // The shape of a value's elements that may differ: 1 along every other axis.
    [[nodiscard]] Shape varying(ir::ValueId value) const;
    // How many registers hold these.
    [[nodiscard]] std::int64_t distinct(ir::ValueId value, DType dtype) const;
    // How many registers its packed bytes fill in memory.
    [[nodiscard]] std::int64_t inMemory(const ir::Type& type) const;

private:
    // In how many places each element is.
    [[nodiscard]] std::int64_t copies(const Shape& shape) const;
    [[nodiscard]] std::int64_t filled(DType dtype, const Shape& shape, std::int64_t copies) const;

    const ir::Program& m_program;
    const chip::Chip& m_chip;
    std::int32_t m_agent; // index into Chip::agents
    bool m_isAround;
    const Variation* m_variation; // may be null
};

// Whether the parts that an operation cuts, joins or rolls begin at whole registers. On the axes of
// a tile they must begin at multiples of the tile's extents and have a step of one; on earlier axes
// they may begin anywhere.
[[nodiscard]] bool cutsAtRegisters(const ir::Program& program, const ir::Operation& operation,
                                   const std::vector<std::int64_t>& tile);

} // namespace pallascope::cost
