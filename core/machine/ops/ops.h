// The functions that core/ir/operations.inc names, one for each operation, grouped by family:
// elementwise.cpp, convert.cpp, reduction.cpp, layout.cpp, places.cpp, generate.cpp, dot.cpp.
//
// They also track which elements are defined. An elementwise result is defined if every operand
// is; a moved element keeps its definedness; what is made of several elements is defined if all of
// them are. As an exception, one operand or element can decide the result alone (deciding.cpp).
#pragma once

#include "core/ir/program.h"
#include "core/machine/values/value.h"

#include <optional>
#include <span>

namespace pallascope::machine::ops {

struct Call
{
    const ir::Operation& operation;
    std::span<RuntimeValue* const> operands;
    std::uint32_t dying = 0; // bit i: operand i is used for the last time; its storage may be taken
    std::size_t result = 0;  // which result is wanted

    [[nodiscard]] const RuntimeValue& operand(std::size_t i) const { return *operands[i]; }

    template<class P>
    [[nodiscard]] const P& params() const
    {
        return std::get<P>(operation.params);
    }
};

[[nodiscard]] RuntimeValue elementwise(const Call& call);
// A fast path for index arithmetic, which most programs do at every step: an elementwise operation
// on defined int32 scalars, computed without temporary values. For anything else it returns false
// and does nothing.
[[nodiscard]] bool scalarInPlace(const ir::Operation& operation,
                                 std::span<RuntimeValue* const> operands, RuntimeValue& result);
[[nodiscard]] RuntimeValue power(const Call& call);
[[nodiscard]] RuntimeValue select(const Call& call);
[[nodiscard]] RuntimeValue convert(const Call& call);
[[nodiscard]] RuntimeValue bitcast(const Call& call);
[[nodiscard]] RuntimeValue stochasticRound(const Call& call);
[[nodiscard]] RuntimeValue pack(const Call& call);
[[nodiscard]] RuntimeValue unpack(const Call& call);
[[nodiscard]] RuntimeValue threefry(const Call& call);
[[nodiscard]] RuntimeValue randomBits(const Call& call);
[[nodiscard]] RuntimeValue reduceSum(const Call& call);
[[nodiscard]] RuntimeValue reduceMax(const Call& call);
[[nodiscard]] RuntimeValue reduceMin(const Call& call);
[[nodiscard]] RuntimeValue reduceAnd(const Call& call);
[[nodiscard]] RuntimeValue reduceOr(const Call& call);
[[nodiscard]] RuntimeValue reduceProd(const Call& call);
[[nodiscard]] RuntimeValue cumsum(const Call& call);
[[nodiscard]] RuntimeValue cumprod(const Call& call);
[[nodiscard]] RuntimeValue cummax(const Call& call);
[[nodiscard]] RuntimeValue cummin(const Call& call);
[[nodiscard]] RuntimeValue argmax(const Call& call);
[[nodiscard]] RuntimeValue argmin(const Call& call);
[[nodiscard]] RuntimeValue broadcast(const Call& call);
[[nodiscard]] RuntimeValue reshape(const Call& call);
[[nodiscard]] RuntimeValue identity(const Call& call);
[[nodiscard]] RuntimeValue transpose(const Call& call);
[[nodiscard]] RuntimeValue concatenate(const Call& call);
[[nodiscard]] RuntimeValue stack(const Call& call);
[[nodiscard]] RuntimeValue unstack(const Call& call);
[[nodiscard]] RuntimeValue split(const Call& call);
[[nodiscard]] RuntimeValue slice(const Call& call);
[[nodiscard]] RuntimeValue pad(const Call& call);
[[nodiscard]] RuntimeValue tile(const Call& call);
[[nodiscard]] RuntimeValue roll(const Call& call);
[[nodiscard]] RuntimeValue gather(const Call& call);
[[nodiscard]] RuntimeValue scatter(const Call& call);
[[nodiscard]] RuntimeValue sort(const Call& call);
[[nodiscard]] RuntimeValue dynamicSlice(const Call& call);
[[nodiscard]] RuntimeValue dynamicUpdateSlice(const Call& call);
[[nodiscard]] RuntimeValue rev(const Call& call);
[[nodiscard]] RuntimeValue iota(const Call& call);
[[nodiscard]] RuntimeValue iota2x32(const Call& call);
[[nodiscard]] RuntimeValue dot(const Call& call);
// Computes addend + product in one pass, for an array of f32 or int32 and a product of its shape
// and dtype, with the same bits as the two operations in sequence. `dies` means that the addend's
// storage may be taken over. Returns false and does nothing if something is undefined or the bits
// would differ.
[[nodiscard]] bool addProduct(const Call& product, RuntimeValue& addend, bool dies,
                              RuntimeValue& sum);
[[nodiscard]] RuntimeValue
engine(const Call& call); // grid, memory and control operations: never called for a value

// Helpers that several families use.

// The definedness of an elementwise result of `count` elements.
[[nodiscard]] Shadow combined(std::span<RuntimeValue* const> operands, std::int64_t count);
// The same, except that an element is also defined if one operand is the number that decides.
[[nodiscard]] Shadow definedness(const Call& call, std::int64_t count);
// The operand that decides the result even if the others are undefined: 0 for `and` and for `mul`
// of integers, all bits set for `or`.
[[nodiscard]] std::optional<double> decidingNumber(ir::OpCode code, DType dtype);
[[nodiscard]] RuntimeValue converted(const RuntimeValue& value, DType dtype);
[[nodiscard]] RuntimeValue transposed(const RuntimeValue& value,
                                      const std::vector<std::int32_t>& permutation);

} // namespace pallascope::machine::ops
