// Findings in words: what their kinds are called, how severe they are, and the mark that says so.
#pragma once

#include "core/trace/info.h"
#include "core/trace/trace.h"
#include "views/layout/scene/canvas.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pallascope::layout {

enum class Severity : std::uint8_t
{
    Ok,
    Warning,
    Error
};

// As the catalogue of core/trace/findings.inc says; an unknown kind is an error.
[[nodiscard]] Severity severityOf(const trace::Finding& finding);

// As the catalogue says; an unknown kind in plain words: "some_kind" -> "Some kind".
[[nodiscard]] std::string findingTitle(std::string_view kind);

// "out · 448 places"
[[nodiscard]] std::string findingPlaces(const trace::Finding& finding);

// Octagon, triangle or disc of 12 px, so that shape tells them apart too.
void paintSeverity(Canvas& canvas, double x, double y, Severity severity);

// The row of Steps of a grid step, kNone when there is none.
[[nodiscard]] std::int32_t stepRow(const trace::Trace& trace, std::int64_t ordinal);

} // namespace pallascope::layout
