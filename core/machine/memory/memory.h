// The memory that refs name: arrays in HBM, and slots and scratch on the chip. Data is shared
// until someone writes to it. So a load of a whole slot, or a write-back in flight, copies
// nothing, and neither does a block or a loaded part of an array that nobody writes to.
#pragma once

#include "core/ir/program.h"
#include "core/machine/memory/pages.h"
#include "core/machine/values/value.h"

#include <span>
#include <string>
#include <vector>

namespace pallascope::machine {

// A box of an array. For each array axis it has a start, a size, and where in the block it begins
// (empty: at 0). Squeezed axes (size 1) do not exist in the block. If there is a list, the box has
// on one axis these elements in this order instead of a range. Its size there is the number of
// listed elements within [0, listed); the others are skipped.
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

// The part of a block of shape `block` that a box fills. Squeezed axes have stride 0 in it.
[[nodiscard]] StridedView cornerView(const Box& box, const Shape& block);

// Calls visit(part) for the box, or for each listed element as a box of its own.
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

// One buffer with its shadow. Its undefined elements hold garbage: every read replaces them by the
// fill, the value that undefined memory returns.
class Buffer
{
public:
    Buffer() = default;

    Buffer(DType dtype, Shape shape, Fill fill)
        : m_dtype(dtype)
        , m_fill(fill)
        , m_shape(std::move(shape))
    {} // nothing is defined yet

    Buffer(DType dtype, Shape shape, Fill fill, SharedBytes data) // everything is defined
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

    [[nodiscard]] const SharedBytes& data() const // null: nothing is defined
    {
        closeGaps();
        return m_data;
    }

    // Promises that nobody will write to it, so that what is cut or loaded from it shares its
    // memory. (A write would still be correct: it copies the memory first.)
    void freeze() { m_frozen = true; }

    void makeUndefined();

    [[nodiscard]] RuntimeValue load(const StridedView& view, const Shape& shape) const;
    [[nodiscard]] RuntimeValue loadAll() const;
    [[nodiscard]] RuntimeValue loadElement(std::int64_t element) const;
    [[nodiscard]] RuntimeValue loadRows() const; // the whole, with its present pitch
    void store(const StridedView& view, RuntimeValue value);
    void storeAll(RuntimeValue value);

    // Here `array` is a view of this buffer as an array. Returns the box of that array as a buffer
    // of its own with shape `shape`, which is at least box.size; the rest is undefined.
    [[nodiscard]] Buffer cut(const StridedView& array, const Box& box, const Shape& shape) const;
    // Makes the next product prefetch the memory that this buffer shares with an array.
    void prefetch() const;
    // Writes the first box.size elements of `block` to the box, or to the listed elements in the
    // order of the list. Returns how many of them were undefined.
    std::int64_t paste(const StridedView& array, const Box& box, const Buffer& block);

    // All elements, with undefined ones replaced by the fill.
    [[nodiscard]] Array contents() const;
    [[nodiscard]] std::int64_t undefinedCount() const;

    // For checkpoints of large buffers. save() keeps the contents in pages. fold() on a copy drops
    // everything except those pages, and unfold() restores it in the memory of another state of
    // the same buffer.
    [[nodiscard]] bool isLarge() const { return byteCount() > kLarge; }

    void save();
    void fold();
    void unfold(Buffer&& other);

    // Calls visit(const std::byte* piece, std::int64_t bytes) for each piece of memory that it
    // holds. Several buffers may hold the same piece.
    template<class F>
    void forEachPiece(F visit) const
    {
        if (m_data && m_pitch == 0) { // otherwise the memory is the array's
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
    [[nodiscard]] SharedBytes from(std::int64_t element) const; // shares the memory
    [[nodiscard]] std::int64_t pastePart(const StridedView& array, const Box& part,
                                         const Buffer& block);
    void hold(SharedBytes data, std::int64_t pitch,
              Shadow shadow); // replaces everything that it held
    void touch(const StridedView& view);
    void own();     // makes data exist that nobody else holds
    void ownMask(); // makes a mask exist that nobody else holds
    void checkMask(std::int64_t stored);

    DType m_dtype = DType::F32;
    Fill m_fill = Fill::Nan;
    Shape m_shape;
    // Null until something is written. If m_pitch is not 0, the data is a matrix within an array,
    // whose rows are m_pitch elements apart. It gets memory of its own when dense data is needed.
    mutable SharedBytes m_data;
    mutable std::int64_t m_pitch = 0;
    bool m_frozen = false;
    Shadow m_shadow = Shadow::noneDefined();

    struct Saved
    {
        Pages data, mask; // empty if there is none
    };

    std::shared_ptr<const Saved> m_saved; // the contents at the last save
    Span m_changed;                       // elements written since
    std::int64_t m_unchecked = 0;         // elements stored since the mask was last scanned
};

} // namespace pallascope::machine
