// Reductions of arrays to one number by several warpgroups of a GPU's block, as far as their order
// matters. Mosaic GPU lets the warps of a warpgroup exchange what they have in a scratch in SMEM.
// All warpgroups of a block have the same one (jax/_src/pallas/mosaic_gpu/lowering.py,
// _reduce_lowering_rule_wg), and only the warps of one warpgroup wait for each other there.
#pragma once

#include "core/machine/parts/context.h"
#include "core/machine/parts/findings.h"

#include <cstdint>

namespace pallascope::machine {

class Reductions : private Part
{
public:
    // `scratches` belong to the run's state.
    Reductions(const Context& context, ReductionScratches& scratches, Findings& findings);

    // The current agent reduces: it writes all of its block's scratch and reads it again.
    void note(const ir::Operation& operation);

private:
    [[nodiscard]] std::int32_t scratchOfBlock();

    ReductionScratches& m_scratches;
    Place m_everything; // all of a scratch
    Findings& m_findings;
};

} // namespace pallascope::machine
