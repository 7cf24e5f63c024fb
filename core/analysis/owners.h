// Who owns the units of the chip, which links count as one kind, and where blocks live, when a run
// has several devices or kinds of agents.
#pragma once

#include "core/analysis/report.h"

namespace pallascope::analysis {

// How many of the agents that take part own this unit, on a GPU how many SMs that run blocks; all
// of them if the chip has no such kind of agent. Units without an owner belong to the first kind.
[[nodiscard]] std::int64_t ownersOf(const trace::Info& info, const chip::Chip& chip,
                                    std::size_t unit);

// The name that the links of several devices share; each device has one link of a kind.
[[nodiscard]] const std::string& kindOf(const trace::Link& link);

// Whether vectors are computed with what a memory holds: neither HBM nor that of scalars.
[[nodiscard]] bool holdsVectors(const trace::Memory& memory);

// The row of Info::memories where blocks are copied to. Kernels of SparseCores have theirs in a
// memory of a subcore, the smallest that they use, and nothing in that of the cores.
[[nodiscard]] std::int32_t blockMemoryOf(const trace::Info& info, const chip::Chip& chip);

} // namespace pallascope::analysis
