// Rows as bars on the plot of a time line, at most one per pixel.
#pragma once

#include "views/layout/timeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace pallascope::layout::timeline {

struct Plot
{
    explicit Plot(const TimeAxis& of)
        : axis(of)
        , begin(of.range.begin.value())
        , end(of.range.end.value())
    {}

    [[nodiscard]] double x(std::int64_t t) const
    {
        constexpr double kOutside = 4; // px that bars may reach past it, so that frames stay open
        return std::clamp(std::round(axis.toX(Picoseconds(t))), axis.left - kOutside,
                          axis.left + axis.width + kOutside);
    }

    // The first time that rounds to this pixel.
    [[nodiscard]] std::int64_t timeAt(double px) const { return axis.toTime(px - 0.5).value(); }

    const TimeAxis& axis;
    std::int64_t begin, end;
};

// In ps: what begins so long before a time, or earlier, is over by then.
[[nodiscard]] inline std::int64_t longestSegment(const trace::Info& info)
{
    std::int64_t longest = 0;
    for (const trace::SegmentTemplate& segment : info.templates) {
        longest = std::max(longest, segment.duration.value());
    }
    return longest;
}

inline constexpr double kLeastLabelled = 20; // px; what is narrower is not measured

[[nodiscard]] inline bool isLabelled(const Bar& bar, Level level)
{
    return (level == Level::Steps || level == Level::Operations)
           && bar.x1 - bar.x0 >= kLeastLabelled;
}

// Appends [begin, end) as a bar; false when its pixels are taken by the bar before, which then
// counts it.
inline bool append(std::vector<Bar>& bars, const Plot& plot, Bar bar)
{
    bar.x0 = plot.x(bar.begin);
    bar.x1 = std::max(plot.x(bar.end), bar.x0 + 1);
    if (!bars.empty() && bar.x0 < bars.back().x1) {
        Bar& last = bars.back();
        if (bar.x1 <= last.x1) {
            ++last.count;
            last.end = std::max(last.end, bar.end);
            return false;
        }
        bar.x0 = last.x1;
    }
    bars.push_back(std::move(bar));
    return true;
}

} // namespace pallascope::layout::timeline
