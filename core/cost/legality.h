// The block specs of a pallas_call that JAX's TPU lowering refuses, though they run on the model.
// Rules: _check_block_mappings and lower_jaxpr_to_pipelined_module of
// jax/_src/pallas/mosaic/lowering.py.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <cstddef>
#include <string>
#include <vector>

namespace pallascope::cost {

struct IllegalBlock
{
    std::size_t spec = 0; // of PipelineParams::specs
    std::string sentence; // the rule, and the nearest block that is legal
};

// At most one per spec, in their order, by the rules of the schedule's JAX version. None for an
// emit_pipeline, and for chips without tiled vector memory.
[[nodiscard]] std::vector<IllegalBlock>
illegalBlocks(const ir::Program& program, const ir::Operation& pipeline, const chip::Chip& chip);

} // namespace pallascope::cost
