// Which parts of an array are in VMEM at a moment, or on their way there or back: blocks of
// pipelines in their slots, and what manual DMA copies into scratch or out of it.
#pragma once

#include "core/trace/row.h"
#include "views/layout/run/run_view.h"
#include "views/layout/values/plane.h"

#include <cstdint>
#include <vector>

namespace pallascope::layout::values {

enum class Residence : std::uint8_t
{
    Queued, // a copy of it is issued but has not started
    Moving, // a copy of it is under way, in or out
    Here,
    InUse
};

struct Resident
{
    Region region; // of the plane
    Residence how = Residence::Here;
    bool operator==(const Resident&) const = default;
};

// Those that lie in the plane, of any operand over the same array, in memories of one device.
[[nodiscard]] std::vector<Resident> residentsOf(const RunView& run, Picoseconds now,
                                                trace::OperandRow operand, std::int32_t device,
                                                const Plane& plane);

} // namespace pallascope::layout::values
