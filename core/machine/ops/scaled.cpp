#include "core/machine/ops/scaled.h"

#include <cmath>
#include <limits>

namespace pallascope::machine {

namespace {

float scaleOf(const RuntimeValue& scales, std::int64_t element)
{
    constexpr int kBias = 127, kNan = 255;
    const double number = readElement(scales.dtype, scales.data.get(), element);
    if (scales.dtype != DType::UInt8) {
        return static_cast<float>(number);
    }
    const int code = static_cast<int>(number);
    return code == kNan ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0F, code - kBias);
}

} // namespace

RuntimeValue scaled(const RuntimeValue& factor, const RuntimeValue& scales, std::size_t contracted)
{
    const RuntimeValue from = factor.dense(), by = scales.dense();
    const Extent rows = from.shape[0], columns = from.shape[1];
    const Extent shared = from.shape[contracted] / by.shape[1];
    RuntimeValue result = RuntimeValue::arrayOf(DType::F32, from.shape);
    const bool isPartly = !from.shadow.all() || !by.shadow.all();
    SharedBytes mask = isPartly ? allocateBytes(from.elements()) : nullptr;
    for (Extent row = 0; row < rows; ++row) {
        for (Extent column = 0; column < columns; ++column) {
            const Extent element = row * columns + column;
            const Extent along = contracted == 1 ? column : row;
            const Extent across = contracted == 1 ? row : column;
            const Extent scale = across * by.shape[1] + along / shared;
            const double number = readElement(from.dtype, from.data.get(), element);
            result.as<float>()[element] = static_cast<float>(number) * scaleOf(by, scale);
            if (isPartly) {
                mask.get()[element] =
                    std::byte{from.shadow.defines(element) && by.shadow.defines(scale)};
            }
        }
    }
    if (isPartly) {
        result.shadow = Shadow::fromMask(std::move(mask), from.elements());
    }
    return result;
}

} // namespace pallascope::machine
