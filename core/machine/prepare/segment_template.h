// The cost of a segment in the form in which a trace keeps it.
#pragma once

#include "core/cost/segment.h"
#include "core/trace/info.h"

namespace pallascope::machine {

[[nodiscard]] trace::SegmentTemplate asTemplate(cost::SegmentCost cost);

} // namespace pallascope::machine
