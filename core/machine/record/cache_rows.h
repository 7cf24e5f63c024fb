// The rows of what L2 holds of each array, while the run goes on. A recorder owns them and takes
// them at the end.
#pragma once

#include "core/base/units.h"
#include "core/trace/row.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <vector>

namespace pallascope::machine {

class CacheRows
{
public:
    // Adds a row if the L2 of the device has held something else of the operand's array until now.
    // Agents run ahead of each other; a change counts from no earlier than the one before it.
    void add(std::int32_t device, trace::OperandRow operand, Bytes held, Picoseconds time);

    [[nodiscard]] std::size_t size() const { return m_rows.size(); }

    // All rows, none of them later than the end.
    [[nodiscard]] trace::CacheChanges take(Picoseconds end);

private:
    trace::CacheChanges m_rows;
    std::vector<std::vector<Bytes>> m_held; // by device and operand
};

} // namespace pallascope::machine
