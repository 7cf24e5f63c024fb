// The blocks of a GPU's grid in the grid view: a row for each wave, a cell for each place of each
// SM, and what the block there does.
#pragma once

#include "core/trace/grid_launches.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

#include <string>

namespace pallascope::layout {

// How high the picture is in this width and at most this height; 0 if there is too little room.
[[nodiscard]] double wavesHeight(const trace::GridLaunch& launch, double width, double room);

// Paints it into an area of that height.
void paintWaves(Canvas& canvas, const RunView& run, const ViewState& state,
                const trace::GridLaunch& launch, Rect area);

// "wave |1| of |4| · |264| blocks run, |528| of |1 056| done · |12| SMs idle"
[[nodiscard]] std::string wavesCaption(Canvas& canvas, const RunView& run, const ViewState& state,
                                       const trace::GridLaunch& launch);

} // namespace pallascope::layout
