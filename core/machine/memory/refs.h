// What refs stand for: memory, seen whole or through views of it.
#pragma once

#include "core/machine/memory/memory.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pallascope::machine {

struct RefBinding
{
    std::int32_t buffer = -1; // of a semaphore: the first of its array
    bool whole = true;        // else `view`
    StridedView view;         // of the buffer's elements

    // What strides cannot say: the elements so far, in row-major order, as another dtype or shape,
    // and a view of those.
    struct Recast
    {
        DType dtype = DType::F32;
        Shape shape;
        StridedView view;
    };

    std::vector<Recast> recasts;

    // Of a copy that takes padding with it: what it asked for; the view is what is there.
    std::shared_ptr<const Shape> asked;
};

// One axis of an indexed ref; an integer index does not keep its axis.
struct Window
{
    std::int64_t start = 0, size = 1, stride = 1;
    bool kept = true;

    [[nodiscard]] std::int64_t last() const { return start + (size - 1) * stride; }
};

// `memory` is the shape of the binding's buffer.
[[nodiscard]] StridedView viewOf(const RefBinding& ref, const Shape& memory);
[[nodiscard]] const Shape& shapeOf(const RefBinding& ref, const Shape& memory); // of that view
// The element of the buffer that it begins with; about there, where it begins within a recast.
[[nodiscard]] std::int64_t offsetOf(const RefBinding& ref);
[[nodiscard]] RefBinding narrowed(const RefBinding& ref, const Shape& memory,
                                  std::span<const Window> windows);
// The part that a box of it takes; every axis stays.
[[nodiscard]] RefBinding boxOf(const RefBinding& ref, const Shape& memory, const Box& box);
[[nodiscard]] RefBinding transposed(const RefBinding& ref, const Shape& memory,
                                    const std::vector<std::int32_t>& permutation);
[[nodiscard]] RefBinding reshaped(const RefBinding& ref, const Shape& memory, DType dtype,
                                  const Shape& shape);
// Rows packed into another dtype, or unpacked; `shape` is that of the result.
[[nodiscard]] RefBinding bitcasted(const RefBinding& ref, const Shape& memory, DType dtype,
                                   const Shape& shape);

[[nodiscard]] RuntimeValue loadThrough(const RefBinding& ref, const Buffer& memory);
void storeThrough(const RefBinding& ref, Buffer& memory, RuntimeValue value);

// The elements of its buffer that a binding reaches, per axis: [start, stop); exact but for
// strides. With parts: these alone, none of which have parts.
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
    std::optional<std::size_t> apart; // an axis on which each begins where the one before has ended
};

[[nodiscard]] Reach reachOf(const RefBinding& ref, const Shape& memory);
[[nodiscard]] Reach unionOf(std::vector<Reach> parts, std::size_t rank);
[[nodiscard]] bool overlap(const Reach& a, const Reach& b);

} // namespace pallascope::machine
