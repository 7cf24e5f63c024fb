#include "views/layout/sweep/arrange.h"

#include <algorithm>
#include <limits>
#include <map>

namespace pallascope::layout::sweep {

namespace {

bool varies(const SweepAxis& axis)
{
    return axis.values.size() > 1;
}

// The parameter with the most values, or the chips if no parameter varies.
std::size_t axisAcross(const SweepPicture& picture)
{
    const std::size_t chips = picture.axes.size() - 1;
    std::size_t across = chips;
    for (std::size_t axis = 0; axis < chips; ++axis) {
        const std::size_t most = across == chips ? 1 : picture.axes[across].values.size();
        across = picture.axes[axis].values.size() > most ? axis : across;
    }
    return across;
}

// The other axes that vary, in order.
std::vector<std::size_t> othersThan(const SweepPicture& picture, std::size_t across)
{
    std::vector<std::size_t> others;
    for (std::size_t axis = 0; axis < picture.axes.size(); ++axis) {
        if (axis != across && varies(picture.axes[axis])) {
            others.push_back(axis);
        }
    }
    return others;
}

// Rows that did not run, or may be wrong, are of no interest where there is no room for all.
Picoseconds rank(const SweepPoint& point)
{
    constexpr Picoseconds kLast(std::numeric_limits<std::int64_t>::max());
    return point.time && point.findings.empty() ? *point.time : kLast;
}

// The points of each series; its number counts the combinations of the others in order.
using Numbered = std::map<std::size_t, std::vector<const SweepPoint*>>;

Numbered numbered(const SweepPicture& picture, const std::vector<std::size_t>& others)
{
    Numbered series;
    for (const SweepPoint& point : picture.points) {
        std::size_t number = 0;
        for (const std::size_t axis : others) {
            number = number * picture.axes[axis].values.size() + point.at[axis];
        }
        series[number].push_back(&point);
    }
    return series;
}

void keepTheFastest(Numbered& series, std::size_t most)
{
    std::vector<std::pair<Picoseconds, std::size_t>> ranks;
    for (const auto& [number, points] : series) {
        const auto best = std::min_element(
            points.begin(), points.end(),
            [](const SweepPoint* a, const SweepPoint* b) { return rank(*a) < rank(*b); });
        ranks.emplace_back(rank(**best), number);
    }
    std::sort(ranks.begin(), ranks.end());
    for (std::size_t i = most; i < ranks.size(); ++i) {
        series.erase(ranks[i].second);
    }
}

std::string seriesName(const SweepPicture& picture, const std::vector<std::size_t>& others,
                       std::size_t number)
{
    std::string name;
    for (std::size_t i = others.size(); i-- > 0;) {
        const std::vector<std::string>& values = picture.axes[others[i]].values;
        name = values[number % values.size()] + (name.empty() ? "" : " · ") + name;
        number /= values.size();
    }
    return name;
}

// Leaves those columns that lie around the one with the shortest time.
void chooseColumns(const SweepPicture& picture, std::size_t most, Arrangement& arrangement)
{
    const std::size_t all = picture.axes[arrangement.across].values.size();
    arrangement.count = std::min(all, most);
    arrangement.columnsLeftOut = all - arrangement.count;
    if (arrangement.columnsLeftOut == 0 || picture.points.empty()) {
        return;
    }
    const auto best = std::min_element(
        picture.points.begin(), picture.points.end(),
        [](const SweepPoint& a, const SweepPoint& b) { return rank(a) < rank(b); });
    const std::size_t column = best->at[arrangement.across];
    arrangement.first =
        std::min(column - std::min(column, arrangement.count / 2), arrangement.columnsLeftOut);
}

} // namespace

Arrangement arranged(const SweepPicture& picture, std::size_t mostColumns, std::size_t mostSeries)
{
    Arrangement arrangement;
    arrangement.across = axisAcross(picture);
    chooseColumns(picture, mostColumns, arrangement);
    const std::vector<std::size_t> others = othersThan(picture, arrangement.across);
    std::size_t all = 1;
    for (const std::size_t axis : others) {
        arrangement.names += (arrangement.names.empty() ? "" : " · ") + picture.axes[axis].name;
        all *= picture.axes[axis].values.size();
    }
    Numbered series = numbered(picture, others);
    if (all > mostSeries) {
        keepTheFastest(series, mostSeries);
        arrangement.seriesLeftOut = all - series.size();
    } else { // also those of which no row has come yet, so that the others keep their colours
        for (std::size_t number = 0; number < all; ++number) {
            series.try_emplace(number);
        }
    }
    for (auto& [number, points] : series) {
        std::erase_if(points, [&](const SweepPoint* point) {
            const std::size_t column = point->at[arrangement.across];
            return column < arrangement.first || column >= arrangement.first + arrangement.count;
        });
        arrangement.series.push_back({seriesName(picture, others, number), std::move(points)});
    }
    return arrangement;
}

std::string nameOf(const SweepPicture& picture, const SweepPoint& point)
{
    std::string name;
    const std::size_t chips = picture.axes.size() - 1;
    for (std::size_t axis = 0; axis < chips; ++axis) {
        if (varies(picture.axes[axis])) {
            name += (name.empty() ? "" : " ") + picture.axes[axis].name + "="
                    + picture.axes[axis].values[point.at[axis]];
        }
    }
    return name + (name.empty() ? "" : " on ") + picture.axes[chips].values[point.at[chips]];
}

} // namespace pallascope::layout::sweep
