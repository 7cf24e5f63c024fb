// Lays out the strip of a program: its kernels, collectives and operations around them in the order
// of time.
#pragma once

#include "core/trace/pieces.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <cstddef>
#include <vector>

namespace pallascope::layout {

[[nodiscard]] Scene layoutProgram(const RunView& run, const ViewState& state, Size size);

// The same with its head, and a line that parts it from the docks below.
[[nodiscard]] Scene layoutProgramStrip(const RunView& run, const ViewState& state, Size size);

// Whether the run has more pieces than one, so that the strip tells something.
[[nodiscard]] bool isProgram(const RunView& run);

namespace program {

inline constexpr double kHeight = 32; // px of the strip without its head

// The place of a piece in the strip, in whole px.
struct Box
{
    double x = 0, w = 0;
};

// Each piece is as wide as its share of the time, yet wide enough to be seen and hit as long as
// there is room for that. Where there are too many, those of less than a pixel have no width.
[[nodiscard]] std::vector<Box> boxesOf(const trace::Pieces& pieces, double left, double width);

} // namespace program

} // namespace pallascope::layout
