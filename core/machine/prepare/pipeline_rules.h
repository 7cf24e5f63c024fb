// The predicates of the emit_pipeline state machine, all in one place: which copies one operand
// starts at a step and which it waits for, with any number of buffers. Rules and names are those of
// JAX 0.9 to 0.12, jax/_src/pallas/mosaic/pipeline.py; tests/machine checks them against recorded
// schedules.
#pragma once

#include "core/ir/pipeline_facts.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::machine {

// What one operand does at one step, in the order of the phases.
struct StepActions
{
    bool startIn = false;   // start the copy of block I(s + in buffers - 1)
    bool waitIn = false;    // wait for block I(s)
    bool startOut = false;  // start the write-back of block I(s)
    bool waitOut = false;   // the write-back of block I(s - lag) is due
    bool advanceIn = false; // the input slot of I(s) is no longer needed
};

// In all of these, `changes(t)` says whether step t needs another block of the operand than step
// t - 1. t may range from 0 to N + buffers and wraps around the grid, which the guards make
// harmless. Indirect blocks always change.

// Trivial operands take no part in any of this.
template<class Changes>
[[nodiscard]] StepActions stepActions(const ir::OperandFacts& facts, std::int64_t s,
                                      std::int64_t steps, Changes&& changes)
{
    const std::int64_t n = facts.inCount, m = facts.outCount;
    const bool leaves = s == steps - 1 || changes(s + 1); // will_change_current
    StepActions actions;
    if (n > 0) {
        const bool changed = s == 0 || changes(s);
        const bool fetches = n < 2 ? changed : changes(s + n - 1); // will_change_fetch
        const bool outOfFetch = s >= steps - n + 1;
        actions.startIn = !facts.lookahead && fetches && (n < 2 || !outOfFetch);
        actions.waitIn = changed;
        actions.advanceIn = leaves;
    }
    if (m > 0) {
        const std::int64_t lag = facts.outLag;
        actions.startOut = leaves;
        actions.waitOut = s >= lag && changes(s - lag + 1);
    }
    return actions;
}

// Whether stage t of the prologue fetches block I(t).
template<class Changes>
[[nodiscard]] bool prologueFetches(const ir::OperandFacts& facts, std::int64_t t,
                                   std::int64_t steps, Changes&& changes)
{
    return t + 1 < facts.inCount && (t < steps || facts.wrapsPrologue) && (t == 0 || changes(t));
}

// Whether the write-back of block I(N - 1 - l) is still due in stage l of the epilogue.
template<class Changes>
[[nodiscard]] bool epilogueWaits(const ir::OperandFacts& facts, std::int64_t l, std::int64_t steps,
                                 Changes&& changes)
{
    return facts.outCount > 0 && l < facts.outLag && l < steps && (l == 0 || changes(steps - l));
}

// The innermost grid axis of more than one index that cores may share, by JAX's dimension_semantics
// (jax/_src/pallas/mosaic/core.py): those of a pallas_call, or of a pipeline that cores do share.
[[nodiscard]] inline std::optional<std::size_t> innermostParallel(const ir::PipelineParams& params,
                                                                  const std::vector<Extent>& grid)
{
    const bool mayShare =
        params.origin == ir::PipelineOrigin::PallasCall || !params.coreAxis.empty();
    for (std::size_t i = params.parallel.size(); mayShare && i-- > 0;) {
        const auto axis = static_cast<std::size_t>(params.parallel[i]);
        if (grid[axis] > 1) {
            return axis;
        }
    }
    return std::nullopt;
}

// Whether a step has another index along such an axis than the step before it.
[[nodiscard]] inline bool changesInParallel(const ir::PipelineParams& params,
                                            const std::vector<Extent>& grid, std::int64_t step)
{
    const std::optional<std::size_t> axis = innermostParallel(params, grid);
    if (!axis || step == 0) {
        return false;
    }
    std::int64_t stay = 1; // in steps
    for (std::size_t inner = *axis + 1; inner < grid.size(); ++inner) {
        stay *= grid[inner];
    }
    return step % stay == 0;
}

} // namespace pallascope::machine
