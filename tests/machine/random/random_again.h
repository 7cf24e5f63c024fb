// Repeats the run of a random program: as a replay, and as a trace that is saved and opened. Each
// function returns the first thing that differs, or "".
#pragma once

#include "core/machine/run.h"
#include "tests/machine/random/random_program.h"

#include <string>

namespace pallascope::machine_test {

// Moves a replay to some moments and to the end, forwards and backwards, with checkpoints that are
// thinned out. A run from the start that stops at the same moment must have the same state, and the
// end the same outputs.
[[nodiscard]] std::string replayDifference(const RandomProgram& random, std::uint64_t seed,
                                           const machine::RunResult& run);

// Compares the trace and its report with those read from the text of the saved trace.
[[nodiscard]] std::string savedDifference(const trace::Trace& trace);

} // namespace pallascope::machine_test
