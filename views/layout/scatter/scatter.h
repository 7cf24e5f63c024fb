// Predicted times against measured ones, on two equal log axes, a mark for each: what
// `pallascope validate --scatter` draws.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <string>
#include <vector>

namespace pallascope::layout {

struct ScatterPoint
{
    std::string family;                 // of the same one shape and colour
    double measured = 0, predicted = 0; // s; one not from 1 ps to 1e7 s is left out
};

// Without its head, which withHeader() adds. The caption counts what is drawn.
[[nodiscard]] Scene layoutScatter(const std::vector<ScatterPoint>& points, Size size);

} // namespace pallascope::layout
