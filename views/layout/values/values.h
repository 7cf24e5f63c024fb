// Draws what a ref holds at one moment: a heat map of the last two axes, a legend with what is in
// sight, and numbers around one element. The Values dock shows this picture, and `pallascope state
// --ref NAME --heat FILE` writes it. It is made in two steps, because looking through millions of
// elements belongs on a thread of its own: sightOf() reads the elements, layoutSight() draws.
#pragma once

#include "core/base/array.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"
#include "views/layout/values/plane.h"
#include "views/layout/values/resident.h"
#include "views/layout/values/scan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout {

enum class ValuesScale : std::uint8_t
{
    Range, // from the least to the largest value; diverging from 0 if both signs occur
    Log    // by the logarithm of the magnitude
};

// What the colours span. Widened by every picture that is drawn with it, it keeps the meaning of a
// colour from step to step.
struct ValuesRange
{
    double least = 0, largest = 0;
    double leastMagnitude = 0; // of those that are not 0; 0 if all are
    bool operator==(const ValuesRange&) const = default;
};

struct ValuesChoice
{
    // An index of one element. The heat map shows the plane of the last two axes in which it lies,
    // and the numbers are those around it. None: the first NaN, else the first Inf, else the first
    // element.
    std::optional<std::vector<std::int64_t>> element;
    ValuesScale scale = ValuesScale::Range;
    // Elements on a side of a cell. 0: as many as it takes to show the whole plane.
    std::int64_t side = 0;
    // The row and column of the plane that the picture begins with, where not all of it fits. None:
    // the element is in the middle.
    std::optional<std::pair<std::int64_t, std::int64_t>> corner;
    bool operator==(const ValuesChoice&) const = default;
};

// A number of the table around the element.
struct ValuesNumber
{
    values::Kind kind = values::Kind::None;
    double value = 0; // meant for numbers and Inf alone
};

// What a picture shows, without the elements that it does not.
struct ValuesSight
{
    std::string name, memory, unknown;
    DType dtype = DType::F32;
    Shape shape, block;
    Color color = Role::Vmem;
    Size size;
    std::int64_t element = 0; // its number in the array
    values::Plane plane;
    values::Frame frame;
    values::Counts all;     // of the whole ref
    values::Counts inSight; // of the heat map
    values::Cells cells;
    std::vector<ValuesNumber> numbers; // row-major
    // What follows is known only where there is a trace. The row of Info::operands that the ref is
    // or is cut by at that moment; -1: none.
    std::int32_t operand = -1;
    std::vector<values::Resident> resident; // of an array: the parts that are in VMEM
    // Of the same region of the same ref at the same place of the run that is kept to compare with.
    std::optional<values::Counts> kept;
};

// Looks through the elements. `all`: the counts of the whole ref if they are known already.
[[nodiscard]] ValuesSight sightOf(const ValuesView& view, const ValuesChoice& choice, Size size,
                                  const std::optional<values::Counts>& all = {});

// The least range with all values in sight; nothing if there is none. `held` is a part of it.
[[nodiscard]] std::optional<ValuesRange> rangeOf(const ValuesSight& sight,
                                                 const std::optional<ValuesRange>& held = {});

// The scene without its head, which withHeader() adds. The caption says what the whole ref holds.
// An element that is undefined, that has not arrived, or that no element stands for is never shown
// as a number. The colours span rangeOf(sight, held).
[[nodiscard]] Scene layoutSight(const ValuesSight& sight, ValuesScale scale,
                                const std::optional<ValuesRange>& held = {});

[[nodiscard]] Scene layoutValues(const ValuesView& view, const ValuesChoice& choice, Size size);

// The element under a point of the scene: of a cell that stands for several, the one nearest to the
// point. None where no element is.
[[nodiscard]] std::optional<std::int64_t> elementAt(const ValuesSight& sight, double x, double y);

// The index of an element by its number, and the number by an index, which is clamped to the shape.
[[nodiscard]] std::vector<std::int64_t> indexOf(const Shape& shape, std::int64_t element);
[[nodiscard]] std::int64_t numberOf(const Shape& shape, const std::vector<std::int64_t>& index);

// One number as the table writes it, with as many digits as the dtype holds.
[[nodiscard]] std::string valueText(const ValuesNumber& number, DType dtype);

} // namespace pallascope::layout
