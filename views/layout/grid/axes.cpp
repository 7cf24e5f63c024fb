// Paints the axes of a grid one below the other, where arrays stand in lines below them.
#include "core/base/format.h"
#include "views/layout/grid/flow.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace {

constexpr double kAxisLine = 17;
constexpr double kMostTick = 14, kLeastTick = 4;

void paintAxis(Canvas& canvas, Rect rect, Extent at, Extent count)
{
    const double tick = std::min(kMostTick, std::floor(rect.w / static_cast<double>(count)));
    if (tick >= kLeastTick) {
        for (Extent i = 0; i < count; ++i) {
            const Color color = i == at  ? Color(Role::Text)
                                : i < at ? mix(Role::Text, 0.32)
                                         : Color(Role::Grid);
            canvas.fill(rect.x + static_cast<double>(i) * tick, rect.y, tick - 1, rect.h, color);
        }
        return;
    }
    const double now = (rect.w - 2) * static_cast<double>(at) / static_cast<double>(count);
    canvas.fill(rect.x, rect.y, rect.w, rect.h, Role::Grid);
    canvas.fill(rect.x, rect.y, now, rect.h, mix(Role::Text, 0.32));
    canvas.fill(rect.x + now, rect.y, 2, rect.h, Role::Text);
}

} // namespace

double paintAxes(Canvas& canvas, const GridMoment& moment, Rect area)
{
    if (!moment.hasPipeline || moment.index.empty()) {
        return area.y;
    }
    const trace::Pipeline& pipe = moment.run.trace->info().pipelines[moment.pipeline.index()];
    std::vector<std::size_t> several;
    double label = 15;
    for (std::size_t axis = 0; axis < pipe.grid.size() && axis < moment.index.size(); ++axis) {
        if (pipe.grid[axis] > 1) {
            several.push_back(axis);
            const std::string& name = axis < pipe.axisNames.size() ? pipe.axisNames[axis] : "";
            label = std::clamp(textWidth(name) + 8, label, area.w / 3);
        }
    }
    if (several.empty()) {
        return area.y;
    }
    canvas.text(area.x, area.y, area.w, 17, "Grid axes",
                {12, Role::Text, Weight::SemiBold, Align::Left});
    if (several.size() > 1) {
        canvas.text(area.x + 68, area.y + 1, area.w - 68, 17, "innermost last",
                    {10, Role::Text3, Weight::Regular, Align::Left});
    }
    double y = area.y + 20;
    for (const std::size_t axis : several) {
        const Extent count = pipe.grid[axis], at = moment.index[axis];
        const std::string text = countText(at) + " of 0–" + countText(count - 1);
        const double beside = textWidth(text, 10) + 10;
        const double room = std::max(20.0, area.w - label - beside);
        const double width =
            std::min(room, kMostTick * static_cast<double>(std::min<Extent>(count, 1000)));
        canvas.text(area.x, y, label - 2, 14,
                    axis < pipe.axisNames.size() ? pipe.axisNames[axis] : "",
                    {11, Role::Text2, Weight::Regular, Align::Left});
        paintAxis(canvas, {area.x + label, y + 1, width, 12}, at, count);
        canvas.text(area.x + label + width + 8, y, beside, 14, text,
                    {10, Role::Text3, Weight::Regular, Align::Left});
        y += kAxisLine;
    }
    return y + 6;
}

} // namespace pallascope::layout
