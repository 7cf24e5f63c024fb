// Tracks along which axes the elements of values may differ. A compiler computes equal registers
// only once: those of one row for an iota along the lanes, those of the operand for a broadcast.
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

    // Records the results of an operation. Operands that were not recorded count as values that
    // may differ along every axis.
    void add(const ir::Operation& operation);

    // The shape of the elements that may differ: 1 along every other axis.
    [[nodiscard]] Shape distinct(ir::ValueId value) const;

private:
    using Axes = std::uint32_t; // bit i is set if elements may differ along axis i

    [[nodiscard]] Axes axesOf(ir::ValueId value) const;
    [[nodiscard]] Axes ofResult(const ir::Operation& operation) const;
    [[nodiscard]] Axes broadcast(const ir::Operation& operation) const;
    [[nodiscard]] Axes reshaped(const ir::Operation& operation) const;
    [[nodiscard]] Axes kept(const ir::Operation& operation) const;

    const ir::Program& m_program;
    std::map<ir::ValueId, Axes> m_axes;
};

} // namespace pallascope::cost
