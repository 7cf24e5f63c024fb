// The plane of a ref that its heat map shows, and the cells that it is cut into. Only for the
// values picture.
#pragma once

#include "views/layout/values/values.h"

#include <cstdint>
#include <vector>

namespace pallascope::layout::values {

// What a cell shows. A cell that stands for several elements shows the worst: the order is from
// good to bad.
enum class Kind : std::uint8_t
{
    None, // no element is there
    Value,
    Undefined,
    Inf, // of either sign
    Nan
};

struct Counts
{
    std::int64_t values = 0, undefined = 0, inf = 0, nan = 0; // `values` are finite
    // Over the finite values; 0 if there is none.
    double least = 0, largest = 0, mean = 0;
    double leastMagnitude = 0; // of those that are not 0
};

// A rectangle of elements. A ref of rank 0 or 1 is wrapped into rows of at most 128 elements.
struct Plane
{
    std::int64_t first = 0; // the number of its first element in the array
    std::int64_t rows = 1, columns = 1;
    std::int64_t elements = 1; // fewer than rows * columns if the last row is not full

    // The number of an element in the array; -1 if there is none.
    [[nodiscard]] std::int64_t at(std::int64_t row, std::int64_t column) const
    {
        const std::int64_t number = row * columns + column;
        return row < 0 || column < 0 || column >= columns || number >= elements ? -1
                                                                                : first + number;
    }
};

// The plane in which an element lies, by the element's number in the array.
[[nodiscard]] Plane planeOf(const Shape& shape, std::int64_t element);

[[nodiscard]] Kind kindOf(const ValuesView& view, std::int64_t element);

// Over all elements, or over those of a plane.
[[nodiscard]] Counts countsOf(const ValuesView& view);
[[nodiscard]] Counts countsOf(const ValuesView& view, const Plane& plane);

struct Cell
{
    Kind kind = Kind::None;
    double value = 0; // the finite value that is farthest from 0; for Inf its sign
};

// The plane in cells of `side` x `side` elements, row-major.
struct Cells
{
    std::int64_t side = 1, rows = 0, columns = 0;
    std::vector<Cell> cells;
};

[[nodiscard]] Cells cellsOf(const ValuesView& view, const Plane& plane, std::int64_t side);

// The element to look at if nobody chose one: see ValuesChoice::element.
[[nodiscard]] std::int64_t notableElement(const ValuesView& view);

} // namespace pallascope::layout::values
