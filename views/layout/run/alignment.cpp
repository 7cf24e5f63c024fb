#include "views/layout/run/alignment.h"

#include <algorithm>

namespace pallascope::layout {

namespace {

// The last one that is at most `value`; the first for smaller values.
std::size_t lastUpTo(const std::vector<std::int64_t>& ascending, std::int64_t value)
{
    const auto behind = std::upper_bound(ascending.begin(), ascending.end(), value);
    return behind == ascending.begin() ? 0
                                       : static_cast<std::size_t>(behind - ascending.begin()) - 1;
}

} // namespace

std::size_t Alignment::partAt(std::int64_t time) const
{
    return lastUpTo(begins, time);
}

std::int64_t Alignment::place(std::int64_t time) const
{
    const std::size_t part = partAt(time);
    return places[part] + time - begins[part];
}

std::int64_t Alignment::time(std::int64_t place) const
{
    const std::size_t part = lastUpTo(places, place);
    const std::int64_t inside = begins[part] + place - places[part];
    return part + 1 < begins.size() ? std::max(begins[part], std::min(inside, begins[part + 1] - 1))
                                    : inside;
}

std::int64_t Alignment::gapBehind(std::size_t part) const
{
    return part + 1 < begins.size()
               ? (places[part + 1] - places[part]) - (begins[part + 1] - begins[part])
               : 0;
}

AlignedPair align(std::vector<std::int64_t> one, std::vector<std::int64_t> other)
{
    std::vector<std::int64_t> places{0};
    places.reserve(one.size());
    for (std::size_t i = 1; i < one.size(); ++i) {
        places.push_back(places.back() + std::max(one[i] - one[i - 1], other[i] - other[i - 1]));
    }
    return {{std::move(one), places}, {std::move(other), places}};
}

} // namespace pallascope::layout
