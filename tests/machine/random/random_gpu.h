// Programs for a GPU made from a seed, the same ones everywhere: blocks, warpgroups, clusters,
// barriers, copies and their groups, products, loads, stores and atomics. Nothing keeps them from
// breaking rules: some lack a wait or a commit_smem, miss phases or wait for ever.
#pragma once

#include "tests/machine/random/random_program.h"

namespace pallascope::machine_test {

[[nodiscard]] RandomProgram randomGpuProgram(std::uint64_t seed);

// The same on two to four GPUs, which store to each other's memory, load from it, and signal.
[[nodiscard]] RandomProgram randomGpusProgram(std::uint64_t seed);

} // namespace pallascope::machine_test
