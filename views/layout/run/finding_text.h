// Puts findings into words: what their kinds are called, how severe they are, and the mark that
// shows the severity.
#pragma once

#include "core/trace/info.h"
#include "core/trace/row.h"
#include "core/trace/trace.h"
#include "views/layout/scene/canvas.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pallascope::layout {

enum class Severity : std::uint8_t
{
    Ok,
    Warning,
    Error
};

// The severity in the catalogue core/trace/findings.inc. A kind that is not in it counts as an
// error.
[[nodiscard]] Severity severityOf(const trace::Finding& finding);

// The title in the catalogue. A kind that is not in it is put into plain words: "some_kind" becomes
// "Some kind".
[[nodiscard]] std::string findingTitle(std::string_view kind);

// "out · 448 places"
[[nodiscard]] std::string findingPlaces(const trace::Finding& finding);

// An octagon, a triangle or a disc, so that severities differ in shape as well as in colour. `size`
// is in px.
void paintSeverity(Canvas& canvas, double x, double y, Severity severity, double size = 12);
// The tick of Severity::Ok in another colour: grey where only a part was checked.
void paintTick(Canvas& canvas, double x, double y, Color color, double size = 12);

// The step that a finding names, which numbers them over all kernels and rounds; none if the trace
// has no rows of it.
[[nodiscard]] trace::OptionalRow<trace::StepRow> stepRow(const trace::Trace& trace,
                                                         std::int64_t step);

} // namespace pallascope::layout
