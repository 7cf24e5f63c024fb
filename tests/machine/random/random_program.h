// Programs made from a seed, the same ones everywhere: pipelines, loops, branches, scratch, tables
// in SMEM, manual DMA and semaphores, cores, devices, kernels and fusions one after another.
// Nothing keeps them from breaking rules: some leave their arrays, have races or wait for ever.
#pragma once

#include "core/base/array.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/machine/settings.h"

#include <cstdint>
#include <vector>

namespace pallascope::machine_test {

struct RandomProgram
{
    ir::Program program;
    std::vector<Array> inputs;
    const chip::Chip* chip = nullptr;
    machine::Settings settings;
};

[[nodiscard]] RandomProgram randomProgram(std::uint64_t seed);

} // namespace pallascope::machine_test
