// Rules like those of rules_arithmetic.h, for operations that look at bits.
#pragma once

#include "core/machine/ops/rules_arithmetic.h"

#include <algorithm>
#include <bit>

namespace pallascope::machine::ops::rules {

struct Not
{
    auto operator()(Integer auto a) const { return wrap<decltype(a)>(~bitsOf(a)); }

    auto operator()(Boolean auto a) const { return !a; }
};

struct And
{
    template<class T>

    requires(!Float<T>) T operator()(T a, T b) const { return static_cast<T>(a & b); }
};

struct Or
{
    template<class T>

    requires(!Float<T>) T operator()(T a, T b) const { return static_cast<T>(a | b); }
};

struct Xor
{
    template<class T>

    requires(!Float<T>) T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

// Base of the rules whose result depends on the width of an element.
class ByWidth
{
public:
    explicit ByWidth(const RuleSetup& setup)
        : m_bits(static_cast<std::uint32_t>(dtypeBits(setup.dtype)))
    {}

protected:
    [[nodiscard]] std::uint32_t width() const { return m_bits; }

    // The element's own bits, with zeros above them.
    [[nodiscard]] std::uint32_t element(Integer auto a) const
    {
        return bitsOf(a) & (~0U >> (32U - m_bits));
    }

private:
    std::uint32_t m_bits;
};

struct PopulationCount : ByWidth
{
    using ByWidth::ByWidth;

    auto operator()(Integer auto a) const
    {
        return static_cast<decltype(a)>(std::popcount(element(a)));
    }
};

struct Clz : ByWidth
{
    using ByWidth::ByWidth;

    auto operator()(Integer auto a) const
    {
        return static_cast<decltype(a)>(static_cast<std::uint32_t>(std::countl_zero(element(a)))
                                        - (32U - width()));
    }
};

// A shift by a negative amount, or by the width or more, gives 0, or the sign if it is arithmetic.
// Most programs shift all elements by one amount, which every CPU's vectors can do in one
// instruction.
template<class Rule>
struct Shift : ByWidth
{
    using ByWidth::ByWidth;

    template<Integer T>
    void all(const T* a, const T* by, T* to, std::int64_t count) const
    {
        const Rule& rule = static_cast<const Rule&>(*this);
        const T amount = count > 0 ? by[0] : T{0};
        std::uint32_t others = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            others |= static_cast<std::uint32_t>(by[i] ^ amount);
        }
        if (others == 0) {
#pragma GCC ivdep
            for (std::int64_t i = 0; i < count; ++i) {
                to[i] = rule(a[i], amount);
            }
        } else {
#pragma GCC ivdep
            for (std::int64_t i = 0; i < count; ++i) {
                to[i] = rule(a[i], by[i]);
            }
        }
    }
};

struct ShiftLeft : Shift<ShiftLeft>
{
    using Shift::Shift;

    template<Integer T>
    T operator()(T a, T by) const
    {
        return element(by) < width() ? wrap<T>(bitsOf(a) << element(by)) : T{0};
    }
};

struct ShiftRightLogical : Shift<ShiftRightLogical>
{
    using Shift::Shift;

    template<Integer T>
    T operator()(T a, T by) const
    {
        return element(by) < width() ? wrap<T>(element(a) >> element(by)) : T{0};
    }
};

struct ShiftRightArithmetic : Shift<ShiftRightArithmetic>
{
    using Shift::Shift;

    template<Integer T>
    T operator()(T a, T by) const
    {
        const std::uint32_t sign = 32U - width();
        const auto whole = static_cast<std::int32_t>(element(a) << sign) >> sign;
        return wrap<T>(bitsOf(whole >> std::min(element(by), 31U)));
    }
};

} // namespace pallascope::machine::ops::rules
