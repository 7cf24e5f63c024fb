// Values while a program runs: dense arrays with a shadow that says which elements are defined, and
// scalars kept inline (a double holds every value of 32 bits exactly).
#pragma once

#include "core/base/array.h"
#include "core/base/element.h"
#include "core/base/shape.h"

#include <cstdint>

namespace pallascope::machine {

// Which elements are defined. The fast path is All: nothing to look at.
struct Shadow
{
    enum class Kind : std::uint8_t
    {
        All,
        None,
        Some
    };
    Kind kind = Kind::All;
    SharedBytes mask; // Some: one byte per element, 1: defined

    [[nodiscard]] bool all() const { return kind == Kind::All; }

    [[nodiscard]] bool none() const { return kind == Kind::None; }

    [[nodiscard]] const std::uint8_t* bytes() const
    {
        return reinterpret_cast<const std::uint8_t*>(mask.get());
    }

    [[nodiscard]] bool defines(std::int64_t element) const
    {
        return all() || (!none() && bytes()[element] != 0);
    }

    [[nodiscard]] static Shadow allDefined() { return {}; }

    [[nodiscard]] static Shadow noneDefined() { return {Kind::None, nullptr}; }

    // All or None when the mask is uniform, so that the fast path comes back.
    [[nodiscard]] static Shadow fromMask(SharedBytes mask, std::int64_t count);
    [[nodiscard]] SharedBytes expanded(std::int64_t count) const; // always a mask
};

struct RuntimeValue
{
    DType dtype = DType::F32;
    Shape shape;
    SharedBytes data;  // rank > 0
    double scalar = 0; // rank 0
    Shadow shadow;
    // Of a matrix: elements from one row to the next; 0: it is dense. Only what the plan says takes
    // rows (Evaluation::asRows) sees others than 0.
    std::int64_t pitch = 0;

    [[nodiscard]] bool isScalar() const { return shape.rank() == 0; }

    [[nodiscard]] std::int64_t elements() const { return shape.elements(); }

    template<class T>
    [[nodiscard]] const T* as() const
    {
        return reinterpret_cast<const T*>(data.get());
    }

    template<class T>
    [[nodiscard]] T* as()
    {
        return reinterpret_cast<T*>(data.get());
    }

    // Gives its storage back: what is left is nothing to read.
    void drop()
    {
        shape = {};
        data.reset();
        shadow = {};
        pitch = 0;
    }

    // A defined number, without a value made on the way.
    void becomeScalar(DType type, double number)
    {
        if (!isScalar() || !shadow.all()) {
            drop();
        }
        dtype = type;
        scalar = number;
    }

    [[nodiscard]] static RuntimeValue scalarOf(DType dtype, double value);
    [[nodiscard]] static RuntimeValue arrayOf(DType dtype, Shape shape); // uninitialised data
    [[nodiscard]] static RuntimeValue zeros(DType dtype, Shape shape);
    [[nodiscard]] RuntimeValue dense() const; // itself, or a copy without gaps
};

// Writes the number `count` times.
void fillElements(DType dtype, std::byte* data, std::int64_t count, double number);
// Writes it where the mask is 0.
void fillUndefined(DType dtype, std::byte* data, const std::uint8_t* mask, std::int64_t count,
                   double number);

using pallascope::readElement;
using pallascope::writeElement;

// Copies elements between two strided views of the same shape; `elementBytes` is 1, 2 or 4.
void copyStrided(const std::byte* source, const StridedView& from, std::byte* target,
                 const StridedView& to, int elementBytes);
void fillStrided(std::byte* target, const StridedView& to,
                 std::uint8_t value); // one byte per element

} // namespace pallascope::machine
