// How one block of an operand's array looks in each state, in the grid view and in its legend.
// State is never told by hue alone: height, frame and dash tell it too (docs: CONTRIBUTING, drawing
// rules).
#pragma once

#include "core/trace/lookup.h"
#include "views/layout/scene/canvas.h"

namespace pallascope::layout {

// What a block was copied before leaves a tint, stronger with every copy.
[[nodiscard]] Color copiedTint(Role role, std::int64_t copies);

// The fill alone: cells too small for frames, and pixels of a folded array.
[[nodiscard]] Color blockFill(const trace::BlockState& state, Role role, bool output);

// Fill, height, dash and frame; `cell` without the gap to its neighbours. `output` blocks in use
// show by their height how much of the block's stay is done.
void paintBlock(Canvas& canvas, Rect cell, const trace::BlockState& state, Role role, bool output);

} // namespace pallascope::layout
