// Gather, scatter and sort: elements whose places are known only at run time.
#include "core/base/element.h"
#include "core/machine/ops/lanes.h"
#include "core/machine/ops/ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace pallascope::machine::ops {

namespace {

// The value for an index outside the array: NaN, the smallest signed or largest unsigned integer,
// true.
double gatherFiller(DType dtype)
{
    if (isFloat(dtype)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return dtypeEntry(dtype).kind == DTypeKind::Signed ? lowestNumber(dtype) : highestNumber(dtype);
}

} // namespace

RuntimeValue gather(const Call& call)
{
    const auto& [axisNumber, mode] = call.params<ir::GatherParams>();
    const RuntimeValue &input = call.operand(0), &indices = call.operand(1);
    const auto axis = static_cast<std::size_t>(axisNumber);
    std::vector<Extent> extents = indices.shape.extents();
    extents.pop_back();
    RuntimeValue result = RuntimeValue::arrayOf(input.dtype, Shape(extents));
    const std::int64_t count = result.elements(), inner = rowMajorStrides(result.shape)[axis];
    const Extent length = input.shape[axis], picks = extents[axis];
    const auto bytes = static_cast<std::size_t>(dtypeBytes(input.dtype));
    const bool partial = !input.shadow.all() || !indices.shadow.all();
    const SharedBytes known = partial ? input.shadow.expanded(input.elements()) : nullptr,
                      wanted = partial ? indices.shadow.expanded(count) : nullptr,
                      mask = partial ? allocateBytes(count) : nullptr;
    std::byte filler[kMostLaneBytes];
    writeElement(input.dtype, filler, 0, gatherFiller(input.dtype));
    for (std::int64_t i = 0; i < count; ++i) {
        auto at = static_cast<std::int64_t>(readElement(indices.dtype, indices.data.get(), i));
        const bool outside = at < 0 || at >= length;
        const bool fills = outside && (mode == ir::GatherMode::FillOrDrop || length == 0);
        at = std::clamp<std::int64_t>(at, 0, std::max<std::int64_t>(length - 1, 0));
        const std::int64_t source = (i / inner / picks * length + at) * inner + i % inner;
        const std::byte* from =
            fills ? filler : input.data.get() + source * static_cast<std::int64_t>(bytes);
        std::memcpy(result.data.get() + i * static_cast<std::int64_t>(bytes), from, bytes);
        if (partial) {
            mask[i] = wanted[i] & (fills ? std::byte{1} : known[source]);
        }
    }
    result.shadow = partial ? Shadow::fromMask(mask, count) : Shadow::allDefined();
    return result;
}

namespace {

// Integers wrap around, NaN stays NaN.
void combineInto(DType dtype, std::byte* data, std::int64_t to, const std::byte* updates,
                 std::int64_t from, ir::Combine combine)
{
    const double a = readElement(dtype, data, to), b = readElement(dtype, updates, from);
    const bool nan = std::isnan(a) || std::isnan(b);
    const bool adds = combine == ir::Combine::Add;
    switch (combine) {
    case ir::Combine::Replace:
        writeCode(dtype, data, to, readCode(dtype, updates, from));
        return;
    case ir::Combine::Add:
    case ir::Combine::Mul:
        if (isFloat(dtype)) {
            writeElement(dtype, data, to, adds ? a + b : a * b);
        } else {
            const auto x = static_cast<std::uint64_t>(static_cast<std::int64_t>(a)),
                       y = static_cast<std::uint64_t>(static_cast<std::int64_t>(b));
            const std::uint64_t mask = (std::uint64_t{1} << dtypeBits(dtype)) - 1;
            writeCode(dtype, data, to, static_cast<std::uint32_t>((adds ? x + y : x * y) & mask));
        }
        return;
    case ir::Combine::Min:
    case ir::Combine::Max:
        const double best = combine == ir::Combine::Min ? std::min(a, b) : std::max(a, b);
        writeElement(dtype, data, to, nan ? std::numeric_limits<double>::quiet_NaN() : best);
        return;
    }
}

} // namespace

RuntimeValue scatter(const Call& call)
{
    const auto& [axisNumber, combine, mode] = call.params<ir::ScatterParams>();
    const RuntimeValue &input = call.operand(0), &indices = call.operand(1),
                       &updates = call.operand(2);
    const auto axis = static_cast<std::size_t>(axisNumber);
    RuntimeValue result = RuntimeValue::arrayOf(input.dtype, input.shape);
    const std::int64_t count = result.elements(), inner = rowMajorStrides(input.shape)[axis];
    std::memcpy(result.data.get(), input.data.get(),
                static_cast<std::size_t>(count * dtypeBytes(input.dtype)));
    const Extent length = input.shape[axis], puts = updates.shape[axis];
    const bool partial = !input.shadow.all() || !updates.shadow.all();
    SharedBytes mask = partial ? allocateBytes(count) : nullptr;
    if (partial) {
        std::copy_n(input.shadow.expanded(count).get(), count, mask.get());
    }
    const SharedBytes known = partial ? updates.shadow.expanded(updates.elements()) : nullptr;
    for (std::int64_t i = 0; i < updates.elements(); ++i) {
        auto at = static_cast<std::int64_t>(readElement(indices.dtype, indices.data.get(), i));
        if (at < 0 || at >= length) {
            if (mode != ir::GatherMode::Clip || length == 0) {
                continue;
            }
            at = std::clamp<std::int64_t>(at, 0, length - 1);
        }
        const std::int64_t to = (i / inner / puts * length + at) * inner + i % inner;
        combineInto(input.dtype, result.data.get(), to, updates.data.get(), i, combine);
        if (partial) {
            mask[to] = combine == ir::Combine::Replace ? known[i] : mask[to] & known[i];
        }
    }
    // An undefined index could write anywhere, so that then no element is defined.
    result.shadow = !indices.shadow.all() ? Shadow::noneDefined()
                    : partial             ? Shadow::fromMask(std::move(mask), count)
                                          : Shadow::allDefined();
    return result;
}

namespace {

// The sorted order of one line of elements that starts at `begin` and has the given stride. The
// sort is stable, puts NaN last, and compares the first key before the others.
std::vector<std::int64_t> sorted(const Call& call, std::int64_t begin, std::int64_t stride,
                                 std::int64_t length)
{
    const auto keys = static_cast<std::size_t>(call.params<ir::SortParams>().keys);
    std::vector<std::vector<double>> values(keys);
    for (std::size_t key = 0; key < keys; ++key) {
        const RuntimeValue& operand = call.operand(key);
        for (std::int64_t i = 0; i < length; ++i) {
            values[key].push_back(
                readElement(operand.dtype, operand.data.get(), begin + i * stride));
        }
    }
    const auto isLess = [&](std::int64_t a, std::int64_t b) {
        for (const std::vector<double>& key : values) {
            const double x = key[static_cast<std::size_t>(a)], y = key[static_cast<std::size_t>(b)];
            if (std::isnan(x) != std::isnan(y)) {
                return std::isnan(y);
            }
            if (x < y || x > y) {
                return x < y;
            }
        }
        return false;
    };
    std::vector<std::int64_t> order(static_cast<std::size_t>(length));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), isLess);
    return order;
}

} // namespace

RuntimeValue sort(const Call& call)
{
    const auto& [axisNumber, keys] = call.params<ir::SortParams>();
    const RuntimeValue& wanted = call.operand(call.result);
    const auto axis = static_cast<std::size_t>(axisNumber);
    RuntimeValue result = RuntimeValue::arrayOf(wanted.dtype, wanted.shape);
    const std::int64_t count = result.elements(), length = wanted.shape[axis],
                       stride = rowMajorStrides(wanted.shape)[axis],
                       bytes = dtypeBytes(wanted.dtype);
    bool partial = !wanted.shadow.all();
    for (std::size_t key = 0; key < static_cast<std::size_t>(keys); ++key) {
        partial = partial || !call.operand(key).shadow.all();
    }
    const SharedBytes from = partial ? wanted.shadow.expanded(count) : nullptr,
                      mask = partial ? allocateBytes(count) : nullptr;
    for (std::int64_t line = 0; line < (length == 0 ? 0 : count / length); ++line) {
        const std::int64_t begin = line / stride * stride * length + line % stride;
        const std::vector<std::int64_t> order = sorted(call, begin, stride, length);
        bool known = true; // an element with an undefined key could end up anywhere
        for (std::size_t key = 0; partial && key < static_cast<std::size_t>(keys); ++key) {
            const SharedBytes defined = call.operand(key).shadow.expanded(count);
            for (std::int64_t i = 0; i < length; ++i) {
                known = known && defined[begin + i * stride] != std::byte{0};
            }
        }
        for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t to = begin + i * stride,
                               source = begin + order[static_cast<std::size_t>(i)] * stride;
            std::memcpy(result.data.get() + to * bytes, wanted.data.get() + source * bytes,
                        static_cast<std::size_t>(bytes));
            if (partial) {
                mask[to] = known ? from[source] : std::byte{0};
            }
        }
    }
    result.shadow = partial ? Shadow::fromMask(mask, count) : Shadow::allDefined();
    return result;
}

} // namespace pallascope::machine::ops
