#include "views/layout/values/difference.h"

#include "core/base/check.h"

#include <limits>

namespace pallascope::layout::values {

ValuesView differenceOf(const ValuesView& from, const ValuesView& subtracted)
{
    const Shape& shape = from.elements.shape;
    PALLASCOPE_CHECK(shape == subtracted.elements.shape);
    const std::int64_t count = shape.elements();
    ValuesView view{.name = from.name + " − " + subtracted.name,
                    .memory = from.memory == subtracted.memory
                                  ? from.memory
                                  : from.memory + " and " + subtracted.memory,
                    .elements = makeArray(DType::F32, shape),
                    .defined = allocateBytes(count),
                    .arriving = allocateBytes(count),
                    .color = from.color,
                    .block = from.block,
                    .unknown = from.unknown.empty() ? subtracted.unknown : from.unknown};
    for (std::int64_t i = 0; view.unknown.empty() && i < count; ++i) {
        const Kind a = kindOf(from, i), b = kindOf(subtracted, i);
        const auto either = [&](Kind kind) { return a == kind || b == kind; };
        view.arriving[i] = std::byte{either(Kind::Arriving)};
        view.defined[i] = std::byte{!either(Kind::Undefined)};
        view.elements.as<float>()[i] =
            either(Kind::Nan) ? std::numeric_limits<float>::quiet_NaN()
                              : static_cast<float>(valueOf(from, i) - valueOf(subtracted, i));
    }
    return view;
}

} // namespace pallascope::layout::values
