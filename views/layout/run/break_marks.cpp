#include "views/layout/run/break_marks.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

std::vector<BreakMark> breakMarks(const ViewState& state, TimeRange range,
                                  const std::function<double(Picoseconds)>& toX)
{
    constexpr double kApartBreaks = kBreakWide + 1;
    std::vector<BreakMark> marks;
    for (const bool isOn : {true, false}) {
        for (std::size_t i = 0; state.breaks != nullptr && i < state.breaks->size(); ++i) {
            const BreakStops& stops = (*state.breaks)[i];
            if (stops.isOn != isOn) {
                continue;
            }
            auto at = std::lower_bound(stops.times.begin(), stops.times.end(), range.begin.value());
            while (at != stops.times.end() && *at <= range.end.value()) {
                const Picoseconds time(*at);
                const double left = std::round(toX(time) - kBreakWide / 2);
                const auto covers = [&](const BreakMark& other) {
                    return std::abs(other.left - left) < kApartBreaks;
                };
                if (std::none_of(marks.begin(), marks.end(), covers)) {
                    marks.push_back({left, time, isOn});
                }
                at = std::partition_point(at + 1, stops.times.end(), [&](std::int64_t next) {
                    return toX(Picoseconds(next)) < left + kBreakWide / 2 + kApartBreaks;
                });
            }
        }
    }
    return marks;
}

void paintBreakMarks(Canvas& canvas, const std::vector<BreakMark>& marks, double y, bool pointsUp)
{
    constexpr double kTagPoint = 3.5; // px of the point of a tag
    for (const BreakMark& mark : marks) {
        const double left = mark.left, right = mark.left + kBreakWide;
        const double flat = pointsUp ? y + kBreakHigh : y;
        const double shoulder = pointsUp ? y + kTagPoint : y + kBreakHigh - kTagPoint;
        const Point tip{left + kBreakWide / 2, pointsUp ? y : y + kBreakHigh};
        std::vector<Point> tag{
            {left, flat}, {right, flat}, {right, shoulder}, tip, {left, shoulder}};
        canvas.polygon(std::move(tag), mark.isOn ? Role::Focus : Role::Panel, Role::Focus, 1);
        canvas.hit(left - 1, y - 1, kBreakWide + 2, kBreakHigh + 2, target::Time{mark.time});
    }
}

std::vector<std::string> breaksAt(const ViewState& state, Picoseconds time)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; state.breaks != nullptr && i < state.breaks->size(); ++i) {
        const BreakStops& stops = (*state.breaks)[i];
        if (std::binary_search(stops.times.begin(), stops.times.end(), time.value())) {
            names.push_back(stops.name + (stops.isOn ? "" : ", off"));
        }
    }
    return names;
}

} // namespace pallascope::layout
