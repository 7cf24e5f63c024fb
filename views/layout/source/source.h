// Lays out the source and the printed program.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

// They stand side by side if the view is at least 900 px wide; otherwise only one of them is shown.
enum class SourceTab
{
    Source,
    Listing
};
[[nodiscard]] Scene layoutSource(const RunView& run, const ViewState& state, Size size,
                                 SourceTab tab = SourceTab::Source);

// The line that runs at a time, or that waits; line 0 where none is known.
[[nodiscard]] trace::SourceLine currentLine(const RunView& run, const ViewState& state);

// What stands left of the code, in px from the left edge of the view; all 0 without a source.
struct SourceGutter
{
    double numbers = 0;    // where line numbers begin
    double numbersEnd = 0; // where they end, and the marks of findings begin
    double code = 0;       // where the code begins
};

[[nodiscard]] SourceGutter sourceGutter(const RunView& run, const ViewState& state);

} // namespace pallascope::layout
