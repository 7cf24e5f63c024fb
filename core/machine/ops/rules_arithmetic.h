// The arithmetic, comparison and bit operations on one element, one rule for each operation whose
// rule takes more than a line; core/ir/operations.inc has the others. A rule takes the lanes
// (lanes.h) for which its operation is legal. The corner cases are JAX's: XLA on a CPU is the
// reference. The arithmetic under the rules treats subnormal floats as 0 (evaluate.cpp). Rules
// that look at bits, or that call a C library function which may do so, flush subnormals
// themselves.
#pragma once

#include "core/base/check.h"
#include "core/ir/program.h"
#include "core/machine/arith/elementwise.h"
#include "core/machine/arith/subnormals.h"
#include "core/machine/ops/lanes.h"

#include <cmath>
#include <limits>

namespace pallascope::machine::ops {

// What the constructor of a rule may use. Most rules need none of it.
struct RuleSetup
{
    const ir::Operation& operation;
    DType dtype; // of one element
};

using arith::flushed;
using arith::isSubnormal;

// Integers wrap around.
template<Integer T>
[[nodiscard]] constexpr T wrap(std::uint32_t value)
{
    return static_cast<T>(value);
}

template<Integer T>
[[nodiscard]] constexpr std::uint32_t bitsOf(T value)
{
    return static_cast<std::uint32_t>(value);
}

namespace rules {

struct Neg
{
    auto operator()(Float auto a) const { return -a; }

    auto operator()(Integer auto a) const { return wrap<decltype(a)>(0U - bitsOf(a)); }
};

struct Abs
{
    auto operator()(Float auto a) const { return std::fabs(a); }

    auto operator()(Signed auto a) const { return a < 0 ? Neg{}(a) : a; }

    auto operator()(Unsigned auto a) const { return a; }
};

struct Sign
{
    auto operator()(Float auto a) const
    {
        return std::isnan(a) || a == 0 ? flushed(a) : std::copysign(1.0F, a);
    }

    auto operator()(Signed auto a) const { return (a > 0) - (a < 0); }

    auto operator()(Unsigned auto a) const { return a > 0 ? 1U : 0U; }
};

struct Round
{
    explicit Round(const RuleSetup& setup)
        : m_even(std::get<ir::RoundParams>(setup.operation.params).method
                 == ir::RoundingMethod::ToNearestEven)
    {}

    auto operator()(Float auto a) const
    {
        const float away = std::round(flushed(a));
        const bool tie = std::fabs(a - std::trunc(a)) == 0.5F;
        return m_even && tie ? 2.0F * std::round(a / 2.0F) : away;
    }

private:
    bool m_even;
};

struct Square
{
    auto operator()(Float auto a) const { return a * a; }

    auto operator()(Integer auto a) const { return wrap<decltype(a)>(bitsOf(a) * bitsOf(a)); }
};

// Runs the rule on whole f32 arrays with the CPU's vectors. Every element has the same bits as the
// rule for one element.
template<arith::Binary rule>
struct OnVectors
{
    static void all(const float* a, const float* b, float* out, std::int64_t count)
    {
        arith::binaryF32(rule, a, b, out, count);
    }
};

template<arith::Comparison rule>
struct ComparedInVectors
{
    static void all(const float* a, const float* b, std::uint8_t* out, std::int64_t count)
    {
        arith::compareF32(rule, a, b, out, count);
    }
};

struct Add : OnVectors<arith::Binary::Add>
{
    auto operator()(Float auto a, Float auto b) const { return a + b; }

    template<Integer T>
    T operator()(T a, T b) const
    {
        return wrap<T>(bitsOf(a) + bitsOf(b));
    }
};

struct Sub : OnVectors<arith::Binary::Sub>
{
    auto operator()(Float auto a, Float auto b) const { return a - b; }

    template<Integer T>
    T operator()(T a, T b) const
    {
        return wrap<T>(bitsOf(a) - bitsOf(b));
    }
};

struct Mul : OnVectors<arith::Binary::Mul>
{
    auto operator()(Float auto a, Float auto b) const { return a * b; }

    template<Integer T>
    T operator()(T a, T b) const
    {
        return wrap<T>(bitsOf(a) * bitsOf(b));
    }
};

struct Div : OnVectors<arith::Binary::Div>
{
    auto operator()(Float auto a, Float auto b) const { return a / b; }

    std::int32_t operator()(Signed auto a, Signed auto b) const
    {
        if (b == 0) {
            return -1;
        }
        return b == -1 ? Neg{}(a) : a / b;
    }

    std::uint32_t operator()(Unsigned auto a, Unsigned auto b) const
    {
        return b == 0 ? std::numeric_limits<std::uint32_t>::max() : a / b;
    }
};

struct Rem
{
    // fmod is exact, so that its result may be subnormal; the divisor must not be.
    auto operator()(Float auto a, Float auto b) const { return std::fmod(a, flushed(b)); }

    std::int32_t operator()(Signed auto a, Signed auto b) const
    {
        if (b == 0) {
            return a;
        }
        return b == -1 ? 0 : a % b;
    }

    std::uint32_t operator()(Unsigned auto a, Unsigned auto b) const { return b == 0 ? a : a % b; }
};

// The maximum of +0 and -0 is +0, the minimum is -0. A NaN on either side wins.
struct Max : OnVectors<arith::Binary::Max>
{
    float operator()(Float auto first, Float auto second) const
    {
        const float a = flushed(first), b = flushed(second);
        if (std::isnan(a) || std::isnan(b)) {
            return std::numeric_limits<float>::quiet_NaN();
        }
        return a == b ? (std::signbit(a) ? b : a) : (a > b ? a : b);
    }

    template<Integer T>
    T operator()(T a, T b) const
    {
        return a > b ? a : b;
    }

    auto operator()(Boolean auto a, Boolean auto b) const { return a || b; }
};

struct Min : OnVectors<arith::Binary::Min>
{
    float operator()(Float auto first, Float auto second) const
    {
        const float a = flushed(first), b = flushed(second);
        if (std::isnan(a) || std::isnan(b)) {
            return std::numeric_limits<float>::quiet_NaN();
        }
        return a == b ? (std::signbit(a) ? a : b) : (a < b ? a : b);
    }

    template<Integer T>
    T operator()(T a, T b) const
    {
        return a < b ? a : b;
    }

    auto operator()(Boolean auto a, Boolean auto b) const { return a && b; }
};

// min(max(value, low), high): if the bounds cross, the high one wins.
struct Clamp
{
    template<class T>
    T operator()(T low, T value, T high) const
    {
        return Min{}(Max{}(low, value), high);
    }
};

// Squares repeatedly, as XLA expands the power, and rounds each product. A negative exponent gives
// the reciprocal of the positive power.
struct IntegerPow
{
    explicit IntegerPow(const RuleSetup& setup)
        : m_exponent(std::get<ir::IntegerPowParams>(setup.operation.params).exponent)
        , m_dtype(setup.dtype)
    {}

    template<class T>
    T operator()(T base) const requires(!Boolean<T>)
    {
        if (m_exponent == 1) {
            return base;
        }
        auto left = static_cast<std::uint32_t>(std::abs(std::int64_t{m_exponent}));
        T power = 1;
        for (T square = base; left != 0; left >>= 1U) {
            power = (left & 1U) != 0 ? product(power, square) : power;
            square = product(square, square);
        }
        return m_exponent < 0 ? Div{}(T{1}, power) : power;
    }

private:
    template<class T>
    [[nodiscard]] T product(T a, T b) const
    {
        const T found = Mul{}(a, b);
        if constexpr (Float<T>) {
            if (m_dtype != DType::F32) {
                const FloatFormat& format = dtypeEntry(m_dtype).format;
                return pallascope::widen(format, pallascope::narrow(format, found));
            }
        }
        return found;
    }

    std::int32_t m_exponent;
    DType m_dtype;
};

// The next number of the dtype from a towards b, subnormal or not. If the operands compare as
// equal the result is b, so that a zero takes b's sign.
struct Nextafter
{
    explicit Nextafter(const RuleSetup& setup)
        : m_dtype(setup.dtype)
    {}

    float operator()(Float auto a, Float auto b) const
    {
        if (flushed(a) == flushed(b)) {
            return b;
        }
        if (m_dtype == DType::F32 || std::isnan(a) || std::isnan(b)) {
            return std::nextafter(a, b);
        }
        const FloatFormat& format = dtypeEntry(m_dtype).format;
        const std::uint32_t magnitude = pallascope::narrow(format, std::fabs(a));
        const bool grows = magnitude == 0 || (a < b) == (a > 0);
        const float found = pallascope::widen(format, grows ? magnitude + 1 : magnitude - 1);
        return std::copysign(found, magnitude == 0 ? b : a);
    }

private:
    DType m_dtype;
};

struct Eq : ComparedInVectors<arith::Comparison::Eq>
{
    template<class T>
    bool operator()(T a, T b) const
    {
        return a == b;
    }
};

struct Ne : ComparedInVectors<arith::Comparison::Ne>
{
    template<class T>
    bool operator()(T a, T b) const
    {
        return a != b;
    }
};

struct Lt : ComparedInVectors<arith::Comparison::Lt>
{
    template<class T>
    bool operator()(T a, T b) const
    {
        return a < b;
    }
};

struct Le : ComparedInVectors<arith::Comparison::Le>
{
    template<class T>
    bool operator()(T a, T b) const
    {
        return a <= b;
    }
};

struct Gt : ComparedInVectors<arith::Comparison::Gt>
{
    template<class T>
    bool operator()(T a, T b) const
    {
        return a > b;
    }
};

struct Ge : ComparedInVectors<arith::Comparison::Ge>
{
    template<class T>
    bool operator()(T a, T b) const
    {
        return a >= b;
    }
};

} // namespace rules

} // namespace pallascope::machine::ops
