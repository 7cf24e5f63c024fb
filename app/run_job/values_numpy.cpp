#include "app/run_job/values_numpy.h"

#include "core/base/element.h"
#include "core/base/format.h"
#include "core/kernel_file/npy.h"
#include "views/layout/values/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace pallascope::app {

namespace {

using layout::values::Kind;

bool isKnown(Kind kind)
{
    return kind == Kind::Value || kind == Kind::Inf || kind == Kind::Nan;
}

// "np.float32", "ml_dtypes.bfloat16", "np.bool_"
std::string dtypeText(DType dtype)
{
    if (dtype == DType::Bool) {
        return "np.bool_";
    }
    const std::string name(dtypeEntry(dtype).numpy);
    constexpr std::array kOfNumpy{"float32", "float16", "int8",  "uint8",
                                  "int16",   "uint16",  "int32", "uint32"};
    const bool isOfNumpy = std::find(kOfNumpy.begin(), kOfNumpy.end(), name) != kOfNumpy.end();
    return (isOfNumpy ? "np." : "ml_dtypes.") + name;
}

std::string elementText(const layout::ValuesView& view, std::int64_t element)
{
    const Kind kind = layout::values::kindOf(view, element);
    const double value = layout::values::valueOf(view, element);
    const DType dtype = view.elements.dtype;
    if (dtype == DType::Bool) {
        return value != 0 ? "True" : "False";
    }
    if (!isFloat(dtype)) {
        return fmt::format("{:.0f}", value);
    }
    if (kind != Kind::Value) {
        return kind != Kind::Inf ? "np.nan" : value > 0 ? "np.inf" : "-np.inf";
    }
    return fmt::format("{}", static_cast<float>(value)); // every dtype is exact in f32
}

// A list of lists; one list for an array of one axis.
template<class Text>
std::string listText(const layout::values::Plane& plane, const layout::values::Region& region,
                     bool isFlat, Text text)
{
    std::string rows;
    for (std::int64_t row = region.row; row < region.row + region.rows; ++row) {
        std::string columns;
        for (std::int64_t column = region.column; column < region.column + region.columns;
             ++column) {
            if (const std::optional<std::int64_t> element = plane.at(row, column)) {
                columns += (columns.empty() ? "" : ", ") + text(*element);
            }
        }
        rows += (rows.empty() ? ""
                 : isFlat     ? ", "
                              : ",\n ")
                + (isFlat ? columns : "[" + columns + "]");
    }
    return "[" + rows + "]";
}

// "out[0, 2098:2103, 2662:2667]"
std::string placeText(const layout::ValuesView& view, const layout::values::Plane& plane,
                      const layout::values::Region& region)
{
    const Shape& shape = view.elements.shape;
    if (shape.rank() == 0) {
        return view.name;
    }
    if (shape.rank() == 1) {
        const std::int64_t first = region.row * plane.columns + region.column;
        const std::int64_t last =
            (region.row + region.rows - 1) * plane.columns + region.column + region.columns - 1;
        const std::int64_t end = std::min(last + 1, plane.elements);
        const bool isRun = region.columns == plane.columns || region.rows == 1;
        return fmt::format("{}[{}:{}]{}", view.name, first, end, isRun ? "" : ", parts of it");
    }
    std::vector<std::int64_t> index = layout::indexOf(shape, plane.first);
    std::string outer;
    for (std::size_t axis = 0; axis + 2 < shape.rank(); ++axis) {
        outer += std::to_string(index[axis]) + ", ";
    }
    return fmt::format("{}[{}{}:{}, {}:{}]", view.name, outer, region.row, region.row + region.rows,
                       region.column, region.column + region.columns);
}

} // namespace

std::string numpyText(const layout::ValuesView& view, const layout::values::Plane& plane,
                      const layout::values::Region& region)
{
    const DType dtype = view.elements.dtype;
    const bool isFlat = view.elements.shape.rank() < 2;
    std::int64_t unknown = 0;
    const std::string mask = listText(plane, region, isFlat, [&](std::int64_t element) {
        const bool known = isKnown(layout::values::kindOf(view, element));
        unknown += known ? 0 : 1;
        return std::string(known ? "0" : "1");
    });
    const std::string elements = listText(
        plane, region, isFlat, [&](std::int64_t element) { return elementText(view, element); });
    std::string text = fmt::format("# {} in {}", placeText(view, plane, region), view.memory);
    if (unknown > 0) {
        text += fmt::format(", {} undefined or on {} way", countText(unknown),
                            unknown == 1 ? "its" : "their");
    }
    const bool isMasked = unknown > 0 && !isFloat(dtype);
    return text
           + (isMasked ? fmt::format("\nnp.ma.array({},\n mask={}, dtype={})\n", elements, mask,
                                     dtypeText(dtype))
                       : fmt::format("\nnp.array({}, dtype={})\n", elements, dtypeText(dtype)));
}

Result<std::string> npyBytes(const layout::ValuesView& view)
{
    const Array& from = view.elements;
    const std::int64_t count = from.shape.elements();
    Array whole = makeArray(from.dtype, from.shape);
    for (std::int64_t i = 0; i < count; ++i) {
        const Kind kind = layout::values::kindOf(view, i);
        if (isKnown(kind)) {
            writeCode(from.dtype, whole.data.get(), i, readCode(from.dtype, from.data.get(), i));
        } else if (isFloat(from.dtype)) {
            writeElement(from.dtype, whole.data.get(), i, std::numeric_limits<double>::quiet_NaN());
        } else {
            return userError(view.name
                             + " has elements that are undefined or have not arrived, "
                               "for which a .npy file of "
                             + std::string(dtypeName(from.dtype))
                             + " has no value; copy what is in sight as text, which masks them.");
        }
    }
    return kernel_file::npyHeader(from.dtype, from.shape)
           + std::string(reinterpret_cast<const char*>(whole.data.get()),
                         static_cast<std::size_t>(whole.byteCount()));
}

} // namespace pallascope::app
