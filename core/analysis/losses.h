// Where the time of a run beyond its roofline goes.
#pragma once

#include "core/analysis/report.h"

namespace pallascope::analysis {

// Adds one term after the other to the roofline of what the kernels ask for (useful FLOPs at the
// datasheet peak, or each byte once at the datasheet bandwidth, whichever takes longer), each time
// the least that a run could take which overlaps computing and copying perfectly. Operations around
// kernels and launches come last, as they are. The report's time, split, roofline and busy times
// are known by now.
[[nodiscard]] Losses lossesOf(const Report& report, const trace::Info& info,
                              const trace::Summary& sums, const chip::Chip& chip);

// For people: those of a hundredth of the run and more, the largest first, and the others' time.
struct ShownLosses
{
    std::vector<Loss> large;
    Picoseconds others;
};

[[nodiscard]] ShownLosses shownLosses(const Report& report);

// One clause: the loss whose end would bring most of those that a kernel's author can do something
// about, what, and how long the run would take then. Empty where none is worth a hundredth of the
// run.
[[nodiscard]] std::string advice(const Report& report);

// "re-fetched blocks of x": for people.
[[nodiscard]] std::string lossText(const Loss& loss);
[[nodiscard]] std::string_view lossName(LossKind kind); // "refetch": for the JSON

} // namespace pallascope::analysis
