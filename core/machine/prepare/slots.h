// Where agents keep what a program names: values in Agent::values, refs in Agent::refs. Agents come
// and go and are copied, so they have no place for what nobody asks for.
#pragma once

#include "core/machine/needed.h"

#include <vector>

namespace pallascope::machine {

class Slots
{
public:
    Slots(const ir::Program& program, const NeededSet& needed);

    // Of a value in Agent::values or of a ref in Agent::refs.
    [[nodiscard]] std::size_t of(ir::ValueId id) const
    {
        return static_cast<std::size_t>(m_slots[static_cast<std::size_t>(id.index)]);
    }

    // What is written to the value is not read: all such values have one slot.
    [[nodiscard]] bool isIdle(ir::ValueId value) const { return of(value) == 0; }

    [[nodiscard]] std::size_t valueCount() const { return m_valueCount; }

    // By slot.
    [[nodiscard]] const std::vector<ir::ValueId>& refs() const { return m_refs; }

private:
    std::vector<std::int32_t> m_slots; // by ValueId
    std::vector<ir::ValueId> m_refs;
    std::size_t m_valueCount = 1;
};

} // namespace pallascope::machine
