// The trace of the main job, made by plain arithmetic and independently of core/machine. Tests of
// views and look-ups use it, and the machine's own trace is compared with it.
#pragma once

#include "core/trace/trace.h"

#include <memory>

namespace pallascope::test {

// bf16 [size, size] x [size, size] -> f32 in steps of block x block x block on a TPU v5e, double
// buffered, with k innermost. `block` must divide `size`.
[[nodiscard]] std::shared_ptr<const trace::Trace> mainJob(int block = 512, int size = 4096);

// The same before finish(), for tests that break a rule.
[[nodiscard]] trace::TraceBuilder mainJobBuilder(int block = 512, int size = 4096);

} // namespace pallascope::test
