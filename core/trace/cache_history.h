// How much L2 holds of each array at any time.
#pragma once

#include "core/trace/row.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <vector>

namespace pallascope::trace {

class CacheHistory
{
public:
    // Reads every row of CacheChanges once. Use Index::caches, which keeps the result.
    explicit CacheHistory(const Trace& trace);

    // The operands that stand for the arrays of which L2 holds something at some time, on any
    // device; ascending. None where no chip has an L2, and in older files.
    [[nodiscard]] const std::vector<std::int32_t>& operands() const { return m_operands; }

    // What the L2 of a device holds of such an array at t, in O(log n). With what is on its way
    // there.
    [[nodiscard]] Bytes heldAt(std::int32_t device, OperandRow operand, Picoseconds t) const;

private:
    struct History
    {
        std::vector<std::int64_t> time, bytes; // of each change
    };

    std::vector<std::int32_t> m_operands;
    std::vector<History> m_all; // for each device, for each of the operands
};

} // namespace pallascope::trace
