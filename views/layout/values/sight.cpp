// What a picture of values shows, taken from the elements: the part of the values picture that
// takes time.
#include "views/layout/values/values.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr double kMonoDigit = 6.7; // px of a figure in the table

int digitsOf(DType dtype)
{
    constexpr int kFewest = 3, kMost = 7;
    const int bits = dtypeEntry(dtype).format.mantissaBits + 1;
    return std::clamp(static_cast<int>(bits * std::log10(2.0)), kFewest, kMost);
}

// px of a column of the table: sign, point and exponent beside the digits.
double numberWidth(DType dtype)
{
    constexpr int kOfInteger = 8, kBeside = 6;
    const int characters = isFloat(dtype) ? digitsOf(dtype) + kBeside : kOfInteger;
    return std::ceil(characters * kMonoDigit) + 8;
}

// Whether a region of a plane has all elements of the ref.
bool isAllOf(const values::Region& region, const Shape& shape, const values::Plane& plane)
{
    return plane.elements == shape.elements() && region.rows == plane.rows
           && region.columns == plane.columns;
}

} // namespace

std::vector<std::int64_t> indexOf(const Shape& shape, std::int64_t element)
{
    std::vector<std::int64_t> index(shape.rank());
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        index[axis] = element % std::max<std::int64_t>(1, shape[axis]);
        element /= std::max<std::int64_t>(1, shape[axis]);
    }
    return index;
}

std::int64_t numberOf(const Shape& shape, const std::vector<std::int64_t>& index)
{
    std::int64_t number = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const std::int64_t asked = axis < index.size() ? index[axis] : 0;
        number = number * shape[axis]
                 + std::clamp<std::int64_t>(asked, 0, std::max<std::int64_t>(shape[axis] - 1, 0));
    }
    return number;
}

std::string valueText(const ValuesNumber& number, DType dtype)
{
    switch (number.kind) {
    case values::Kind::None:
        return {};
    case values::Kind::Arriving:
        return "on its way";
    case values::Kind::Undefined:
        return "undefined";
    case values::Kind::Inf:
        return number.value > 0 ? "Inf" : "-Inf";
    case values::Kind::Nan:
        return "NaN";
    case values::Kind::Value:
        break;
    }
    return isFloat(dtype) ? fmt::format("{:.{}g}", number.value, digitsOf(dtype))
                          : fmt::format("{:.0f}", number.value);
}

ValuesSight sightOf(const ValuesView& view, const ValuesChoice& choice, Size size,
                    const std::optional<values::Counts>& all)
{
    const Shape& shape = view.elements.shape;
    ValuesSight sight{.name = view.name,
                      .memory = view.memory,
                      .unknown = view.unknown,
                      .dtype = view.elements.dtype,
                      .shape = shape,
                      .block = view.block,
                      .color = view.color,
                      .size = size};
    if (shape.elements() == 0 || !view.unknown.empty()) {
        sight.plane = values::planeOf(shape, 0);
        return sight;
    }
    const auto frameAt = [&](std::int64_t element) {
        return values::frameOf(
            sight.plane, {element, choice.side, choice.corner, numberWidth(sight.dtype)}, size);
    };
    std::optional<values::Scanned> scanned;
    const auto scan = [&] {
        scanned = values::scan(view, sight.plane, sight.frame.region, sight.frame.side);
    };
    sight.plane = values::planeOf(shape, 0);
    sight.frame = frameAt(0);
    if (all) {
        sight.all = *all;
    } else if (isAllOf(sight.frame.region, shape, sight.plane)) {
        scan(); // one look at the elements is enough, for it takes most of the time
        sight.all = scanned->counts;
    } else {
        sight.all = values::countsOf(view);
    }
    sight.element = choice.element                      ? numberOf(shape, *choice.element)
                    : sight.all.nan + sight.all.inf > 0 ? values::notableElement(view)
                                                        : 0;
    sight.plane = values::planeOf(shape, sight.element);
    sight.frame = frameAt(sight.element);
    if (!scanned) {
        scan();
    }
    sight.cells = std::move(scanned->cells);
    sight.inSight = scanned->counts;
    const values::Region& table = sight.frame.numbers;
    for (std::int64_t row = table.row; row < table.row + table.rows; ++row) {
        for (std::int64_t column = table.column; column < table.column + table.columns; ++column) {
            const std::optional<std::int64_t> element = sight.plane.at(row, column);
            sight.numbers.push_back({element ? values::kindOf(view, *element) : values::Kind::None,
                                     element ? values::valueOf(view, *element) : 0});
        }
    }
    return sight;
}

std::optional<ValuesRange> rangeOf(const ValuesSight& sight, const std::optional<ValuesRange>& held)
{
    const values::Counts& seen = sight.inSight;
    if (seen.values == 0) {
        return held;
    }
    if (!held) {
        return ValuesRange{seen.least, seen.largest, seen.leastMagnitude};
    }
    ValuesRange range{std::min(held->least, seen.least), std::max(held->largest, seen.largest),
                      held->leastMagnitude};
    if (range.leastMagnitude == 0 || seen.leastMagnitude == 0) {
        range.leastMagnitude += seen.leastMagnitude;
    } else {
        range.leastMagnitude = std::min(range.leastMagnitude, seen.leastMagnitude);
    }
    return range;
}

std::optional<std::int64_t> elementAt(const ValuesSight& sight, double x, double y)
{
    const values::Frame& frame = sight.frame;
    std::int64_t row = -1, column = -1;
    const values::Region& table = frame.numbers;
    const Rect numbers{values::kNumbersLeft, frame.numbersY + values::kLine + 4,
                       static_cast<double>(table.columns) * frame.numberWidth,
                       static_cast<double>(table.rows) * values::kLine};
    if (frame.map.contains(x, y)) {
        const auto elements = [&](double px) {
            return static_cast<std::int64_t>(px / frame.px * static_cast<double>(frame.side));
        };
        row = std::min(frame.region.row + elements(y - frame.map.y), sight.plane.rows - 1);
        column = std::min(frame.region.column + elements(x - frame.map.x), sight.plane.columns - 1);
    } else if (numbers.contains(x, y)) {
        row = table.row + static_cast<std::int64_t>((y - numbers.y) / values::kLine);
        column = table.column + static_cast<std::int64_t>((x - numbers.x) / frame.numberWidth);
    }
    return sight.plane.at(row, column);
}

Scene layoutValues(const ValuesView& view, const ValuesChoice& choice, Size size)
{
    return layoutSight(sightOf(view, choice, size), choice.scale);
}

} // namespace pallascope::layout
