// Computes every value operation of a program, with JAX's results in the corner cases: XLA on a
// CPU is the reference (docs/glossary.md lists the dtypes' rules).
#pragma once

#include "core/ir/program.h"
#include "core/machine/values/value.h"

#include <span>

namespace pallascope::machine {

// Returns one result of an operation, computed by the function that core/ir/operations.inc names
// for it. `operands` are the operation's, in order. Bit i of `dying` says that operand i is used
// for the last time, so that the result may take over its storage. Covers every operation except
// those that the engine runs: memory, grid queries and control.
[[nodiscard]] RuntimeValue evaluate(const ir::Operation& operation,
                                    std::span<RuntimeValue* const> operands, std::uint32_t dying,
                                    std::size_t result = 0);

// Whether evaluate() covers the operation, so that its result depends only on its operands.
[[nodiscard]] bool isPure(ir::OpCode code);

} // namespace pallascope::machine
