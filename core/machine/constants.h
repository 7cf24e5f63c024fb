// Values that no run changes: literals, and what operations make of these alone. They are computed
// once, when a program is prepared; in a run such an operation takes its time and no more.
#pragma once

#include "core/machine/needed.h"
#include "core/machine/slots.h"
#include "core/machine/value.h"

#include <vector>

namespace pallascope::machine {

class Constants
{
public:
    // Of the operations whose values are needed.
    Constants(const ir::Program& program, const NeededSet& needed, const Slots& slots);

    [[nodiscard]] bool has(ir::ValueId value) const
    {
        return m_known[static_cast<std::size_t>(value.index)];
    }

    // True where all results of the operation are constant and nothing else comes of it.
    [[nodiscard]] bool makes(const ir::Operation& operation) const
    {
        return !operation.results.empty() && has(operation.results[0]);
    }

    // What Agent::values begin with: constants, and nothing yet for the others.
    [[nodiscard]] const std::vector<RuntimeValue>& values() const { return m_values; }

private:
    void fold(const ir::Program& program, const ir::Operation& operation, const Slots& slots);

    std::vector<RuntimeValue> m_values; // by slot
    std::vector<bool> m_known;          // by ValueId
    std::int64_t m_elements = 0;        // of all that were computed
};

} // namespace pallascope::machine
