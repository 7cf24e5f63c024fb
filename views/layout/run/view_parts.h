// Small questions and marks that several views share: which colour an operand or unit has, which
// pipeline runs, how a size reads.
#pragma once

#include "core/trace/row.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/scene/scene.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::layout::parts {

inline constexpr double kPadding = 12; // px left and right inside a dock
inline constexpr double kRow = 18;     // px of a line of a table
inline constexpr std::string_view kTimes = "×";

[[nodiscard]] bool writes(const trace::Operand& operand); // Out or InOut
[[nodiscard]] bool reads(const trace::Operand& operand);  // In or InOut
[[nodiscard]] std::int64_t blockTotal(const trace::Operand& operand);

// The number of a step within its pipeline, counted from 0 as in the grid.
[[nodiscard]] std::int64_t stepOrdinal(const trace::Trace& trace, trace::StepRow step);

[[nodiscard]] Role unitRole(UnitKind kind);

// "4096×512"; empty for a scalar.
[[nodiscard]] std::string times(const std::vector<Extent>& extents);
// "4096×4096 bf16", "scalar f32"
[[nodiscard]] std::string arrayText(const Shape& shape, DType dtype);
// "|4| of 16 MiB" if both have the same unit, otherwise "|512 KiB| of 16 MiB".
[[nodiscard]] std::string ofText(Bytes used, Bytes limit);
// The text without the bars around strong parts, for measuring it.
[[nodiscard]] std::string plain(std::string text);
// The file name without its folders.
[[nodiscard]] std::string baseName(std::string_view path);

// The mark of an operand in its colour. From the seventh operand on colours repeat, and the mark
// gets an edge in the colour of text.
void swatch(Canvas& canvas, const RunView& run, double x, double y, trace::OperandRow operand,
            double size = 8);

// Finishes a scene. While the picture is that of an earlier run, the caption says so.
[[nodiscard]] Scene finished(Canvas&& canvas, std::string title, std::string caption,
                             const RunView& run, const ViewState& state);

// The caption of a view, or that nothing ran.
[[nodiscard]] std::string captionOrNotRun(const RunView& run, std::string caption);

// A view that has nothing to show: one sentence that says why.
[[nodiscard]] Scene nothing(std::string title, std::string caption, std::string_view sentence,
                            Size size);

} // namespace pallascope::layout::parts
