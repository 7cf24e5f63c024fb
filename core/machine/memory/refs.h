// What refs refer to: memory, as a whole or through views of it.
#pragma once

#include "core/machine/memory/memory.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pallascope::machine {

// What a ref that leaves its array was to show, while its binding covers the elements that exist.
struct Asked;

struct RefBinding
{
    std::int32_t buffer = -1; // for semaphores: the first of the array
    bool whole = true;        // otherwise `view`
    StridedView view;         // elements of the buffer

    // A step that strides cannot express: takes the elements so far in row-major order as another
    // dtype or shape, and then a view of those.
    struct Recast
    {
        DType dtype = DType::F32;
        Shape shape;
        StridedView view;
    };

    std::vector<Recast> recasts;

    // Set only for a copy that takes padding along, and for masked accesses.
    std::shared_ptr<const Asked> asked;
};

// One axis of an indexed ref. An integer index drops its axis.
struct Window
{
    std::int64_t start = 0, size = 1, stride = 1;
    bool kept = true;

    [[nodiscard]] std::int64_t last() const { return start + (size - 1) * stride; }
};

struct Asked
{
    Shape shape;                 // without the axes that an integer index drops
    std::vector<Window> windows; // one for each axis of the ref that it is a view of
    Extents extents;             // of that ref
    // Where in the shape the elements that exist begin, and whether there are none.
    Extents first;
    bool isEmpty = false;
};

// `memory` is the shape of the binding's buffer.
[[nodiscard]] StridedView viewOf(const RefBinding& ref, const Shape& memory);
[[nodiscard]] const Shape& shapeOf(const RefBinding& ref,
                                   const Shape& memory); // the shape of that view
// The element of the buffer at which the ref begins. Only approximate if it begins inside a
// recast.
[[nodiscard]] std::int64_t offsetOf(const RefBinding& ref);
[[nodiscard]] RefBinding narrowed(const RefBinding& ref, const Shape& memory,
                                  std::span<const Window> windows);
// The part of the ref that a box selects. Every axis is kept.
[[nodiscard]] RefBinding boxOf(const RefBinding& ref, const Shape& memory, const Box& box);
[[nodiscard]] RefBinding transposed(const RefBinding& ref, const Shape& memory,
                                    const std::vector<std::int32_t>& permutation);
[[nodiscard]] RefBinding reshaped(const RefBinding& ref, const Shape& memory, DType dtype,
                                  const Shape& shape);
// Packs rows into another dtype, or unpacks them. `shape` is that of the result.
[[nodiscard]] RefBinding bitcasted(const RefBinding& ref, const Shape& memory, DType dtype,
                                   const Shape& shape);

[[nodiscard]] RuntimeValue loadThrough(const RefBinding& ref, const Buffer& memory);
void storeThrough(const RefBinding& ref, Buffer& memory, RuntimeValue value);

// The elements of its buffer that a binding reaches, as [start, stop) for each axis. It is exact
// except that strides are ignored. If there are parts, it reaches only these, and no part has
// parts itself.
struct Reach
{
    struct Parts;

    Extents start, stop;
    std::shared_ptr<const Parts> parts;
    bool operator==(const Reach& other) const;
};

struct Reach::Parts
{
    std::vector<Reach> all;
    // An axis on which each part begins no earlier than the one before it ends.
    std::optional<std::size_t> apart;
};

[[nodiscard]] Reach reachOf(const RefBinding& ref, const Shape& memory);
[[nodiscard]] Reach unionOf(std::vector<Reach> parts, std::size_t rank);
[[nodiscard]] bool overlap(const Reach& a, const Reach& b);

} // namespace pallascope::machine
