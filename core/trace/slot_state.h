// The state of a slot of an operand, where the buffer alone would not say whose it is: the agents
// that run a pipeline each have operands of their own, and one list of buffers.
#pragma once

#include "core/trace/lookup.h"

#include <cstdint>

namespace pallascope::trace {

// As slotStateAt, for a slot of this operand of a pipeline.
[[nodiscard]] SlotState slotStateOf(const Trace& trace, OperandRow operand, std::int32_t slot,
                                    Picoseconds t);

} // namespace pallascope::trace
