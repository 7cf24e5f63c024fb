// Which operands have one index map.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <vector>

namespace pallascope::trace {

// For each operand, the operands of its pipeline with the same direction and the same grid of
// blocks, of which each step uses the same block; ascending, and itself among them. Alone where a
// block is a list of elements or may lie anywhere, and where no step uses it. Use
// Index::alike, which keeps the result.
[[nodiscard]] std::vector<std::vector<std::int32_t>> alikeOf(const Trace& trace);

} // namespace pallascope::trace
