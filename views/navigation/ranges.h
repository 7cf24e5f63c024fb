// Which range of a run's time the time line shows next. Pure and without Qt.
#pragma once

#include "views/layout/run/run_view.h"

#include <functional>

namespace pallascope::navigation {

// The range that follows from the one in sight.
using NextRange =
    std::function<layout::TimeRange(const layout::RunView& run, const layout::ViewState& state)>;

// Around the playhead if it is in sight, else around the middle.
[[nodiscard]] NextRange zoomedBy(double factor);
// By a share of the range; positive: later.
[[nodiscard]] NextRange pannedBy(double share);

enum class Frame
{
    Operation, // the step or round under the playhead
    Steps,     // a few of them
    Run
};

[[nodiscard]] NextRange framed(Frame frame);

// A range of this length that begins there, as far as the run's time reaches.
[[nodiscard]] layout::TimeRange within(const layout::RunView& run, const layout::ViewState& state,
                                       Picoseconds begin, Picoseconds length);

} // namespace pallascope::navigation
