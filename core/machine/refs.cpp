#include "core/machine/refs.h"

#include "core/base/check.h"
#include "core/machine/evaluate.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace pallascope::machine {

namespace {

// The same binding with another innermost view.
RefBinding withView(RefBinding ref, StridedView view)
{
    if (ref.recasts.empty()) {
        ref.view = std::move(view);
        ref.whole = false;
    } else {
        ref.recasts.back().view = std::move(view);
    }
    return ref;
}

RefBinding withRecast(RefBinding ref, const Shape& memory, DType dtype, const Shape& shape)
{
    if (ref.whole) {
        ref.view = StridedView::whole(memory);
        ref.whole = false;
    }
    ref.recasts.push_back({dtype, shape, StridedView::whole(shape)});
    return ref;
}

// The part that windows select of a view of these strides.
StridedView part(std::int64_t offset, const Extents& strides, std::span<const Window> windows)
{
    StridedView to{offset, {}, {}};
    Extents extents;
    for (std::size_t axis = 0; axis < windows.size(); ++axis) {
        const Window& window = windows[axis];
        to.offset += window.start * strides[axis];
        if (window.kept) {
            extents.push_back(window.size);
            to.strides.push_back(window.stride * strides[axis]);
        }
    }
    to.shape = Shape(std::move(extents));
    return to;
}

Window all(Extent size)
{
    return {.start = 0, .size = size, .stride = 1, .kept = true};
}

// What lies below the part of a bitcast that windows select; nothing where that does not begin and
// end with rows of it. A bitcast packs or unpacks rows, and leaves every other axis as it is.
std::optional<std::vector<Window>> rowsBelow(const Shape& below, const Shape& shape,
                                             std::span<const Window> windows)
{
    const std::size_t rank = shape.rank();
    if (rank < 2 || below.rank() != rank) {
        return {};
    }
    std::vector<Window> inside(windows.begin(), windows.end());
    for (std::size_t axis = 0; axis < rank; ++axis) {
        inside[axis].kept = true;
        if (axis + 2 != rank && below[axis] != shape[axis]) {
            return {};
        }
    }
    Window& rows = inside[rank - 2];
    const Extent from = below[rank - 2], to = shape[rank - 2];
    const auto multiple = [&](Extent one, Extent other) { return other > 0 && one % other == 0; };
    if (from == to) {
        return inside;
    }
    if (rows.stride != 1) {
        return {};
    }
    if (multiple(from, to)) {
        rows.start *= from / to;
        rows.size *= from / to;
        return inside;
    }
    if (!multiple(to, from) || !multiple(rows.start, to / from)
        || !multiple(rows.size, to / from)) {
        return {};
    }
    rows.start /= to / from;
    rows.size /= to / from;
    return inside;
}

// A part of a recast along axes that are those of what it is made of too: that part is recast
// instead, so that the rest is neither loaded nor in the way of copies.
std::optional<RefBinding> narrowedBelow(const RefBinding& ref, std::span<const Window> windows)
{
    const RefBinding::Recast& last = ref.recasts.back();
    const StridedView& below =
        ref.recasts.size() > 1 ? ref.recasts[ref.recasts.size() - 2].view : ref.view;
    const Shape& shape = last.view.shape;
    if (!last.view.isContiguous() || shape.elements() != last.shape.elements()) {
        return {};
    }
    const auto recast = [&](std::span<const Window> inside, Extents extents,
                            std::span<const Window> rest) {
        RefBinding found = ref;
        found.recasts.pop_back();
        found = withView(std::move(found), part(below.offset, below.strides, inside));
        const Shape cast(std::move(extents));
        found.recasts.push_back({last.dtype, cast, part(0, rowMajorStrides(cast), rest)});
        return found;
    };
    if (const auto inside = rowsBelow(below.shape, shape, windows)) {
        Extents extents;
        std::vector<Window> rest;
        for (const Window& window : windows) {
            extents.push_back(window.size);
            rest.push_back({0, window.size, 1, window.kept});
        }
        return recast(*inside, std::move(extents), rest);
    }
    std::size_t common = 0;
    while (common + 2 < below.shape.rank() && common < shape.rank()
           && below.shape[common] == shape[common]) {
        ++common;
    }
    if (common == 0) {
        return {};
    }
    std::vector<Window> inside(windows.begin(),
                               windows.begin() + static_cast<std::ptrdiff_t>(common)),
        rest;
    Extents extents;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const bool isCommon = axis < common;
        if (!isCommon || windows[axis].kept) {
            extents.push_back(isCommon ? windows[axis].size : shape[axis]);
            rest.push_back(isCommon ? all(windows[axis].size) : windows[axis]);
        }
    }
    for (std::size_t axis = common; axis < below.shape.rank(); ++axis) {
        inside.push_back(all(below.shape[axis]));
    }
    return recast(inside, std::move(extents), rest);
}

// A scalar as an array of one element, or the reverse.
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
    if (!ref.recasts.empty()) {
        return ref.recasts.back().view.offset;
    }
    return ref.whole ? 0 : ref.view.offset;
}

RefBinding narrowed(const RefBinding& ref, const Shape& memory, std::span<const Window> windows)
{
    PALLASCOPE_CHECK(windows.size() == shapeOf(ref, memory).rank());
    if (ref.recasts.empty()) { // the usual case, without copies of what is seen now
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
    // Down: what each recast sees. Up: the new elements put into it, and back into what it was.
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
        value = cast(seen[i].load(StridedView::whole(seen[i].shape()), seen[i].shape()),
                     before[i].first, before[i].second);
    }
    memory.store(view, std::move(value));
}

Reach reachOf(const RefBinding& ref, const Shape& memory)
{
    Reach reach;
    if (ref.whole) {
        reach.start.assign(memory.rank(), 0);
        reach.stop = memory.extents();
        return reach;
    }
    std::int64_t first = ref.view.offset, last = ref.view.offset;
    for (std::size_t axis = 0; axis < ref.view.shape.rank(); ++axis) {
        last += (ref.view.shape[axis] - 1) * ref.view.strides[axis];
    }
    const bool one = first == last;
    __int128 covered = 1;
    bool isBox = true;
    for (const std::int64_t stride : rowMajorStrides(memory)) {
        reach.start.push_back(first / stride);
        reach.stop.push_back(last / stride + 1);
        first %= stride;
        last %= stride;
        isBox = isBox && reach.start.back() < reach.stop.back();
        covered *= reach.stop.back() - reach.start.back();
    }
    if (isBox && (one || covered >= ref.view.shape.elements())) {
        return reach;
    }
    // Rows that go on over the end of an axis: all of the axes inside the first that moves.
    bool moved = false;
    for (std::size_t axis = 0; axis < memory.rank(); ++axis) {
        if (moved) {
            reach.start[axis] = 0;
            reach.stop[axis] = memory[axis];
        }
        moved = moved || reach.stop[axis] - reach.start[axis] != 1;
    }
    return reach;
}

bool Reach::operator==(const Reach& other) const
{
    return start == other.start && stop == other.stop
           && (parts == other.parts || (parts && other.parts && parts->all == other.parts->all));
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
