// Direct use of the matrix unit, as by matmul_push_rhs, matmul_acc_lhs and matmul_pop in JAX
// (jax/_src/pallas/mosaic/primitives.py). The unit adds products to accumulators, one request after
// another, while the agents that ask go on. An accumulator is the token of its requests: whoever
// takes its contents waits for them. A right operand is pushed while the unit works and takes no
// time. With matmul_lhs_fifo and matmul_pop_fifo, products are not added but taken out one by one,
// in the order of the requests.
#pragma once

#include "core/machine/parts/unit_requests.h"

namespace pallascope::machine {

class MatrixUnit : private UnitRequests
{
public:
    MatrixUnit(const Context& context, Agents& agents, Findings& findings);

    void pushRhs(const ir::Operation& operation);
    void accumulate(const PlanItem& item);
    // Waits until all requests to the accumulator are done, takes the sums and leaves zeros.
    void pop(const ir::Operation& operation);
    // Waits for the product that was requested first, and takes it out.
    void popFirst(const ir::Operation& operation);
};

} // namespace pallascope::machine
