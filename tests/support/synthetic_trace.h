// The main job's trace by plain arithmetic, independent of core/machine: what views and look-ups
// are tested with, and what the machine's own trace can be held against.
#pragma once

#include "core/trace/trace.h"

#include <memory>

namespace pallascope::test {

// bf16 [size, size] x [size, size] -> f32 in block x block x block steps on a TPU v5e, double
// buffered, k innermost. `block` divides `size`.
[[nodiscard]] std::shared_ptr<const trace::Trace> mainJob(int block = 512, int size = 4096);

// The same before finish(): for tests that break a rule.
[[nodiscard]] trace::TraceBuilder mainJobBuilder(int block = 512, int size = 4096);

} // namespace pallascope::test
