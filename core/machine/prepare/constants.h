// Values that are the same in every run: literals, indices and extents along grid axes of one step,
// and what operations compute from these. They are computed once, when a program is prepared. In a
// run such an operation takes its time and does nothing else.
#pragma once

#include "core/machine/needed.h"
#include "core/machine/prepare/slots.h"
#include "core/machine/values/value.h"

#include <vector>

namespace pallascope::machine {

class Constants
{
public:
    // Folds the operations whose values are needed.
    Constants(const ir::Program& program, const NeededSet& needed, const Slots& slots);

    [[nodiscard]] bool has(ir::ValueId value) const
    {
        return m_known[static_cast<std::size_t>(value.index)];
    }

    // Whether all results of the operation are constant and it has no other effect.
    [[nodiscard]] bool makes(const ir::Operation& operation) const
    {
        return !operation.results.empty() && has(operation.results[0]);
    }

    // The value of a constant scalar.
    [[nodiscard]] double scalar(ir::ValueId value) const
    {
        return m_values[m_slots.of(value)].scalar;
    }

    // The initial contents of Agent::values: the constants, and empty values for everything else.
    [[nodiscard]] const std::vector<RuntimeValue>& values() const { return m_values; }

private:
    // `grid` is that of the enclosing pipeline; null if there is none.
    void fold(const ir::Program& program, const ir::Region& region, const ir::PipelineParams* grid,
              const NeededSet& needed);
    void foldPlace(const ir::Operation& operation, const ir::PipelineParams& grid);
    void fold(const ir::Program& program, const ir::Operation& operation);

    Slots m_slots;
    std::vector<RuntimeValue> m_values; // by slot
    std::vector<bool> m_known;          // by ValueId
    std::int64_t m_elements = 0;        // elements of all values computed
};

} // namespace pallascope::machine
