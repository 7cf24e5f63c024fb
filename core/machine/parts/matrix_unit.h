// The matrix unit by hand: it adds products to accumulators, one request after the other, beside
// the agents that ask. An accumulator is the token of its requests: who takes it waits for them. As
// matmul_push_rhs, matmul_acc_lhs and matmul_pop in JAX, jax/_src/pallas/mosaic/primitives.py; a
// right operand is pushed while the unit works, and takes no time. With matmul_lhs_fifo and
// matmul_pop_fifo products are not added but taken one by one, in the order of the requests.
#pragma once

#include "core/machine/parts/agents.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/findings.h"

namespace pallascope::machine {

class MatrixUnit
{
public:
    MatrixUnit(const Context& context, Agents& agents, Findings& findings);

    void pushRhs(const ir::Operation& operation);
    void accumulate(const PlanItem& item);
    // Waits for what the accumulator was asked for, and leaves zeros in it.
    void pop(const ir::Operation& operation);
    // Waits for the product that was asked for first, and takes it out.
    void popFirst(const ir::Operation& operation);

private:
    [[nodiscard]] Memory& accumulator(ir::ValueId ref);

    const Prepared& m_prepared;
    Recorder& m_recorder;
    Turn& m_turn;
    Ending& m_ending;
    Slab<Memory>& m_memory;
    Agents& m_agents;
    Findings& m_findings;
};

} // namespace pallascope::machine
