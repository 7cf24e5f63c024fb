// The source and the printed program.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

// Side by side from 900 px on, else one of them.
enum class SourceTab
{
    Source,
    Listing
};
[[nodiscard]] Scene layoutSource(const RunView& run, const ViewState& state, Size size,
                                 SourceTab tab = SourceTab::Source);

} // namespace pallascope::layout
