// A run of one TensorCore and many subcores that work and wait at random. Two subcores run at half
// the pace, so that every share of the subcores is busy at some time. For properties of what agents
// share.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>

namespace pallascope::test {

[[nodiscard]] std::shared_ptr<const trace::Trace> manyAgents(std::uint64_t seed,
                                                             std::int32_t subcores);

} // namespace pallascope::test
