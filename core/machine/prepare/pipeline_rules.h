// The predicates of the emit_pipeline state machine in one place: which copies start and which are
// waited for at a step, for one operand, for any number of buffers. Rules and names: JAX 0.9 to
// 0.12, jax/_src/pallas/mosaic/pipeline.py; checked against recorded schedules (tests/machine).
#pragma once

#include "core/ir/pipeline_facts.h"

#include <cstdint>

namespace pallascope::machine {

// What happens for one operand at one step, in the order of the phases.
struct StepActions
{
    bool startIn = false;   // start the copy of block I(s + in buffers - 1)
    bool waitIn = false;    // wait for block I(s)
    bool startOut = false;  // start the write-back of block I(s)
    bool waitOut = false;   // the write-back of block I(s - lag) is due
    bool advanceIn = false; // the input slot of I(s) is done with
};

// Whether the block of one step is not that of the other; an Indirect one never is. `block(t)` is
// the block number of the operand at step t; t may be -1 or up to N + buffers and wraps around the
// grid (the guards make that harmless).
template<class BlockAt>
[[nodiscard]] bool differs(const ir::OperandFacts& facts, BlockAt&& block, std::int64_t t,
                           std::int64_t u)
{
    return facts.isIndirect() || block(t) != block(u);
}

// Trivial windows take no part in any of this.
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

// Does stage t of the prologue fetch block I(t)?
template<class BlockAt>
[[nodiscard]] bool prologueFetches(const ir::OperandFacts& facts, std::int64_t t,
                                   std::int64_t steps, BlockAt&& block)
{
    return t + 1 < facts.inCount && (t < steps || facts.wrapsPrologue)
           && (t == 0 || differs(facts, block, t, t - 1));
}

// Is the write-back of block I(N - 1 - l) still due in stage l of the epilogue?
template<class BlockAt>
[[nodiscard]] bool epilogueWaits(const ir::OperandFacts& facts, std::int64_t l, std::int64_t steps,
                                 BlockAt&& block)
{
    return facts.outCount > 0 && l < facts.outLag && l < steps
           && (l == 0 || differs(facts, block, steps - l, steps - 1 - l));
}

} // namespace pallascope::machine
