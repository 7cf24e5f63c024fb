#include "core/machine/value.h"

#include "core/machine/arith/elementwise.h"

#include <algorithm>
#include <cstring>

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

RuntimeValue RuntimeValue::zeros(DType dtype, Shape shape)
{
    RuntimeValue value = arrayOf(dtype, std::move(shape));
    if (value.data) {
        fillElements(dtype, value.data.get(), value.elements(), 0);
    }
    return value;
}

void fillElements(DType dtype, std::byte* data, std::int64_t count, double number)
{
    if (count == 0) {
        return;
    }
    writeElement(dtype, data, 0, number);
    const std::int64_t bytes = dtypeBytes(dtype);
    std::int64_t done = 1; // doubling copies: memcpy speed for any element size
    while (done < count) {
        const std::int64_t chunk = std::min(done, count - done);
        std::memcpy(data + done * bytes, data, static_cast<std::size_t>(chunk * bytes));
        done += chunk;
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
