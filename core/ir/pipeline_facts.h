// What follows from a pipeline's block specs alone, before anything runs: buffer counts, trivial
// windows, which grid axis an array axis follows. Rules: emit_pipeline of the schedule's JAX
// version (jax/_src/pallas/mosaic/pipeline.py).
#pragma once

#include "core/ir/program.h"

#include <cstdint>
#include <vector>

namespace pallascope::ir {

struct OperandFacts
{
    bool trivial = false;      // block == array and an index map that no moving grid axis reaches
    std::int32_t inCount = 0;  // buffers of copies in (0: none)
    std::int32_t outCount = 0; // buffers of copies out
    std::int32_t slots = 1;
    std::vector<Extent> blockCounts; // per array axis
    std::vector<std::int32_t>
        gridAxes; // per array axis: the grid axis that its index map returns, -1: other
};

[[nodiscard]] OperandFacts operandFacts(const Program& program, const Operation& pipeline,
                                        std::size_t operand);

// Number of grid steps; 1 for an empty grid.
[[nodiscard]] std::int64_t stepCount(const PipelineParams& params);

// Every pipeline operation of a program, in program order.
[[nodiscard]] std::vector<const Operation*> pipelinesOf(const Program& program);

} // namespace pallascope::ir
