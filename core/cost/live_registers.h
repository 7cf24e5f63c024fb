// How many registers a thread of a GPU's block needs: an estimate of what the compiler takes.
#pragma once

#include "core/chip/chip.h"
#include "core/cost/left_out.h"
#include "core/ir/program.h"

#include <cstdint>

namespace pallascope::cost {

// Registers for addresses, loop counters and what is under way, beside the values of the kernel:
// by the results of bench/gpu_kernels the compiler takes 16 to 32 more than these.
inline constexpr std::int64_t kOtherRegisters = 24;

// The registers of a thread if an agent of the mesh holds values of so many bytes: theirs, and
// kOtherRegisters.
[[nodiscard]] std::int64_t registersFor(Bytes values, const ir::CoreMapParams& mesh);

// Of a core_map's body: the registers of the values that are alive at the same time, and
// kOtherRegisters, rounded up to a multiple of 8. At most `most`, which it also is where the kernel
// itself says how many registers its agents have (set_max_registers). `leftOut` is the program's.
[[nodiscard]] std::int64_t liveRegisters(const ir::Program& program, const ir::Operation& coreMap,
                                         const LeftOut& leftOut, std::int64_t most);

// Whether the values of a core_map's body, which Triton compiles, need more registers than a thread
// can have where it makes wgmma of products, on a GPU that has it. ptxas then waits for each
// instruction of a product ("wgmma.mma_async instructions are serialized due to insufficient
// register resources").
[[nodiscard]] bool awaitsEachProduct(const ir::Program& program, const ir::Operation& coreMap,
                                     const chip::Chip& chip, const LeftOut& leftOut);

} // namespace pallascope::cost
