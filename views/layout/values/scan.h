// Looks through the elements of a ref: what kind each is, how many there are of each kind, and what
// a cell of several elements shows. Only for the values picture; it takes about a nanosecond for an
// element.
#pragma once

#include "core/base/array.h"
#include "views/layout/scene/theme.h"
#include "views/layout/values/plane.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::layout {

// The contents of a ref.
struct ValuesView
{
    std::string name;         // the author's name of the ref
    std::string memory;       // "VMEM"
    Array elements;           // without data none is defined
    SharedBytes defined;      // for each element: 1 or 0; null: all that have data
    SharedBytes arriving;     // 1: a copy that has not landed will write it; null: none
    Color color = Role::Vmem; // of the operand; magnitudes are shown in it
    Shape block;              // one extent for each axis: how the array is cut; rank 0: it is not
    std::string unknown;      // why its elements are not known, one sentence; empty: they are
};

} // namespace pallascope::layout

namespace pallascope::layout::values {

// What a cell shows. A cell that stands for several elements shows the worst: the order is from
// good to bad.
enum class Kind : std::uint8_t
{
    None, // no element is there
    Value,
    Arriving, // a copy that was issued and has not landed writes it
    Undefined,
    Inf, // of either sign
    Nan
};

struct Counts
{
    std::int64_t values = 0; // finite
    std::int64_t arriving = 0, undefined = 0, inf = 0, nan = 0;
    // Over the finite values; 0 if there is none.
    double least = 0, largest = 0, mean = 0;
    double leastMagnitude = 0; // of those that are not 0
};

[[nodiscard]] Kind kindOf(const ValuesView& view, std::int64_t element);
// The value of an element that is finite or Inf.
[[nodiscard]] double valueOf(const ValuesView& view, std::int64_t element);

[[nodiscard]] Counts countsOf(const ValuesView& view);

struct Cell
{
    Kind kind = Kind::None;
    double value = 0; // the finite value that is farthest from 0; for Inf its sign
    bool operator==(const Cell&) const = default;
};

// A region in cells of `side` x `side` elements, row-major.
struct Cells
{
    std::int64_t side = 1, rows = 0, columns = 0;
    std::vector<Cell> cells;
};

struct Scanned
{
    Cells cells;
    Counts counts;
};

[[nodiscard]] Scanned scan(const ValuesView& view, const Plane& plane, const Region& region,
                           std::int64_t side);

// The element to look at if nobody chose one: see ValuesChoice::element.
[[nodiscard]] std::int64_t notableElement(const ValuesView& view);

} // namespace pallascope::layout::values
