// Which operands the strips of the memory view show, what these have moved, and which of their
// blocks lie in the same place.
#pragma once

#include "views/layout/run/run_view.h"

#include <cstdint>
#include <vector>

namespace pallascope::layout {

// The arrays as strips of blocks with the bytes moved so far. One strip shows all operands that go
// over an array: those of all cores, kernels and manual DMAs. The first one stands for it: its
// blocks are those of the strip.
using Strips = std::vector<std::vector<std::int32_t>>; // the operands of each strip, at least one

// The strips of the pipeline under the playhead come first, then those of other pipelines, then
// those of manual DMAs, the largest arrays first.
[[nodiscard]] Strips stripsOf(const RunView& run, Picoseconds now);

// What has been read of the array of each strip and written to it. A copy from HBM to HBM is read
// at one array and written at another; where no strip shows that one, both count at the first.
[[nodiscard]] std::vector<Bytes> bytesMoved(const RunView& run, const Strips& strips,
                                            Picoseconds now);

// Whether a copy of this operand writes an array that no strip shows.
[[nodiscard]] bool writesElsewhere(const RunView& run, const Strips& strips, std::int32_t operand);

// The blocks of one operand that lie where a block of another one does, over the same array; at
// most 64 of them. Where blocks are lists or may overlap, those at the same share of all blocks.
[[nodiscard]] std::vector<std::int64_t>
blocksAt(const trace::Operand& of, const trace::Operand& other, std::int64_t otherBlock);

} // namespace pallascope::layout
