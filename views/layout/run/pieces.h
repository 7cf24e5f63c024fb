// What the views say of the pieces of a run: what is called how, and what bounds each.
#pragma once

#include "core/trace/pieces.h"
#include "views/layout/run/position.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/theme.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pallascope::layout {

// None where nothing was busy for a third of the piece.
[[nodiscard]] std::optional<analysis::PieceBound> boundOf(const RunView& run, std::int32_t device,
                                                          const trace::Piece& piece);

// The colour of what bounds it, for the edge of its place in the strip.
[[nodiscard]] Role roleOf(const analysis::PieceBound& bound);

// The piece that the device of an agent runs.
[[nodiscard]] const trace::Piece& pieceAt(const RunView& run, std::int32_t agent, Picoseconds now);

// The position's step if it is of the kernel that runs; none between kernels, or in one without
// steps, where the step that has begun last is over.
[[nodiscard]] trace::OptionalRow<trace::StepRow>
stepUnderWay(const RunView& run, const Position& position, Picoseconds now);

// "kernel 3 of 4", "collective", "fusion"
[[nodiscard]] std::string pieceKindText(const trace::Pieces& pieces, const trace::Piece& piece);

} // namespace pallascope::layout
