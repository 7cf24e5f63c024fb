// Random runs of two cores that copy by manual DMA into scratch and out of it, and wait for it on
// semaphores.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <memory>

namespace pallascope::test {

// Rows of Info::buffers in such a run.
struct ScratchRows
{
    // Two slots of four pages each; two slots of one row; one output without slots; a scratch that
    // no copy touches; numbers in SMEM.
    std::int32_t pages = 0, rows = 1, sums = 2, untouched = 3, numbers = 4;
};

[[nodiscard]] trace::TraceBuilder scratchBuilder(std::uint64_t seed);
[[nodiscard]] std::shared_ptr<const trace::Trace> scratchTrace(std::uint64_t seed);

} // namespace pallascope::test
