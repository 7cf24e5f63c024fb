// The predicates of the emit_pipeline state machine, all in one place: which copies one operand
// starts at a step and which it waits for, with any number of buffers. Rules and names are those of
// JAX 0.9 to 0.12, jax/_src/pallas/mosaic/pipeline.py; tests/machine checks them against recorded
// schedules.
#pragma once

#include "core/ir/pipeline_facts.h"

#include <cstdint>

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

// Whether the blocks of two steps differ; Indirect blocks always do. `block(t)` is the operand's
// block number at step t. t may range from -1 to N + buffers and wraps around the grid, which the
// guards make harmless.
template<class BlockAt>
[[nodiscard]] bool differs(const ir::OperandFacts& facts, BlockAt&& block, std::int64_t t,
                           std::int64_t u)
{
    return facts.isIndirect() || block(t) != block(u);
}

// Trivial operands take no part in any of this.
template<class BlockAt>
[[nodiscard]] StepActions stepActions(const ir::OperandFacts& facts, std::int64_t s,
                                      std::int64_t steps, BlockAt&& block)
{
    const std::int64_t n = facts.inCount, m = facts.outCount;
    const bool first = s == 0, last = s == steps - 1;
    const bool always = facts.isIndirect();
    const auto here = block(s);
    const bool leaves = last || always || here != block(s + 1); // will_change_current
    StepActions actions;
    if (n > 0) {
        const bool changed = always || here != block(s - 1);
        const bool fetches = n < 2
                                 ? changed || first
                                 : differs(facts, block, s + n - 2, s + n - 1); // will_change_fetch
        const bool outOfFetch = s >= steps - n + 1;
        actions.startIn = !facts.lookahead && fetches && (n < 2 || !outOfFetch);
        actions.waitIn = changed || first;
        actions.advanceIn = leaves;
    }
    if (m > 0) {
        const std::int64_t lag = facts.outLag;
        actions.startOut = leaves;
        actions.waitOut = s >= lag && differs(facts, block, s - lag + 1, s - lag);
    }
    return actions;
}

// Whether stage t of the prologue fetches block I(t).
template<class BlockAt>
[[nodiscard]] bool prologueFetches(const ir::OperandFacts& facts, std::int64_t t,
                                   std::int64_t steps, BlockAt&& block)
{
    return t + 1 < facts.inCount && (t < steps || facts.wrapsPrologue)
           && (t == 0 || differs(facts, block, t, t - 1));
}

// Whether the write-back of block I(N - 1 - l) is still due in stage l of the epilogue.
template<class BlockAt>
[[nodiscard]] bool epilogueWaits(const ir::OperandFacts& facts, std::int64_t l, std::int64_t steps,
                                 BlockAt&& block)
{
    return facts.outCount > 0 && l < facts.outLag && l < steps
           && (l == 0 || differs(facts, block, steps - l, steps - 1 - l));
}

} // namespace pallascope::machine
