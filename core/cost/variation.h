// Along which axes elements of values may differ. A compiler computes registers that hold the same
// once: of an iota along the lanes those of one row, of a broadcast those of what is broadcast.
#pragma once

#include "core/ir/program.h"

#include <cstdint>
#include <map>

namespace pallascope::cost {

class Variation
{
public:
    explicit Variation(const ir::Program& program)
        : m_program(program)
    {}

    // Notes the results of an operation; those of its operands that were not noted may differ
    // along every axis.
    void add(const ir::Operation& operation);

    // The shape of as many elements as may differ: 1 along every other axis.
    [[nodiscard]] Shape distinct(ir::ValueId value) const;

private:
    using Axes = std::uint32_t; // bit i: along axis i

    [[nodiscard]] Axes axesOf(ir::ValueId value) const;
    [[nodiscard]] Axes ofResult(const ir::Operation& operation) const;
    [[nodiscard]] Axes broadcast(const ir::Operation& operation) const;
    [[nodiscard]] Axes reshaped(const ir::Operation& operation) const;
    [[nodiscard]] Axes kept(const ir::Operation& operation) const;

    const ir::Program& m_program;
    std::map<ir::ValueId, Axes> m_axes;
};

} // namespace pallascope::cost
