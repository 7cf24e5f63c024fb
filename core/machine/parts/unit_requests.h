// What all that drives the matrix unit directly has in common: the unit serves requests in order,
// and adds products to accumulators in memory.
#pragma once

#include "core/machine/parts/agents.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/findings.h"

namespace pallascope::machine {

class UnitRequests : protected Part
{
protected:
    UnitRequests(const Context& context, Agents& agents, Findings& findings)
        : Part(context)
        , m_agents(agents)
        , m_findings(findings)
    {}

    // When an instance of the unit has served a request that is made now, which `hindrances` make
    // longer. Empty if the clock cannot hold that; the run then fails.
    [[nodiscard]] std::optional<Picoseconds> serve(const PlanItem& item, std::int32_t unit,
                                                   Hindrances* hindrances = nullptr);

    [[nodiscard]] Memory& accumulator(ir::ValueId ref)
    {
        return m_memory[m_turn.binding(ref).buffer];
    }

    // What somebody watches in a ref that the operation uses.
    [[nodiscard]] Watch::Hits watched(const ir::Operation& operation, ir::ValueId ref);

    [[nodiscard]] static RuntimeValue productOf(RuntimeValue lhs, RuntimeValue rhs, DType dtype);
    [[nodiscard]] static RuntimeValue sumOf(RuntimeValue sum, RuntimeValue term);

    Agents& m_agents;
    Findings& m_findings;
};

} // namespace pallascope::machine
