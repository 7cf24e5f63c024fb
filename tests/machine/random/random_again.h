// A run of a random program once more: replayed, and saved and opened. Each gives the first thing
// that is not as it was, or "".
#pragma once

#include "core/machine/run.h"
#include "tests/machine/random/random_program.h"

#include <string>

namespace pallascope::machine_test {

// Puts a replay to some moments and to the end, forwards and backwards, with checkpoints that are
// thinned; a run from the start that stops there has the same state, and the run the same outputs.
[[nodiscard]] std::string replayDifference(const RandomProgram& random, std::uint64_t seed,
                                           const machine::RunResult& run);

// The trace and its report, from the text of the saved trace.
[[nodiscard]] std::string savedDifference(const trace::Trace& trace);

} // namespace pallascope::machine_test
