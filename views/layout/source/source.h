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

} // namespace pallascope::layout
