// Finds block specs of a pallas_call that JAX's TPU lowering refuses, although they run on the
// model. The rules are those of _check_block_mappings and lower_jaxpr_to_pipelined_module in
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
    std::size_t spec = 0; // index into PipelineParams::specs
    std::string sentence; // the rule, and the nearest block that is legal
};

// At most one for each spec, in the order of the specs, by the rules of the JAX version that the
// schedule names. There are none for an emit_pipeline, or for chips without tiled vector memory.
[[nodiscard]] std::vector<IllegalBlock>
illegalBlocks(const ir::Program& program, const ir::Operation& pipeline, const chip::Chip& chip);

} // namespace pallascope::cost
