// Explains the time that a run takes beyond its roofline, term by term.
#pragma once

#include "core/analysis/report.h"

namespace pallascope::analysis {

// Starts from the roofline of what the kernels ask for: useful FLOPs at the datasheet peak, or each
// byte once at the datasheet bandwidth, whichever takes longer. Then it adds one term after
// another. After each, the sum is the shortest possible time of a run that overlaps computing and
// copying perfectly. Fusions and launches come last, at the times they take. The report's time,
// split, roofline and busy times must be set. Without the run's rows, the gains are as if its steps
// were all alike.
[[nodiscard]] Losses lossesOf(const Report& report, const trace::Info& info,
                              const trace::Summary& sums, const chip::Chip& chip,
                              const trace::Trace* rows);

// For people: the losses of at least a hundredth of the run, largest first, and the sum of the
// others.
struct ShownLosses
{
    std::vector<Loss> large;
    Picoseconds others;
};

[[nodiscard]] ShownLosses shownLosses(const Report& report);

// One clause that names the most promising loss among those that a kernel's author can do something
// about, what to do, and how long the run would take without it. Empty if none is worth a hundredth
// of the run, or if a finding stopped it.
[[nodiscard]] std::string advice(const Report& report);

// "re-fetched blocks of x", for people.
[[nodiscard]] std::string lossText(const Loss& loss, const Report& report);
[[nodiscard]] std::string_view lossName(LossKind kind); // "refetch", for the JSON
[[nodiscard]] std::vector<std::string> lossNames();     // of all kinds

} // namespace pallascope::analysis
