// What an atomic operation makes of an element and of what it is given.
#pragma once

#include "core/ir/program.h"
#include "core/machine/values/value.h"

namespace pallascope::machine {

// Picks element by element: `ifTrue` where the mask, a bool array of their shape, is true.
[[nodiscard]] RuntimeValue picked(RuntimeValue& mask, RuntimeValue& ifFalse, RuntimeValue& ifTrue);

// What an atomic operation, or a copy that reduces, leaves in place of `old`, given its new
// elements.
[[nodiscard]] RuntimeValue changedBy(ir::AtomicType type, RuntimeValue& old, RuntimeValue& given);

// What atomic_cas leaves: `given` if the old element is the expected one.
[[nodiscard]] RuntimeValue swappedIf(RuntimeValue& old, RuntimeValue& expected,
                                     RuntimeValue& given);

} // namespace pallascope::machine
