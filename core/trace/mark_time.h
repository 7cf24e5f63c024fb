// Times inside a segment, for the index and the Chrome half of a saved trace.
#pragma once

#include "core/trace/info.h"

#include <algorithm>

namespace pallascope::trace {

// Cycles from a segment's start as picoseconds: rounded up as the machine rounds whole segments,
// and never past the segment's own duration (step overhead is given in seconds and need not be
// whole cycles). Monotone, so that what abuts in cycles abuts in time.
[[nodiscard]] inline std::int64_t markTime(const SegmentTemplate& segment, Cycles cycles)
{
    if (cycles == segment.cycles) {
        return segment.duration.value();
    }
    if (toSeconds(cycles, segment.clock).value() > 9e6) { // toPicoseconds would overflow
        return segment.duration.value();
    }
    return std::min(toPicoseconds(cycles, segment.clock), segment.duration).value();
}

} // namespace pallascope::trace
