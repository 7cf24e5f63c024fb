// Memory that refs name: arrays in HBM, slots and scratch on chip. Data is shared and copied only
// when written while shared, so a load of a whole slot or a write-back in flight costs no copy, and
// nor does a block, or a part that is loaded, of an array that nobody writes to.
#pragma once

#include "core/ir/program.h"
#include "core/machine/memory/pages.h"
#include "core/machine/values/value.h"

#include <span>
#include <string>
#include <vector>

namespace pallascope::machine {

// A box of an array, per array axis: where it starts, its size, and where in the block it begins
// (empty: at 0); squeezed axes (size 1) do not exist in the block. With a list it is, on one axis,
// not a stretch but these elements in this order; its size there is how many of them lie in
// [0, listed), and the others are passed over.
struct Box
{
    Extents start;
    Extents size;
    Extents inBlock;
    std::vector<bool> squeezed;
    std::span<const std::int32_t> list = {};
    std::size_t listAxis = 0;
    Extent listed = 0;
};

// The part of a block of shape `block` that a box fills; squeezed axes do not move in it.
[[nodiscard]] StridedView cornerView(const Box& box, const Shape& block);

// Calls visit(part) for the box, or for each element of its list as a box of its own.
template<class F>
void forEachPart(const Box& box, F visit)
{
    if (box.list.empty()) {
        visit(box);
        return;
    }
    Box part = box;
    part.list = {};
    part.size[box.listAxis] = 1;
    for (std::size_t i = 0; i < box.list.size(); ++i) {
        const Extent element = box.list[i];
        if (element >= 0 && element < box.listed) {
            part.start[box.listAxis] = element;
            part.inBlock[box.listAxis] = static_cast<Extent>(i);
            visit(part);
        }
    }
}

// One buffer with its shadow. Undefined elements of its data are garbage: every read replaces them
// by its fill, what undefined memory returns.
class Buffer
{
public:
    Buffer() = default;

    Buffer(DType dtype, Shape shape, Fill fill)
        : m_dtype(dtype)
        , m_fill(fill)
        , m_shape(std::move(shape))
    {} // nothing defined yet

    Buffer(DType dtype, Shape shape, Fill fill, SharedBytes data) // everything defined
        : m_dtype(dtype)
        , m_fill(fill)
        , m_shape(std::move(shape))
        , m_data(std::move(data))
        , m_shadow(Shadow::allDefined())
    {}

    Buffer(RuntimeValue value, Fill fill);

    [[nodiscard]] DType dtype() const { return m_dtype; }

    [[nodiscard]] Fill fill() const { return m_fill; }

    [[nodiscard]] const Shape& shape() const { return m_shape; }

    [[nodiscard]] const Shadow& shadow() const { return m_shadow; }

    [[nodiscard]] const SharedBytes& data() const // null: nothing defined
    {
        closeGaps();
        return m_data;
    }

    // Nobody will write to it: what is cut or loaded from it shares its memory. (A write is sound
    // all the same, and copies it.)
    void freeze() { m_frozen = true; }

    void makeUndefined();

    [[nodiscard]] RuntimeValue load(const StridedView& view, const Shape& shape) const;
    [[nodiscard]] RuntimeValue loadAll() const;
    [[nodiscard]] RuntimeValue loadElement(std::int64_t element) const;
    [[nodiscard]] RuntimeValue loadRows() const; // of all of it, with the pitch that it has
    void store(const StridedView& view, RuntimeValue value);
    void storeAll(RuntimeValue value);

    // The box of the array that `array` sees here as a buffer of its own, of shape `shape` (at
    // least box.size; the rest is undefined).
    [[nodiscard]] Buffer cut(const StridedView& array, const Box& box, const Shape& shape) const;
    // Has the next product fetch what it shares with an array into the caches meanwhile.
    void prefetch() const;
    // Writes the first box.size elements of `block` to the box, those of a list in its order; the
    // number of undefined ones among them.
    std::int64_t paste(const StridedView& array, const Box& box, const Buffer& block);

    // Everything, with undefined elements replaced.
    [[nodiscard]] Array contents() const;
    [[nodiscard]] std::int64_t undefinedCount() const;

    // For checkpoints of large buffers. save() keeps what it holds in pages; a copy that is folded
    // then has no more than those, and unfolds with the memory of another state of the same buffer.
    [[nodiscard]] bool isLarge() const { return byteCount() > kLarge; }

    void save();
    void fold();
    void unfold(Buffer&& other);

    // Calls visit(const std::byte* piece, std::int64_t bytes) for each piece of memory that it
    // holds; several may hold one.
    template<class F>
    void forEachPiece(F visit) const
    {
        if (m_data && m_pitch == 0) { // else the array's
            visit(m_data.get(), byteCount());
        }
        if (m_shadow.mask) {
            visit(m_shadow.mask.get(), m_shape.elements());
        }
        if (m_saved) {
            m_saved->data.forEachPiece(visit);
            m_saved->mask.forEachPiece(visit);
        }
    }

private:
    static constexpr std::int64_t kLarge = 1 << 20; // bytes

    [[nodiscard]] std::int64_t byteCount() const
    {
        return m_shape.elements() * dtypeBytes(m_dtype);
    }

    [[nodiscard]] bool share(const Buffer& all, const StridedView& part);
    void closeGaps() const;
    [[nodiscard]] SharedBytes from(std::int64_t element) const; // shared
    [[nodiscard]] std::int64_t pastePart(const StridedView& array, const Box& part,
                                         const Buffer& block);
    void hold(SharedBytes data, std::int64_t pitch, Shadow shadow); // instead of all it held
    void touch(const StridedView& view);
    void own();     // data exists and nobody else holds it
    void ownMask(); // the mask exists and nobody else holds it
    void checkMask(std::int64_t stored);

    DType m_dtype = DType::F32;
    Fill m_fill = Fill::Nan;
    Shape m_shape;
    // Null while nothing was ever written. With a pitch it is a matrix whose rows lie so many
    // elements apart, in an array, and gets memory of its own as soon as it is to be dense.
    mutable SharedBytes m_data;
    mutable std::int64_t m_pitch = 0;
    bool m_frozen = false;
    Shadow m_shadow = Shadow::noneDefined();

    struct Saved
    {
        Pages data, mask; // of nothing where there is none
    };

    std::shared_ptr<const Saved> m_saved; // what it held when it was saved last
    Span m_changed;                       // elements written since
    std::int64_t m_unchecked = 0;         // elements stored since the mask was looked through
};

} // namespace pallascope::machine
