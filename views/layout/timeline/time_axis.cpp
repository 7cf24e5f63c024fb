#include "views/layout/timeline/timeline.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace {

constexpr std::int64_t kLeastRange = 1000; // ps

TimeRange clampedRange(double begin, std::int64_t length, Picoseconds end)
{
    const std::int64_t latest = std::max<std::int64_t>(0, end.value() - length);
    const std::int64_t first = std::clamp<std::int64_t>(std::llround(begin), 0, latest);
    return {Picoseconds(first), Picoseconds(first + length)};
}

// A range of places, of the same width.
TimeAxis plainAxis(const TimeAxis& axis)
{
    return {axis.left, axis.width, axis.places};
}

TimeRange timesOf(const Alignment& alignment, const TimeRange& places)
{
    const std::int64_t begin = alignment.time(places.begin.value());
    return {Picoseconds(begin),
            Picoseconds(std::max(begin + kLeastRange, alignment.time(places.end.value())))};
}

Picoseconds placeOf(const Alignment& alignment, Picoseconds t)
{
    return Picoseconds(alignment.place(t.value()));
}

} // namespace

// The difference is taken of integers: a double holds every length of a range in picoseconds
// exactly, but not every absolute time.
double TimeAxis::toX(Picoseconds t) const
{
    const TimeRange& of = alignment != nullptr ? places : range;
    const Picoseconds at = alignment != nullptr ? placeOf(*alignment, t) : t;
    const auto length = static_cast<double>((of.end - of.begin).value());
    return left + static_cast<double>((at - of.begin).value()) / length * width;
}

Picoseconds TimeAxis::toTime(double x) const
{
    const TimeRange& of = alignment != nullptr ? places : range;
    const auto length = static_cast<double>((of.end - of.begin).value());
    const Picoseconds at = of.begin + Picoseconds(std::llround((x - left) / width * length));
    return alignment != nullptr ? Picoseconds(alignment->time(at.value())) : at;
}

TimeAxis timelineAxis(const ViewState& state, Size size)
{
    TimeAxis axis;
    axis.left = timeline::kHead;
    axis.width = std::max(1.0, size.width - timeline::kHead - timeline::kRight);
    axis.range = state.visible;
    if (axis.range.end <= axis.range.begin) {
        axis.range.end = axis.range.begin + Picoseconds(1);
    }
    if (isBySteps(state)) {
        axis.alignment = {state.kept, &state.kept->bySteps->one};
        axis.places = {placeOf(*axis.alignment, axis.range.begin),
                       placeOf(*axis.alignment, axis.range.end)};
    }
    return axis;
}

TimeAxis keptAxis(const ViewState& state, Size size)
{
    TimeAxis axis = timelineAxis(state, size);
    if (axis.alignment != nullptr) {
        axis.alignment = {state.kept, &state.kept->bySteps->other};
        axis.range = timesOf(*axis.alignment, axis.places);
    }
    return axis;
}

TimeRange zoomed(const TimeAxis& axis, double x, double factor, Picoseconds end)
{
    if (axis.alignment != nullptr) {
        return timesOf(*axis.alignment,
                       zoomed(plainAxis(axis), x, factor, placeOf(*axis.alignment, end)));
    }
    const auto length = static_cast<double>((axis.range.end - axis.range.begin).value());
    const auto most = static_cast<double>(std::max<std::int64_t>(1, end.value()));
    const double least = std::min(most, static_cast<double>(kLeastRange));
    const double wanted = std::clamp(length / std::max(factor, 1e-9), least, most);
    const double share = (x - axis.left) / axis.width;
    const double fixed = static_cast<double>(axis.range.begin.value()) + share * length;
    return clampedRange(fixed - share * wanted, std::llround(wanted), end);
}

TimeRange panned(const TimeAxis& axis, double px, Picoseconds end)
{
    if (axis.alignment != nullptr) {
        return timesOf(*axis.alignment, panned(plainAxis(axis), px, placeOf(*axis.alignment, end)));
    }
    const std::int64_t length = (axis.range.end - axis.range.begin).value();
    const double by = px / axis.width * static_cast<double>(length);
    return clampedRange(static_cast<double>(axis.range.begin.value()) - by, length, end);
}

} // namespace pallascope::layout
