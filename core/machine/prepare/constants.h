// Values that no run changes: literals, places and extents on axes of a grid that have one of them
// alone, and what operations make of these. They are computed once, when a program is prepared; in
// a run such an operation takes its time and no more.
#pragma once

#include "core/machine/needed.h"
#include "core/machine/prepare/slots.h"
#include "core/machine/values/value.h"

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

    // Of a scalar that is constant.
    [[nodiscard]] double scalar(ir::ValueId value) const
    {
        return m_values[m_slots.of(value)].scalar;
    }

    // What Agent::values begin with: constants, and nothing yet for the others.
    [[nodiscard]] const std::vector<RuntimeValue>& values() const { return m_values; }

private:
    // `grid`: of the pipeline around, if there is one.
    void fold(const ir::Program& program, const ir::Region& region, const ir::PipelineParams* grid,
              const NeededSet& needed);
    void foldPlace(const ir::Operation& operation, const ir::PipelineParams& grid);
    void fold(const ir::Program& program, const ir::Operation& operation);

    Slots m_slots;
    std::vector<RuntimeValue> m_values; // by slot
    std::vector<bool> m_known;          // by ValueId
    std::int64_t m_elements = 0;        // of all that were computed
};

} // namespace pallascope::machine
