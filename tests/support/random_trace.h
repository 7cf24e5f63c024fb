// Small random runs with several grids, operands of all directions, various counts of slots, links
// and agents, waits and copies of no length, and idle gaps. For properties that must hold for every
// trace.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>

namespace pallascope::test {

[[nodiscard]] trace::TraceBuilder randomBuilder(std::uint64_t seed);
[[nodiscard]] std::shared_ptr<const trace::Trace> randomTrace(std::uint64_t seed);

} // namespace pallascope::test
