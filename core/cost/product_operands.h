// What blocks of Triton's kernels keep in shared memory for products, beside the slots of their
// loops: where the tensor core reads operands from there, Triton stores those that were not copied
// there; others pass through it on their way from GMEM.
#pragma once

#include "core/cost/operand_sources.h"
#include "core/ir/program.h"

#include <set>

namespace pallascope::cost {

class ProductOperands
{
public:
    // They outlive it.
    ProductOperands(const ir::Program& program, const OperandSources& sources)
        : m_program(program)
        , m_sources(sources)
    {}

    // Those of products in this loop that are made before it, each once; of a loop in another one,
    // only those that `outer` makes.
    [[nodiscard]] Bytes before(const ir::Operation& loop, const ir::Operation* outer) const;

    // Those of a product that are made where it stands: by the region with it.
    [[nodiscard]] Bytes beside(const ir::Operation& product, const ir::Region& region) const;

private:
    [[nodiscard]] std::set<ir::ValueId> of(const ir::Operation& product) const;
    [[nodiscard]] Bytes sizeOf(ir::ValueId value) const;

    const ir::Program& m_program;
    const OperandSources& m_sources;
};

} // namespace pallascope::cost
