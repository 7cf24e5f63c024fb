#include "core/machine/values/value.h"

#include "core/base/check.h"
#include "core/machine/arith/elementwise.h"

#include <algorithm>
#include <array>
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

RuntimeValue RuntimeValue::dense() const
{
    if (pitch == 0) {
        return *this;
    }
    RuntimeValue copy = arrayOf(dtype, shape);
    copyStrided(data.get(), {0, shape, {pitch, 1}}, copy.data.get(), StridedView::whole(shape),
                dtypeBytes(dtype));
    return copy;
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

// All are written, so that vectors need not branch.
template<class Element>
void fillWhereZero(std::byte* data, const std::uint8_t* mask, std::int64_t count,
                   std::uint32_t code)
{
    auto* elements = reinterpret_cast<Element*>(data);
    const auto filled = static_cast<Element>(code);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        elements[i] = mask[i] != 0 ? elements[i] : filled;
    }
}

// Elements of one size on their way, with axes joined where both sides go on without a gap.
template<class Element>
struct Walk
{
    const std::byte* source;
    std::byte* target;
    const Extents &extents, &from, &to; // strides in elements

    void run(std::size_t axis, std::int64_t sourceAt, std::int64_t targetAt) const
    {
        const std::size_t left = extents.size() - axis;
        if (left <= 2 && from.back() == 1 && to.back() == 1) {
            rows(axis, sourceAt, targetAt);
        } else if (left == 2 && from[axis] == 1 && to.back() == 1) {
            transposed(axis, sourceAt, targetAt);
        } else if (left == 1) {
            line(extents[axis], sourceAt, from[axis], targetAt, to[axis]);
        } else {
            for (Extent i = 0; i < extents[axis]; ++i) {
                run(axis + 1, sourceAt + i * from[axis], targetAt + i * to[axis]);
            }
        }
    }

private:
    static constexpr std::int64_t kBytes = sizeof(Element);

    void rows(std::size_t axis, std::int64_t sourceAt, std::int64_t targetAt) const
    {
        const bool two = axis + 1 < extents.size();
        const std::int64_t bytes = extents.back() * kBytes;
        arith::copyRows(source + sourceAt * kBytes, two ? from[axis] * kBytes : bytes,
                        target + targetAt * kBytes, two ? to[axis] * kBytes : bytes,
                        two ? extents[axis] : 1, bytes);
    }

    // In squares, so that both sides stay in the cache.
    void transposed(std::size_t axis, std::int64_t sourceAt, std::int64_t targetAt) const
    {
        constexpr Extent kSide = 32;
        for (Extent column = 0; column < extents[axis + 1]; column += kSide) {
            const Extent width = std::min(kSide, extents[axis + 1] - column);
            for (Extent row = 0; row < extents[axis]; ++row) {
                line(width, sourceAt + row + column * from[axis + 1], from[axis + 1],
                     targetAt + row * to[axis] + column, 1);
            }
        }
    }

    void line(Extent count, std::int64_t sourceAt, std::int64_t sourceStride, std::int64_t targetAt,
              std::int64_t targetStride) const
    {
        if (sourceStride == 0 && targetStride == 1) {
            return fill(target + targetAt * kBytes, read(sourceAt), count);
        }
        for (Extent i = 0; i < count; ++i) {
            write(targetAt + i * targetStride, read(sourceAt + i * sourceStride));
        }
    }

    static void fill(std::byte* to, Element element, Extent count)
    {
        constexpr Extent kAtOnce = 64 / kBytes; // a length that the compiler knows: vectors
        std::array<Element, 64 / sizeof(Element)> elements;
        elements.fill(element);
        for (; count >= kAtOnce; count -= kAtOnce, to += sizeof elements) {
            std::memcpy(to, elements.data(), sizeof elements);
        }
        std::memcpy(to, elements.data(), static_cast<std::size_t>(count * kBytes));
    }

    [[nodiscard]] Element read(std::int64_t at) const
    {
        Element element;
        std::memcpy(&element, source + at * kBytes, sizeof element);
        return element;
    }

    void write(std::int64_t at, Element element) const
    {
        std::memcpy(target + at * kBytes, &element, sizeof element);
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

void fillUndefined(DType dtype, std::byte* data, const std::uint8_t* mask, std::int64_t count,
                   double number)
{
    std::byte element[4] = {};
    writeElement(dtype, element, 0, number);
    const std::uint32_t code = readCode(dtype, element, 0);
    switch (dtypeBytes(dtype)) {
    case 1:
        return fillWhereZero<std::uint8_t>(data, mask, count, code);
    case 2:
        return fillWhereZero<std::uint16_t>(data, mask, count, code);
    default:
        fillWhereZero<std::uint32_t>(data, mask, count, code);
    }
}

void copyStrided(const std::byte* source, const StridedView& from, std::byte* target,
                 const StridedView& to, int elementBytes)
{
    Extents extents, reads, writes;
    for (std::size_t axis = 0; axis < from.shape.rank(); ++axis) {
        const Extent extent = from.shape[axis];
        if (extent == 0) {
            return;
        }
        if (extent == 1) {
            continue;
        }
        if (!extents.empty() && reads.back() == extent * from.strides[axis]
            && writes.back() == extent * to.strides[axis]) {
            const std::size_t last = extents.size() - 1;
            extents[last] *= extent;
            reads[last] = from.strides[axis];
            writes[last] = to.strides[axis];
            continue;
        }
        extents.push_back(extent);
        reads.push_back(from.strides[axis]);
        writes.push_back(to.strides[axis]);
    }
    if (extents.empty()) {
        extents.push_back(1);
        reads.push_back(1);
        writes.push_back(1);
    }
    switch (elementBytes) {
    case 1:
        return Walk<std::uint8_t>{source, target, extents, reads, writes}.run(0, from.offset,
                                                                              to.offset);
    case 2:
        return Walk<std::uint16_t>{source, target, extents, reads, writes}.run(0, from.offset,
                                                                               to.offset);
    case 4:
        return Walk<std::uint32_t>{source, target, extents, reads, writes}.run(0, from.offset,
                                                                               to.offset);
    default:
        PALLASCOPE_CHECK(false && "elements of 1, 2 or 4 bytes");
    }
}

void fillStrided(std::byte* target, const StridedView& to, std::uint8_t value)
{
    fillFrom(target, to, 0, to.offset, value);
}

} // namespace pallascope::machine
