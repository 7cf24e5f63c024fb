// Every view as a function from (run, state, size) to a Scene. Nothing here keeps state or knows
// Qt; the same input always gives the same scene. Content starts at y = 0: the title and caption
// are Scene::title and Scene::caption (a dock's head paints them; withHeader() does for pictures).
#pragma once

#include "core/base/result.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <string>
#include <string_view>
#include <vector>

namespace pallascope::layout {

[[nodiscard]] Scene layoutKernel(const RunView& run, const ViewState& state,
                                 Size size); // form, budget, other blocks
[[nodiscard]] Scene layoutBudget(const RunView& run, const ViewState& state,
                                 Size size); // the same without the form
[[nodiscard]] Scene layoutGrid(const RunView& run, const ViewState& state, Size size);
[[nodiscard]] Scene layoutMemory(const RunView& run, const ViewState& state, Size size);
[[nodiscard]] Scene layoutRoofline(const RunView& run, const ViewState& state, Size size);
[[nodiscard]] Scene layoutVerdict(const RunView& run, const ViewState& state,
                                  Size size); // verdict and findings

// The source and the printed program side by side from 900 px on, else one of them.
enum class SourceTab
{
    Source,
    Listing
};
[[nodiscard]] Scene layoutSource(const RunView& run, const ViewState& state, Size size,
                                 SourceTab tab = SourceTab::Source);

// The time line in two layers: all but the playhead (cache it per range, size and run; it changes
// with `now` only where a copy is under way), and the playhead with what moves.
[[nodiscard]] Scene layoutTimeline(const RunView& run, const ViewState& state, Size size);

// Geometry of its time axis, for zoom, pan and clicks: x <-> time within the plot.
struct TimeAxis
{
    double left = 0, width = 1; // px
    TimeRange range;
    [[nodiscard]] double toX(Picoseconds t) const;
    [[nodiscard]] Picoseconds toTime(double x) const;
};

[[nodiscard]] TimeAxis timelineAxis(const ViewState& state, Size size);
// Zoom by `factor` (> 1: closer) keeping the time under x; pan by px. Clamped to the run, at least
// 1 ns.
[[nodiscard]] TimeRange zoomed(const TimeAxis& axis, double x, double factor, Picoseconds end);
[[nodiscard]] TimeRange panned(const TimeAxis& axis, double px, Picoseconds end);

// The strip of the whole run in the transport bar, and the verdict strip below it.
[[nodiscard]] Scene layoutOverview(const RunView& run, const ViewState& state, Size size);
[[nodiscard]] Scene layoutVerdictStrip(const RunView& run, const ViewState& state, Size size);

// What a tooltip says about a target: first line strong; the last one has exact picoseconds or
// bytes.
[[nodiscard]] std::vector<std::string> tooltip(const RunView& run, const ViewState& state,
                                               const Target& target);

// kernel, grid, memory, timeline, roofline, source, verdict; size includes the head. The error
// names the view and the choices.
[[nodiscard]] Result<Scene> picture(std::string_view view, const RunView& run,
                                    const ViewState& state, Size size);
[[nodiscard]] const std::vector<std::string>& pictureNames();

} // namespace pallascope::layout
