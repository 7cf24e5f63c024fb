// The marks that say where in a picture a finding is: above the strip of the whole run, on the
// ruler of the time line and in the gutter of the source.
#pragma once

#include "views/layout/run/finding_text.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

#include <functional>
#include <optional>
#include <vector>

namespace pallascope::layout {

inline constexpr double kFindingMark = 9; // px, its width and height

struct FindingMark
{
    double left = 0;          // px
    std::int64_t finding = 0; // index into Info::findings
};

// A mark for each place of a finding for which `toX` gives the x of the mark's middle. Where marks
// would lie on one another, only the most severe is there.
[[nodiscard]] std::vector<FindingMark>
findingMarks(const RunView& run, const std::function<std::optional<double>(Picoseconds)>& toX);
// With their tops at y.
void paintFindingMarks(Canvas& canvas, const RunView& run, const std::vector<FindingMark>& marks,
                       double y);

} // namespace pallascope::layout
