// How one block of an operand's array looks in each state, in the grid view and in its legend. Hue
// alone never tells a state: height, frame and dash tell it too (CONTRIBUTING.md, rules for
// drawing).
#pragma once

#include "core/trace/lookup.h"
#include "views/layout/scene/canvas.h"

namespace pallascope::layout {

// A block that was copied earlier keeps a tint, which gets stronger with every copy.
[[nodiscard]] Color copiedTint(Role role, std::int64_t copies);

// Whether something goes on in a block.
[[nodiscard]] bool isLive(trace::BlockPhase phase);

[[nodiscard]] Rect united(const Rect& a, const Rect& b);

// Only the fill, for cells too small for frames and for the pixels of a folded array.
[[nodiscard]] Color blockFill(const trace::BlockState& state, Role role, bool output);

// Fill, height, dash and frame. `cell` excludes the gap to its neighbours. A block of an `output`
// that is in use shows by its height how much of its visit is done.
void paintBlock(Canvas& canvas, Rect cell, const trace::BlockState& state, Role role, bool output);

} // namespace pallascope::layout
