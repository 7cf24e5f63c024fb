// Draws predicted times against measured ones on two equal log axes, with a mark for each pair.
// `pallascope validate --scatter` writes this picture.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <string>
#include <vector>

namespace pallascope::layout {

struct ScatterPoint
{
    std::string family; // points of one family share shape and colour
    // Seconds; a point is left out if a time is not between 1 ps and 1e7 s.
    double measured = 0, predicted = 0;
};

// The scene without its head, which withHeader() adds. The caption says how many points are drawn.
[[nodiscard]] Scene layoutScatter(const std::vector<ScatterPoint>& points, Size size);

} // namespace pallascope::layout
