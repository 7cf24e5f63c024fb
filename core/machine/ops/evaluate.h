// What every value operation computes. Rules of the corner cases: those of XLA on a CPU
// (docs/glossary.md names them), which are JAX's.
#pragma once

#include "core/ir/program.h"
#include "core/machine/values/value.h"

#include <span>

namespace pallascope::machine {

// One result of an operation, by the evaluation that core/ir/operations.inc names. `operands` are
// the operation's, in order; those marked in `dying` (bit i: operand i) are used for the last time,
// so that their storage may be taken over. Covers every operation but those of the engine: memory,
// grid queries and control.
[[nodiscard]] RuntimeValue evaluate(const ir::Operation& operation,
                                    std::span<RuntimeValue* const> operands, std::uint32_t dying,
                                    std::size_t result = 0);

// Whether evaluate() covers the operation: nothing but its operands decides what comes of it.
[[nodiscard]] bool isPure(ir::OpCode code);

} // namespace pallascope::machine
