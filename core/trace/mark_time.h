// Converts cycles within a segment to times, for the index and for the Chrome half of a saved
// trace.
#pragma once

#include "core/trace/info.h"

#include <algorithm>

namespace pallascope::trace {

// The picoseconds from a segment's start, rounded up as the machine rounds whole segments, but
// never more than the segment's duration (step overhead is given in seconds and need not be whole
// cycles). It is monotone, so marks that abut in cycles also abut in time.
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
