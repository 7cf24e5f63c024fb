// What a block of a GPU's grid does at a moment, where, and how it is called.
#pragma once

#include "views/layout/run/run_view.h"

#include <cstdint>
#include <string>

namespace pallascope::layout {

enum class BlockDoes : std::uint8_t
{
    NotYet,
    Claimed, // by a block that runs now, which works on it or has done so
    Runs,
    Done
};

// `row` is one of Trace::gridBlocks.
[[nodiscard]] BlockDoes blockDoes(const trace::Trace& trace, std::int64_t row, Picoseconds now);
// The number in Agents::sms of the SM that runs it; kNone: not known.
[[nodiscard]] std::int32_t smOfBlock(const RunView& run, std::int64_t row);
// "SM 3"; on several devices "device 1 SM 3". `sm` is a number of Agents::sms.
[[nodiscard]] std::string smName(const RunView& run, std::int32_t sm);
// The agent of an SM that does there what another one does on its own; that one itself if it is of
// no SM, or for kNone.
[[nodiscard]] std::int32_t onSm(const RunView& run, std::int32_t agent, std::int32_t sm);
// "block (3,5)"; "block 12" where the trace has no extents of the grid; with the number in its
// cluster, "block (3,5), 1 of its cluster"; with `others` behind it, "block (3,5), 0–1 of its
// cluster".
[[nodiscard]] std::string blockName(const trace::Trace& trace, std::int64_t row,
                                    std::int64_t others = 0);

} // namespace pallascope::layout
