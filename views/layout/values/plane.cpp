#include "views/layout/values/plane.h"

#include "core/base/format.h"
#include "views/layout/scene/canvas.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace pallascope::layout::values {

namespace {

constexpr std::int64_t kRowOfVector = 128; // elements: the lanes of a register
constexpr double kMapGap = 12;             // px between the map and what is beside and below it
constexpr double kLegendWidth = 146;       // px
constexpr double kLegendHigh = 212;        // px, with everything in it
constexpr double kLeastCell = 2, kLargestCell = 20;
constexpr double kReadableCell = 8; // px of a cell whose side was chosen
constexpr double kLabelRoom = 10;   // px beside the row numbers

// Rows of the table that the map leaves room for.
std::int64_t leastNumberRows(double height)
{
    constexpr double kLow = 200, kUsual = 290; // px
    return height < kLow ? 1 : height < kUsual ? 3 : 5;
}

double tableHeight(std::int64_t rows)
{
    return static_cast<double>(rows) * kLine + kLine + 10;
}

// `count` of `all` around the middle one.
std::pair<std::int64_t, std::int64_t> around(std::int64_t middle, std::int64_t count,
                                             std::int64_t all)
{
    count = std::min(count, all);
    return {std::clamp<std::int64_t>(middle - count / 2, 0, all - count), count};
}

// The first of `shown` rows of `all`, a whole number of cells from the beginning.
std::int64_t firstShown(std::int64_t wanted, std::int64_t shown, std::int64_t all,
                        std::int64_t side)
{
    const std::int64_t last = std::max<std::int64_t>(0, (all - shown + side - 1) / side * side);
    return std::clamp<std::int64_t>(wanted / side * side, 0, last);
}

// The side with which the whole plane fits.
std::int64_t fittingSide(const Plane& plane, double width, double height)
{
    const auto cellsIn = [](double px) {
        return std::max<std::int64_t>(1, static_cast<std::int64_t>(px / kLeastCell));
    };
    return std::max({std::int64_t{1}, ceilDiv(plane.columns, cellsIn(width)),
                     ceilDiv(plane.rows, cellsIn(height))});
}

// The table stands below the map and the legend and takes what is left of the height.
void placeNumbers(Frame& frame, const Plane& plane, const FrameChoice& choice, Size size)
{
    constexpr std::int64_t kMostRows = 25, kMostColumns = 9;
    const double lowest = size.height - tableHeight(leastNumberRows(size.height));
    frame.numbersY =
        std::min(lowest, std::max(frame.map.bottom() + kMapGap, kMapTop + kLegendHigh));
    const double room = size.height - frame.numbersY - tableHeight(0);
    frame.numberWidth = choice.numberWidth;
    const auto fitting =
        static_cast<std::int64_t>((size.width - 2 * kNumbersLeft) / frame.numberWidth);
    std::tie(frame.numbers.row, frame.numbers.rows) =
        around(plane.rowOf(choice.element),
               std::clamp<std::int64_t>(static_cast<std::int64_t>(room / kLine), 1, kMostRows),
               plane.rows);
    std::tie(frame.numbers.column, frame.numbers.columns) =
        around(plane.columnOf(choice.element), std::clamp<std::int64_t>(fitting, 1, kMostColumns),
               plane.columns);
}

} // namespace

Plane planeOf(const Shape& shape, std::int64_t element)
{
    const std::int64_t all = shape.elements();
    if (shape.rank() < 2) {
        const std::int64_t columns = std::clamp<std::int64_t>(all, 1, kRowOfVector);
        return {0, (std::max<std::int64_t>(all, 1) + columns - 1) / columns, columns, all};
    }
    const std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
    const std::int64_t count = rows * columns;
    return {count == 0 ? 0 : element / count * count, rows, columns, count};
}

Frame frameOf(const Plane& plane, const FrameChoice& choice, Size size)
{
    if (plane.elements == 0) {
        return {};
    }
    Frame frame;
    const std::int64_t row = plane.rowOf(choice.element), column = plane.columnOf(choice.element);
    frame.legendWidth = kLegendWidth;
    frame.legendX = size.width - kLegendWidth;
    const double left = textWidth(countText(plane.rows - 1), 10) + kLabelRoom;
    const double width = std::max(1.0, frame.legendX - kMapGap - left);
    const double height =
        std::max(1.0, size.height - tableHeight(leastNumberRows(size.height)) - kMapGap - kMapTop);
    const std::int64_t whole = fittingSide(plane, width, height);
    frame.side = choice.side == 0 || choice.side > whole ? whole : choice.side;
    const auto cells = [&](std::int64_t elements) {
        return static_cast<double>(ceilDiv(elements, frame.side));
    };
    const double least = frame.side == whole ? 1 : kReadableCell;
    frame.px =
        std::clamp(std::floor(std::min(width / cells(plane.columns), height / cells(plane.rows))),
                   least, kLargestCell);
    const auto shown = [&](std::int64_t all, double px) {
        return std::min(all, frame.side
                                 * std::max<std::int64_t>(
                                     1, static_cast<std::int64_t>(std::floor(px / frame.px))));
    };
    Region& region = frame.region;
    region.rows = shown(plane.rows, height);
    region.columns = shown(plane.columns, width);
    const auto corner =
        choice.corner.value_or(std::pair(row - region.rows / 2, column - region.columns / 2));
    region.row = firstShown(corner.first, region.rows, plane.rows, frame.side);
    region.column = firstShown(corner.second, region.columns, plane.columns, frame.side);
    region.rows = std::min(region.rows, plane.rows - region.row);
    region.columns = std::min(region.columns, plane.columns - region.column);
    frame.map = {std::ceil(left), kMapTop, frame.px * cells(region.columns),
                 frame.px * cells(region.rows)};
    placeNumbers(frame, plane, choice, size);
    return frame;
}

} // namespace pallascope::layout::values
