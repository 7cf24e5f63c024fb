// Small random runs: several grids, operands of all directions, slot counts, links and agents,
// waits and copies of no length, idle gaps. For properties that must hold of any trace.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>

namespace pallascope::test {

[[nodiscard]] trace::TraceBuilder randomBuilder(std::uint64_t seed);
[[nodiscard]] std::shared_ptr<const trace::Trace> randomTrace(std::uint64_t seed);

} // namespace pallascope::test
