#include "core/machine/value.h"

#include "core/base/check.h"
#include "core/machine/arith/elementwise.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace pallascope::machine {

Shadow Shadow::fromMask(SharedBytes mask, std::int64_t count)
{
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(mask.get());
    const auto size = static_cast<std::size_t>(count);
    if (count == 0 || std::memchr(bytes, 0, size) == nullptr) {
        return allDefined();
    }
    if (std::memchr(bytes, 1, size) == nullptr) {
        return noneDefined();
    }
    return {Kind::Some, std::move(mask)};
}

SharedBytes Shadow::expanded(std::int64_t count) const
{
    if (kind == Kind::Some) {
        return mask;
    }
    SharedBytes bytes = allocateBytes(count);
    std::memset(bytes.get(), all() ? 1 : 0, static_cast<std::size_t>(count));
    return bytes;
}

RuntimeValue RuntimeValue::scalarOf(DType dtype, double value)
{
    return {.dtype = dtype, .scalar = value};
}

RuntimeValue RuntimeValue::arrayOf(DType dtype, Shape shape)
{
    RuntimeValue value{.dtype = dtype, .shape = std::move(shape)};
    if (!value.isScalar()) {
        value.data = allocateBytes(value.elements() * dtypeBytes(dtype));
    }
    return value;
}

double undefinedScalar(DType dtype)
{
    switch (dtype) {
    case DType::F32:
    case DType::BF16:
        return std::numeric_limits<double>::quiet_NaN();
    case DType::Int32:
        return static_cast<double>(std::numeric_limits<std::int32_t>::max());
    case DType::Bool:
        return 1;
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

void fillUndefined(DType dtype, std::byte* data, std::int64_t count)
{
    const auto size = static_cast<std::size_t>(count);
    switch (dtype) {
    case DType::F32:
        std::fill_n(reinterpret_cast<std::uint32_t*>(data), size, 0x7fc0'0000U);
        return;
    case DType::BF16:
        std::fill_n(reinterpret_cast<std::uint16_t*>(data), size, std::uint16_t{0x7fc0});
        return;
    case DType::Int32:
        std::fill_n(reinterpret_cast<std::int32_t*>(data), size,
                    std::numeric_limits<std::int32_t>::max());
        return;
    case DType::Bool:
        std::memset(data, 1, size);
        return;
    }
}

double readElement(DType dtype, const std::byte* data, std::int64_t index)
{
    switch (dtype) {
    case DType::F32:
        return static_cast<double>(reinterpret_cast<const float*>(data)[index]);
    case DType::BF16:
        return static_cast<double>(
            bf16ToFloat(reinterpret_cast<const std::uint16_t*>(data)[index]));
    case DType::Int32:
        return static_cast<double>(reinterpret_cast<const std::int32_t*>(data)[index]);
    case DType::Bool:
        return reinterpret_cast<const std::uint8_t*>(data)[index];
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

void writeElement(DType dtype, std::byte* data, std::int64_t index, double value)
{
    switch (dtype) {
    case DType::F32:
        reinterpret_cast<float*>(data)[index] = static_cast<float>(value);
        return;
    case DType::BF16:
        reinterpret_cast<std::uint16_t*>(data)[index] = floatToBf16(static_cast<float>(value));
        return;
    case DType::Int32:
        reinterpret_cast<std::int32_t*>(data)[index] = static_cast<std::int32_t>(value);
        return;
    case DType::Bool:
        reinterpret_cast<std::uint8_t*>(data)[index] = value != 0 ? 1 : 0;
        return;
    }
}

namespace {

struct Walk
{
    const std::byte* source;
    std::byte* target;
    const StridedView& from;
    const StridedView& to;
    std::int64_t elementBytes;

    void run(std::size_t axis, std::int64_t sourceAt, std::int64_t targetAt) const
    {
        const std::size_t rank = from.shape.rank();
        const std::int64_t left = static_cast<std::int64_t>(rank - axis);
        if (left <= 2 && rank > 0 && from.strides[rank - 1] == 1 && to.strides[rank - 1] == 1) {
            const std::int64_t rows = left == 2 ? from.shape[axis] : 1;
            const std::int64_t bytes = from.shape[rank - 1] * elementBytes;
            const std::int64_t sourceStride = left == 2 ? from.strides[axis] * elementBytes : bytes;
            const std::int64_t targetStride = left == 2 ? to.strides[axis] * elementBytes : bytes;
            arith::copyRows(source + sourceAt * elementBytes, sourceStride,
                            target + targetAt * elementBytes, targetStride, rows, bytes);
            return;
        }
        if (left == 0) {
            std::memcpy(target + targetAt * elementBytes, source + sourceAt * elementBytes,
                        static_cast<std::size_t>(elementBytes));
            return;
        }
        for (Extent i = 0; i < from.shape[axis]; ++i) {
            run(axis + 1, sourceAt + i * from.strides[axis], targetAt + i * to.strides[axis]);
        }
    }
};

void fillFrom(std::byte* target, const StridedView& to, std::size_t axis, std::int64_t at,
              std::uint8_t value)
{
    const std::size_t rank = to.shape.rank();
    if (axis + 1 == rank && to.strides[axis] == 1) {
        std::memset(target + at, value, static_cast<std::size_t>(to.shape[axis]));
        return;
    }
    if (axis == rank) {
        target[at] = static_cast<std::byte>(value);
        return;
    }
    for (Extent i = 0; i < to.shape[axis]; ++i) {
        fillFrom(target, to, axis + 1, at + i * to.strides[axis], value);
    }
}

} // namespace

void copyStrided(const std::byte* source, const StridedView& from, std::byte* target,
                 const StridedView& to, int elementBytes)
{
    Walk{source, target, from, to, elementBytes}.run(0, from.offset, to.offset);
}

void fillStrided(std::byte* target, const StridedView& to, std::uint8_t value)
{
    fillFrom(target, to, 0, to.offset, value);
}

} // namespace pallascope::machine
