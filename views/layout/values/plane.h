// The plane of a ref that its heat map shows, and where the map, its cells and the numbers lie in
// the picture. Only for the values picture.
#pragma once

#include "core/base/shape.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace pallascope::layout::values {

// A rectangle of elements. A ref of rank 0 or 1 is wrapped into rows of at most 128 elements.
struct Plane
{
    std::int64_t first = 0; // the number of its first element in the array
    std::int64_t rows = 1, columns = 1;
    std::int64_t elements = 1; // fewer than rows * columns if the last row is not full

    // The number of an element in the array, if there is one.
    [[nodiscard]] std::optional<std::int64_t> at(std::int64_t row, std::int64_t column) const
    {
        const std::int64_t number = row * columns + column;
        return row < 0 || column < 0 || column >= columns || number >= elements
                   ? std::nullopt
                   : std::optional(first + number);
    }

    [[nodiscard]] std::int64_t rowOf(std::int64_t element) const
    {
        return (element - first) / columns;
    }

    [[nodiscard]] std::int64_t columnOf(std::int64_t element) const
    {
        return (element - first) % columns;
    }
};

// The plane in which an element lies, by the element's number in the array.
[[nodiscard]] Plane planeOf(const Shape& shape, std::int64_t element);

// Rows and columns of a plane.
struct Region
{
    std::int64_t row = 0, column = 0, rows = 0, columns = 0;
    bool operator==(const Region&) const = default;
};

// Where things lie in the picture.
struct Frame
{
    std::int64_t side = 1; // elements on a side of a cell
    double px = 1;         // of a cell
    Rect map;              // of the heat map
    Region region;         // its elements
    double legendX = 0, legendWidth = 0;
    double numbersY = 0, numberWidth = 0;
    Region numbers; // those of the table
};

struct FrameChoice
{
    std::int64_t element = 0;
    std::int64_t side = 0; // 0: the whole plane
    std::optional<std::pair<std::int64_t, std::int64_t>> corner;
    double numberWidth = 92; // px
};

inline constexpr double kLine = 17;        // px of one line of text
inline constexpr double kMapTop = 20;      // px above the map, for its axis
inline constexpr double kNumbersLeft = 10; // px beside the table

[[nodiscard]] Frame frameOf(const Plane& plane, const FrameChoice& choice, Size size);

} // namespace pallascope::layout::values
