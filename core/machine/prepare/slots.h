// Where agents keep what a program names: values in Agent::values, refs in Agent::refs. Agents are
// copied often, so what nobody asks for gets no place in them.
#pragma once

#include "core/machine/needed.h"

#include <vector>

namespace pallascope::machine {

class Slots
{
public:
    Slots(const ir::Program& program, const NeededSet& needed);

    // The index of a value in Agent::values, or of a ref in Agent::refs.
    [[nodiscard]] std::size_t of(ir::ValueId id) const
    {
        return static_cast<std::size_t>(m_slots[static_cast<std::size_t>(id.index)]);
    }

    // Whether the value is never read. All such values share slot 0.
    [[nodiscard]] bool isIdle(ir::ValueId value) const { return of(value) == 0; }

    [[nodiscard]] std::size_t valueCount() const { return m_valueCount; }

    // The refs, in the order of their slots.
    [[nodiscard]] const std::vector<ir::ValueId>& refs() const { return m_refs; }

private:
    std::vector<std::int32_t> m_slots; // by ValueId
    std::vector<ir::ValueId> m_refs;
    std::size_t m_valueCount = 1;
};

} // namespace pallascope::machine
