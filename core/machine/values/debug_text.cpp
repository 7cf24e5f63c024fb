#include "core/machine/values/debug_text.h"

#include "core/base/element.h"

#include <algorithm>
#include <cstdio>

namespace pallascope::machine {

namespace {

constexpr Extent kShownEnds = 3; // of an axis that is cut

std::string numberText(DType dtype, double number)
{
    if (dtype == DType::Bool) {
        return number != 0 ? "True" : "False";
    }
    char text[32];
    const char* const format = isFloat(dtype) ? "%.9g" : "%.0f";
    std::snprintf(text, sizeof(text), format, number);
    return text;
}

void appendAxis(std::string& text, const RuntimeValue& value, const SharedBytes& defined,
                std::size_t axis, std::int64_t offset)
{
    if (axis == value.shape.rank()) {
        text += defined[offset] == std::byte{0}
                    ? "?"
                    : numberText(value.dtype, readElement(value.dtype, value.data.get(), offset));
        return;
    }
    const Extent extent = value.shape[axis];
    const std::int64_t stride = rowMajorStrides(value.shape)[axis];
    text += "[";
    for (Extent i = 0; i < extent; ++i) {
        text += i > 0 ? " " : "";
        if (i == kShownEnds && extent > 2 * kShownEnds) {
            text += "... ";
            i = extent - kShownEnds;
        }
        appendAxis(text, value, defined, axis + 1, offset + i * stride);
    }
    text += "]";
}

std::string valueText(const RuntimeValue& value)
{
    if (value.isScalar()) {
        return value.shadow.all() ? numberText(value.dtype, value.scalar) : "?";
    }
    std::string text;
    appendAxis(text, value, value.shadow.expanded(value.elements()), 0, 0);
    return text;
}

} // namespace

std::string debugText(const std::string& format, std::span<const RuntimeValue* const> values)
{
    std::string text;
    std::size_t next = 0;
    for (std::size_t i = 0; i < format.size(); ++i) {
        const bool doubled = i + 1 < format.size() && format[i + 1] == format[i];
        if (format[i] == '{' && !doubled && next < values.size()) {
            text += valueText(*values[next++]);
            i = std::min(format.find('}', i), format.size() - 1);
            continue;
        }
        text += format[i];
        if (doubled && (format[i] == '{' || format[i] == '}')) {
            ++i;
        }
    }
    for (; next < values.size(); ++next) {
        text += (text.empty() ? "" : " ") + valueText(*values[next]);
    }
    return text;
}

} // namespace pallascope::machine
