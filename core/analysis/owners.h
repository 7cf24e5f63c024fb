// What devices and agents of a run share: kinds of links, and who owns the units of the chip.
#pragma once

#include "core/analysis/report.h"

namespace pallascope::analysis {

// How many of the agents that take part own a unit; all where the chip has none of such a kind. The
// first kind has the units that nobody owns.
[[nodiscard]] std::int64_t ownersOf(const trace::Info& info, const chip::Chip& chip,
                                    std::size_t unit);

// Devices have one link of a kind each.
[[nodiscard]] const std::string& kindOf(const trace::Link& link);

} // namespace pallascope::analysis
