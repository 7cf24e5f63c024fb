// The ends of copies by manual DMA: which part of an array or of a scratch each of them reads or
// writes.
#pragma once

#include "core/trace/lookup.h"
#include "core/trace/row.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::trace {

// The shape of the array or buffer in which an end lies; null if the trace does
// not say it, which is so for the target of a copy from HBM to HBM.
[[nodiscard]] const Shape* shapeAtEnd(const Info& info, const Copies& copies, const CopyEnds& ends,
                                      EndRow end);

// The elements of that shape that an end covers along each axis.
[[nodiscard]] std::vector<AxisRange> rangesOfEnd(const Trace& trace, EndRow end);

// Whether an end is the source of its copy. The other end of the copy.
[[nodiscard]] constexpr bool isSource(EndRow end)
{
    return end.number % 2 == 0;
}

[[nodiscard]] constexpr EndRow otherEnd(EndRow end)
{
    return {isSource(end) ? end.number + 1 : end.number - 1};
}

// The source of a copy. None if it is not manual DMA, or the trace does not have its ends.
[[nodiscard]] OptionalRow<EndRow> sourceOf(const Trace& trace, CopyRow copy);
// The copy of an end.
[[nodiscard]] CopyRow copyOf(const Trace& trace, EndRow end);

} // namespace pallascope::trace
