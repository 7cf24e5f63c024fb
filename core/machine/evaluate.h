// What every value operation computes, in one place per kind: elementwise, reductions, layout, dot.
// Rules of the corner cases: those of XLA on a CPU (docs/glossary.md names them), which are JAX's.
#pragma once

#include "core/ir/program.h"
#include "core/machine/value.h"

#include <span>

namespace pallascope::machine {

// `operands` are the operation's, in order; those marked in `dying` (bit i: operand i) are used for
// the last time, so that their storage may be taken over. Covers every kind but memory, grid
// queries and control, which the engine handles.
[[nodiscard]] RuntimeValue evaluate(const ir::Operation& operation,
                                    std::span<RuntimeValue* const> operands, std::uint32_t dying);

// The parts, one file each.
[[nodiscard]] RuntimeValue evaluateElementwise(const ir::Operation& operation,
                                               std::span<RuntimeValue* const> operands,
                                               std::uint32_t dying);
[[nodiscard]] RuntimeValue evaluateReduction(const ir::Operation& operation,
                                             const RuntimeValue& input);
[[nodiscard]] RuntimeValue evaluateLayout(const ir::Operation& operation,
                                          const RuntimeValue& input);
[[nodiscard]] RuntimeValue evaluateIota(const ir::Operation& operation);
[[nodiscard]] RuntimeValue evaluateDot(const ir::Operation& operation, const RuntimeValue& lhs,
                                       const RuntimeValue& rhs);

// The definedness of an elementwise result: where every operand is defined.
[[nodiscard]] Shadow combined(std::span<RuntimeValue* const> operands, std::int64_t count);

} // namespace pallascope::machine
