// Makes views of refs, loads and stores through them, and works out which elements of a buffer
// they reach.
#include "core/machine/memory/refs.h"

#include "core/base/bitcast.h"
#include "core/base/check.h"
#include "core/machine/memory/recasts.h"
#include "core/machine/ops/evaluate.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace pallascope::machine {

namespace {

RefBinding withRecast(RefBinding ref, const Shape& memory, DType dtype, const Shape& shape)
{
    if (ref.whole) {
        ref.view = StridedView::whole(memory);
        ref.whole = false;
    }
    ref.recasts.push_back({dtype, shape, StridedView::whole(shape)});
    return ref;
}

// Converts between a scalar and an array of one element.
RuntimeValue withRank(RuntimeValue value, const Shape& shape)
{
    if (value.isScalar() && shape.rank() > 0) {
        RuntimeValue array = RuntimeValue::arrayOf(value.dtype, shape);
        writeElement(value.dtype, array.data.get(), 0, value.scalar);
        array.shadow = value.shadow;
        return array;
    }
    if (!value.isScalar() && shape.rank() == 0) {
        RuntimeValue scalar =
            RuntimeValue::scalarOf(value.dtype, readElement(value.dtype, value.data.get(), 0));
        scalar.shadow = value.shadow;
        return scalar;
    }
    value.shape = shape;
    return value;
}

RuntimeValue cast(RuntimeValue value, DType dtype, const Shape& shape)
{
    if (value.dtype != dtype) {
        const ir::Operation bitcast{.code = ir::OpCode::Bitcast, .params = ir::DTypeParams{dtype}};
        RuntimeValue* operand = &value;
        value = evaluate(bitcast, {&operand, 1}, 0);
    }
    return withRank(std::move(value), shape);
}

// The inverse of the cast. `shape` is the shape before it: a bitcast packed or unpacked the rows
// of that shape before the elements got their present one.
RuntimeValue castBack(RuntimeValue value, DType dtype, const Shape& shape)
{
    if (dtypeBits(value.dtype) != dtypeBits(dtype)) {
        const Result<Shape> rows = bitcastShape(shape, dtype, value.dtype);
        PALLASCOPE_CHECK(rows && rows->elements() == value.elements());
        value = withRank(std::move(value), *rows);
    }
    return cast(std::move(value), dtype, shape);
}

} // namespace

StridedView viewOf(const RefBinding& ref, const Shape& memory)
{
    if (!ref.recasts.empty()) {
        return ref.recasts.back().view;
    }
    return ref.whole ? StridedView::whole(memory) : ref.view;
}

const Shape& shapeOf(const RefBinding& ref, const Shape& memory)
{
    if (!ref.recasts.empty()) {
        return ref.recasts.back().view.shape;
    }
    return ref.whole ? memory : ref.view.shape;
}

std::int64_t offsetOf(const RefBinding& ref)
{
    std::int64_t offset = ref.whole ? 0 : ref.view.offset;
    const StridedView* below = &ref.view;
    for (const RefBinding::Recast& recast : ref.recasts) {
        const Extent count = std::max<Extent>(1, recast.shape.elements());
        offset += recast.view.offset * below->shape.elements() / count;
        below = &recast.view;
    }
    return offset;
}

RefBinding narrowed(const RefBinding& ref, const Shape& memory, std::span<const Window> windows)
{
    PALLASCOPE_CHECK(windows.size() == shapeOf(ref, memory).rank());
    if (ref.recasts.empty()) { // the usual case; it does not copy the current view
        StridedView view = ref.whole ? part(0, rowMajorStrides(memory), windows)
                                     : part(ref.view.offset, ref.view.strides, windows);
        return {ref.buffer, false, std::move(view), {}, ref.asked};
    }
    if (std::optional<RefBinding> below = narrowedBelow(ref, windows)) {
        return std::move(*below);
    }
    const StridedView& seen = ref.recasts.back().view;
    return withView(ref, part(seen.offset, seen.strides, windows));
}

RefBinding boxOf(const RefBinding& ref, const Shape& memory, const Box& box)
{
    std::vector<Window> windows;
    for (std::size_t axis = 0; axis < box.start.size(); ++axis) {
        windows.push_back({box.start[axis], box.size[axis], 1, true});
    }
    return narrowed(ref, memory, windows);
}

RefBinding transposed(const RefBinding& ref, const Shape& memory,
                      const std::vector<std::int32_t>& permutation)
{
    const StridedView from = viewOf(ref, memory);
    StridedView to{from.offset, {}, {}};
    Extents extents;
    for (const std::int32_t axis : permutation) {
        extents.push_back(from.shape[static_cast<std::size_t>(axis)]);
        to.strides.push_back(from.strides[static_cast<std::size_t>(axis)]);
    }
    to.shape = Shape(std::move(extents));
    return withView(ref, std::move(to));
}

RefBinding reshaped(const RefBinding& ref, const Shape& memory, DType dtype, const Shape& shape)
{
    const StridedView from = viewOf(ref, memory);
    if (from.isContiguous()) {
        return withView(ref, {from.offset, shape, rowMajorStrides(shape)});
    }
    return withRecast(ref, memory, dtype, shape);
}

RefBinding bitcasted(const RefBinding& ref, const Shape& memory, DType dtype, const Shape& shape)
{
    return withRecast(ref, memory, dtype, shape);
}

RuntimeValue loadThrough(const RefBinding& ref, const Buffer& memory)
{
    RuntimeValue value = ref.whole ? memory.loadAll() : memory.load(ref.view, ref.view.shape);
    for (const RefBinding::Recast& recast : ref.recasts) {
        value = Buffer(cast(std::move(value), recast.dtype, recast.shape), memory.fill())
                    .load(recast.view, recast.view.shape);
    }
    return value;
}

void storeThrough(const RefBinding& ref, Buffer& memory, RuntimeValue value)
{
    if (ref.recasts.empty()) {
        ref.whole ? memory.storeAll(std::move(value)) : memory.store(ref.view, std::move(value));
        return;
    }
    const StridedView view = ref.whole ? StridedView::whole(memory.shape()) : ref.view;
    // The first loop applies the recasts in order and keeps what each one sees. The second stores
    // the new elements into the last one and casts them back, one recast after another, towards
    // the memory.
    std::vector<Buffer> seen;
    std::vector<std::pair<DType, Shape>> before;
    RuntimeValue inner = memory.load(view, view.shape);
    for (const RefBinding::Recast& recast : ref.recasts) {
        before.emplace_back(inner.dtype, inner.shape);
        seen.emplace_back(cast(std::move(inner), recast.dtype, recast.shape), memory.fill());
        inner = seen.back().load(recast.view, recast.view.shape);
    }
    for (std::size_t i = seen.size(); i-- > 0;) {
        seen[i].store(ref.recasts[i].view, std::move(value));
        value = castBack(seen[i].loadAll(), before[i].first, before[i].second);
    }
    memory.store(view, std::move(value));
}

namespace {

// The position of an element along each axis.
Extents positionOf(std::int64_t element, const Extents& strides)
{
    Extents position;
    for (const std::int64_t stride : strides) {
        position.push_back(element / stride);
        element %= stride;
    }
    return position;
}

// Appends, in order, the boxes that make up the elements [first, end). `reach` holds the axes
// before `axis`, on each of which the elements have only one position.
void addBoxes(std::int64_t first, std::int64_t end, const Shape& memory, const Extents& strides,
              Reach reach, std::vector<Reach>& boxes)
{
    const std::size_t axis = reach.start.size();
    if (axis == memory.rank()) {
        boxes.push_back(std::move(reach));
        return;
    }
    const std::int64_t stride = strides[axis];
    const auto within = [&](std::int64_t position, std::int64_t from, std::int64_t to) {
        Reach one = reach;
        one.start.push_back(position);
        one.stop.push_back(position + 1);
        addBoxes(from, to, memory, strides, std::move(one), boxes);
    };
    const std::int64_t begins = ceilDiv(first, stride),
                       ends = end / stride; // positions that are covered fully
    if (begins > ends) {
        within(ends, first - ends * stride, end - ends * stride);
        return;
    }
    if (first < begins * stride) {
        within(begins - 1, first - (begins - 1) * stride, stride);
    }
    if (begins < ends) {
        Reach whole = reach;
        whole.start.push_back(begins);
        whole.stop.push_back(ends);
        for (std::size_t inner = axis + 1; inner < memory.rank(); ++inner) {
            whole.start.push_back(0);
            whole.stop.push_back(memory[inner]);
        }
        boxes.push_back(std::move(whole));
    }
    if (ends * stride < end) {
        within(ends, 0, end - ends * stride);
    }
}

} // namespace

Reach reachOf(const RefBinding& ref, const Shape& memory)
{
    Reach reach;
    if (ref.whole) {
        reach.start.assign(memory.rank(), 0);
        reach.stop = memory.extents();
        return reach;
    }
    const Extents strides = rowMajorStrides(memory);
    const StridedView& view = ref.view;
    reach.start = positionOf(view.offset, strides);
    // Valid while every axis of the view moves along one axis of the memory.
    Extents last = reach.start;
    std::int64_t end = view.offset;
    bool isBox = true;
    for (std::size_t axis = 0; axis < view.shape.rank(); ++axis) {
        const Extent steps = view.shape[axis] - 1;
        const std::int64_t stride = view.strides[axis];
        if (steps <= 0 || stride == 0) {
            continue;
        }
        end += steps * stride;
        std::size_t along = 0;
        while (along < strides.size()
               && (stride % strides[along] != 0
                   || last[along] + steps * (stride / strides[along]) >= memory[along])) {
            ++along;
        }
        isBox = isBox && along < strides.size();
        if (isBox) {
            last[along] += steps * (stride / strides[along]);
        }
    }
    if (!isBox && view.isContiguous()) {
        std::vector<Reach> boxes;
        addBoxes(view.offset, end + 1, memory, strides, {}, boxes);
        return boxes.size() == 1 ? boxes.front() : unionOf(std::move(boxes), memory.rank());
    }
    if (!isBox) { // it wraps: take all of the axes inside the first that moves
        last = positionOf(end, strides);
        bool moved = false;
        for (std::size_t axis = 0; axis < memory.rank(); ++axis) {
            if (moved) {
                reach.start[axis] = 0;
                last[axis] = memory[axis] - 1;
            }
            moved = moved || last[axis] != reach.start[axis];
        }
    }
    for (const Extent position : last) {
        reach.stop.push_back(position + 1);
    }
    return reach;
}

bool Reach::operator==(const Reach& other) const
{
    return this == &other
           || (start == other.start && stop == other.stop
               && (parts == other.parts
                   || (parts && other.parts && parts->all == other.parts->all)));
}

Reach unionOf(std::vector<Reach> parts, std::size_t rank)
{
    Reach reach{Extents(rank), Extents(rank), nullptr};
    Reach::Parts held;
    for (std::size_t axis = 0; axis < rank && !parts.empty(); ++axis) {
        reach.start[axis] = parts.front().start[axis];
        reach.stop[axis] = parts.front().stop[axis];
        bool apart = true;
        for (std::size_t i = 1; i < parts.size(); ++i) {
            reach.start[axis] = std::min(reach.start[axis], parts[i].start[axis]);
            reach.stop[axis] = std::max(reach.stop[axis], parts[i].stop[axis]);
            apart = apart && parts[i - 1].stop[axis] <= parts[i].start[axis];
        }
        held.apart = apart && !held.apart ? axis : held.apart;
    }
    held.all = std::move(parts);
    reach.parts = std::make_shared<const Reach::Parts>(std::move(held));
    return reach;
}

bool overlap(const Reach& a, const Reach& b)
{
    for (std::size_t axis = 0; axis < a.start.size() && axis < b.start.size(); ++axis) {
        if (a.start[axis] >= b.stop[axis] || b.start[axis] >= a.stop[axis]) {
            return false;
        }
    }
    if (!a.parts && !b.parts) {
        return true;
    }
    const Reach& other = a.parts ? b : a;
    const Reach::Parts& parts = a.parts ? *a.parts : *b.parts;
    auto first = parts.all.begin(), last = parts.all.end();
    if (const auto axis = parts.apart) {
        first = std::partition_point(
            first, last, [&](const Reach& part) { return part.stop[*axis] <= other.start[*axis]; });
        last = std::partition_point(
            first, last, [&](const Reach& part) { return part.start[*axis] < other.stop[*axis]; });
    }
    return std::any_of(first, last, [&](const Reach& part) { return overlap(part, other); });
}

} // namespace pallascope::machine
