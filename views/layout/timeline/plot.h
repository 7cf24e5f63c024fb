// Turns rows of the trace into bars on the plot of a time line, at most one bar per pixel.
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
        // How many px bars may reach beyond the plot, so that their frames stay open there.
        constexpr double kOutside = 4;
        return std::clamp(std::round(axis.toX(Picoseconds(t))), axis.left - kOutside,
                          axis.left + axis.width + kOutside);
    }

    // The first time that is rounded to this pixel.
    [[nodiscard]] std::int64_t timeAt(double px) const { return axis.toTime(px - 0.5).value(); }

    const TimeAxis& axis;
    std::int64_t begin, end;
};

// The length of the longest segment in ps. A segment that began earlier than that before a time has
// ended by then.
[[nodiscard]] inline std::int64_t longestSegment(const trace::Info& info)
{
    std::int64_t longest = 0;
    for (const trace::SegmentTemplate& segment : info.templates) {
        longest = std::max(longest, segment.duration.value());
    }
    return longest;
}

inline constexpr double kLeastLabelled = 20; // px; labels of narrower bars are not even measured

[[nodiscard]] inline bool isLabelled(const Bar& bar, Level level)
{
    return (level == Level::Steps || level == Level::Operations)
           && bar.x1 - bar.x0 >= kLeastLabelled;
}

// Appends [begin, end) as a bar. If the bar before it covers the same pixels, that bar counts it
// instead, and the function returns false.
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
