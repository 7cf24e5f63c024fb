// Loads, stores, cuts and pastes of buffers, and how they share memory and track undefined
// elements.
#include "core/machine/memory/memory.h"

#include "core/machine/arith/ahead.h"

#include <algorithm>
#include <cstring>

namespace pallascope::machine {

namespace {

// The box as a view of the memory that `array` is a view of.
StridedView boxView(const Box& box, const StridedView& array)
{
    StridedView view{array.offset, Shape(box.size), array.strides};
    for (std::size_t axis = 0; axis < box.start.size(); ++axis) {
        view.offset += box.start[axis] * array.strides[axis];
    }
    return view;
}

void replaceUndefined(RuntimeValue& value, Fill fill)
{
    if (value.shadow.all() || value.isScalar()) {
        return;
    }
    const std::int64_t count = value.elements();
    const double number = fillNumber(value.dtype, fill);
    if (value.shadow.none()) {
        fillElements(value.dtype, value.data.get(), count, number);
        return;
    }
    fillUndefined(value.dtype, value.data.get(), value.shadow.bytes(), count, number);
}

} // namespace

StridedView cornerView(const Box& box, const Shape& block)
{
    const auto strides = rowMajorStrides(block);
    StridedView view{0, Shape(box.size), Extents(box.size.size())};
    for (std::size_t axis = 0, next = 0; axis < box.size.size(); ++axis) {
        if (!box.squeezed[axis]) {
            view.strides[axis] = strides[next++];
            view.offset += box.inBlock.empty() ? 0 : box.inBlock[axis] * view.strides[axis];
        }
    }
    return view;
}

Buffer::Buffer(RuntimeValue value, Fill fill)
    : m_dtype(value.dtype)
    , m_fill(fill)
    , m_shape(std::move(value.shape))
    , m_data(std::move(value.data))
    , m_pitch(value.pitch)
    , m_shadow(std::move(value.shadow))
{
    if (m_shape.rank() == 0) {
        m_data = allocateBytes(dtypeBytes(m_dtype));
        writeElement(m_dtype, m_data.get(), 0, value.scalar);
    }
}

void Buffer::hold(SharedBytes data, std::int64_t pitch, Shadow shadow)
{
    m_data = std::move(data);
    m_pitch = pitch;
    m_shadow = std::move(shadow);
    m_frozen = false;
    m_changed = {0, m_shape.elements()};
}

void Buffer::makeUndefined()
{
    hold(nullptr, 0, Shadow::noneDefined());
}

void Buffer::touch(const StridedView& view)
{
    Span span{view.offset, view.offset + 1};
    for (std::size_t axis = 0; axis < view.strides.size(); ++axis) {
        const std::int64_t reach = (view.shape[axis] - 1) * view.strides[axis];
        if (view.shape[axis] == 0) {
            return;
        }
        (reach < 0 ? span.first : span.last) += reach;
    }
    m_changed.include(span);
}

// Shares `part` of `all` as this buffer's data, if it lies there densely like an array of this
// shape, or as a matrix with gaps between its rows. Otherwise returns false.
bool Buffer::share(const Buffer& all, const StridedView& part)
{
    StridedView dropped{0, {}, {}}; // without axes of extent 1, which the shape may lack
    Extents extents;
    for (std::size_t axis = 0; axis < part.strides.size(); ++axis) {
        if (part.shape[axis] != 1) {
            extents.push_back(part.shape[axis]);
            dropped.strides.push_back(part.strides[axis]);
        }
    }
    dropped.shape = Shape(extents);
    const bool isMatrix = m_shape.rank() == 2 && dropped.shape == m_shape && dropped.strides[1] == 1
                          && dropped.strides[0] > 0;
    if (m_shape.rank() == 0 || (!dropped.isContiguous() && !isMatrix)) {
        return false;
    }
    m_pitch = dropped.isContiguous() ? 0 : dropped.strides[0];
    m_data = all.from(part.offset);
    m_shadow = Shadow::allDefined();
    return true;
}

void Buffer::closeGaps() const
{
    if (m_pitch != 0) {
        m_data = loadRows().dense().data;
        m_pitch = 0;
    }
}

RuntimeValue Buffer::loadRows() const
{
    if (m_pitch == 0) {
        return loadAll();
    }
    return {.dtype = m_dtype, .shape = m_shape, .data = m_data, .pitch = m_pitch};
}

SharedBytes Buffer::from(std::int64_t element) const
{
    return {m_data, m_data.get() + element * dtypeBytes(m_dtype)};
}

void Buffer::own()
{
    closeGaps();
    m_frozen = false;
    const std::int64_t bytes = byteCount();
    if (!m_data) {
        m_data = allocateBytes(bytes);
    } else if (m_data.use_count() > 1) {
        SharedBytes copy = allocateBytes(bytes);
        std::memcpy(copy.get(), m_data.get(), static_cast<std::size_t>(bytes));
        m_data = std::move(copy);
    }
}

void Buffer::ownMask()
{
    const std::int64_t count = m_shape.elements();
    if (m_shadow.kind != Shadow::Kind::Some) {
        m_shadow = {Shadow::Kind::Some, m_shadow.expanded(count)};
    } else if (m_shadow.mask.use_count() > 1) {
        SharedBytes copy = allocateBytes(count);
        std::memcpy(copy.get(), m_shadow.mask.get(), static_cast<std::size_t>(count));
        m_shadow.mask = std::move(copy);
    }
}

RuntimeValue Buffer::loadElement(std::int64_t element) const
{
    closeGaps();
    const bool defined = m_shadow.defines(element);
    RuntimeValue value =
        RuntimeValue::scalarOf(m_dtype, defined ? readElement(m_dtype, m_data.get(), element)
                                                : fillNumber(m_dtype, m_fill));
    value.shadow = defined ? Shadow::allDefined() : Shadow::noneDefined();
    return value;
}

RuntimeValue Buffer::loadAll() const
{
    if (m_shape.rank() == 0 || !m_shadow.all()) {
        return load(StridedView::whole(m_shape), m_shape);
    }
    closeGaps();
    return {.dtype = m_dtype, .shape = m_shape, .data = m_data};
}

RuntimeValue Buffer::load(const StridedView& view, const Shape& shape) const
{
    if (shape.rank() == 0) {
        return loadElement(view.offset);
    }
    closeGaps();
    RuntimeValue value{.dtype = m_dtype, .shape = shape};
    const bool whole =
        view.offset == 0 && view.isContiguous() && view.shape.elements() == m_shape.elements();
    if (whole && m_shadow.all()) {
        value.data = m_data;
        return value;
    }
    if (m_frozen && m_data && m_shadow.all() && view.isContiguous()) {
        value.data = from(view.offset);
        return value;
    }
    value.data = allocateBytes(value.elements() * dtypeBytes(m_dtype));
    value.shadow = m_shadow.kind == Shadow::Kind::Some ? Shadow::allDefined() : m_shadow;
    const StridedView to = StridedView::whole(view.shape);
    if (m_data && !m_shadow.none()) {
        copyStrided(m_data.get(), view, value.data.get(), to, dtypeBytes(m_dtype));
    }
    if (m_shadow.kind == Shadow::Kind::Some) {
        SharedBytes mask = allocateBytes(value.elements());
        copyStrided(m_shadow.mask.get(), view, mask.get(), to, 1);
        value.shadow = Shadow::fromMask(std::move(mask), value.elements());
    }
    replaceUndefined(value, m_fill);
    return value;
}

void Buffer::storeAll(RuntimeValue value)
{
    if (value.isScalar()) {
        store(StridedView::whole(m_shape), std::move(value));
    } else {
        hold(std::move(value.data), value.pitch, std::move(value.shadow));
    }
}

void Buffer::store(const StridedView& view, RuntimeValue value)
{
    const bool whole =
        view.offset == 0 && view.isContiguous() && view.shape.elements() == m_shape.elements();
    if (whole && !value.isScalar()) {
        storeAll(std::move(value));
        return;
    }
    own();
    touch(view);
    const StridedView from = StridedView::whole(view.shape);
    if (value.isScalar()) {
        writeElement(m_dtype, m_data.get(), view.offset, value.scalar);
    } else {
        copyStrided(value.data.get(), from, m_data.get(), view, dtypeBytes(m_dtype));
    }
    if (m_shadow.all() && value.shadow.all()) {
        return;
    }
    ownMask();
    if (value.shadow.kind == Shadow::Kind::Some) {
        copyStrided(value.shadow.mask.get(), from, m_shadow.mask.get(), view, 1);
    } else {
        fillStrided(m_shadow.mask.get(), view, value.shadow.all() ? 1 : 0);
    }
    checkMask(view.shape.elements());
}

// Scans the mask only when as many elements have been stored as it has. So many small stores into
// a large array take linear time, and an array that has been written everywhere drops its mask.
void Buffer::checkMask(std::int64_t stored)
{
    m_unchecked += stored;
    if (m_unchecked >= m_shape.elements()) {
        m_shadow = Shadow::fromMask(m_shadow.mask, m_shape.elements());
        m_unchecked = 0;
    }
}

Buffer Buffer::cut(const StridedView& array, const Box& box, const Shape& shape) const
{
    Buffer block(m_dtype, shape, m_fill);
    block.m_frozen = m_frozen;
    if (m_shadow.none()) {
        return block;
    }
    closeGaps();
    const bool fills = Shape(box.size).elements() == shape.elements() && box.list.empty();
    if (m_frozen && fills && m_data && m_shadow.all() && block.share(*this, boxView(box, array))) {
        return block;
    }
    SharedBytes mask; // none: all of the block is defined
    if (!m_shadow.all() || Shape(box.size).elements() != shape.elements()) {
        mask = Shadow::noneDefined().expanded(shape.elements());
    }
    if (m_data) {
        block.m_data = allocateBytes(shape.elements() * dtypeBytes(m_dtype));
    }
    forEachPart(box, [&](const Box& part) {
        const StridedView from = boxView(part, array);
        const StridedView to = cornerView(part, shape);
        if (m_data) {
            copyStrided(m_data.get(), from, block.m_data.get(), to, dtypeBytes(m_dtype));
        }
        if (mask && m_shadow.all()) {
            fillStrided(mask.get(), to, 1);
        } else if (mask) {
            copyStrided(m_shadow.mask.get(), from, mask.get(), to, 1);
        }
    });
    block.m_shadow =
        mask ? Shadow::fromMask(std::move(mask), shape.elements()) : Shadow::allDefined();
    return block;
}

void Buffer::prefetch() const
{
    if (m_frozen && m_data && m_shape.rank() > 0) {
        const std::int64_t columns = m_shape[m_shape.rank() - 1];
        const std::int64_t rows = m_shape.elements() / std::max<std::int64_t>(columns, 1);
        const std::int64_t size = dtypeBytes(m_dtype);
        arith::fetchBeside(m_data.get(), rows, columns * size,
                           (m_pitch == 0 ? columns : m_pitch) * size);
    }
}

std::int64_t Buffer::paste(const StridedView& array, const Box& box, const Buffer& block)
{
    block.closeGaps();
    const bool isAll = box.list.empty() && Shape(box.size).elements() == m_shape.elements()
                       && block.m_shape.elements() == m_shape.elements();
    if (isAll && array.isContiguous() && block.m_data && block.m_shadow.all()) {
        hold(block.m_data, 0, Shadow::allDefined());
        return 0;
    }
    own();
    std::int64_t undefined = 0;
    forEachPart(box, [&](const Box& part) { undefined += pastePart(array, part, block); });
    return undefined;
}

std::int64_t Buffer::pastePart(const StridedView& array, const Box& part, const Buffer& block)
{
    const StridedView to = boxView(part, array);
    touch(to);
    const StridedView from = cornerView(part, block.m_shape);
    const std::int64_t count = to.shape.elements();
    if (block.m_data && !block.m_shadow.none()) {
        copyStrided(block.m_data.get(), from, m_data.get(), to, dtypeBytes(m_dtype));
    }
    if (m_shadow.all() && block.m_shadow.all()) {
        return 0;
    }
    ownMask();
    std::int64_t undefined = block.m_shadow.all() ? 0 : count;
    if (block.m_shadow.kind == Shadow::Kind::Some) {
        copyStrided(block.m_shadow.mask.get(), from, m_shadow.mask.get(), to, 1);
        SharedBytes written = allocateBytes(count);
        copyStrided(block.m_shadow.mask.get(), from, written.get(), StridedView::whole(from.shape),
                    1);
        undefined = std::count(written.get(), written.get() + count, std::byte{0});
    } else {
        fillStrided(m_shadow.mask.get(), to, block.m_shadow.all() ? 1 : 0);
    }
    checkMask(count);
    return undefined;
}

Array Buffer::contents() const
{
    const StridedView whole = StridedView::whole(m_shape);
    if (m_shape.rank() == 0) {
        const RuntimeValue value = load(whole, m_shape);
        Array array = makeArray(m_dtype, m_shape);
        writeElement(m_dtype, array.data.get(), 0, value.scalar);
        return array;
    }
    const RuntimeValue value = load(whole, m_shape);
    return {m_dtype, m_shape, value.data};
}

std::int64_t Buffer::undefinedCount() const
{
    const std::int64_t count = m_shape.elements();
    if (m_shadow.kind != Shadow::Kind::Some) {
        return m_shadow.all() ? 0 : count;
    }
    return std::count(m_shadow.bytes(), m_shadow.bytes() + count, std::uint8_t{0});
}

} // namespace pallascope::machine
