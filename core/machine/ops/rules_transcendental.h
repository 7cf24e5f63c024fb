// The transcendental operations on one element, one rule for each: the C library's f32 functions,
// within one or two ulp of the exact value (tests/ops states each bound). Rules with `all` compute
// many elements at once. If the result near 0 equals the operand, a subnormal operand is kept, as
// in XLA.
#pragma once

#include "core/base/dtype.h"
#include "core/machine/arith/elementwise.h"
#include "core/machine/ops/rules_arithmetic.h"

#include <cmath>
#include <limits>

namespace pallascope::machine::ops {

[[nodiscard]] float inverseErf(float y);

namespace rules {

// `approx` rounds to bf16, as JAX's interpreters do.
struct Reciprocal
{
    explicit Reciprocal(const RuleSetup& setup)
        : m_approx(std::get<ir::ReciprocalParams>(setup.operation.params).approx)
    {}

    auto operator()(Float auto a) const
    {
        return m_approx ? bf16ToFloat(floatToBf16(1.0F / bf16ToFloat(floatToBf16(a)))) : 1.0F / a;
    }

private:
    bool m_approx;
};

struct Exp
{
    static void all(const float* in, float* out, std::int64_t count)
    {
        arith::expF32(in, out, count);
    }

    float operator()(Float auto a) const; // declared only for its types
};

struct Exp2
{
    static void all(const float* in, float* out, std::int64_t count)
    {
        arith::exp2F32(in, out, count);
    }

    float operator()(Float auto a) const; // declared only for its types
};

struct Expm1
{
    auto operator()(Float auto a) const { return isSubnormal(a) ? a : std::expm1(a); }
};

struct Log
{
    auto operator()(Float auto a) const { return std::log(flushed(a)); }
};

struct Log1p
{
    auto operator()(Float auto a) const { return std::log1p(flushed(a)); }
};

struct Tanh
{
    auto operator()(Float auto a) const { return isSubnormal(a) ? a : std::tanh(a); }
};

struct Logistic
{
    auto operator()(Float auto a) const { return 1.0F / (1.0F + std::exp(-a)); }
};

struct Sqrt
{
    auto operator()(Float auto a) const { return std::sqrt(flushed(a)); }
};

struct Rsqrt
{
    auto operator()(Float auto a) const { return 1.0F / std::sqrt(flushed(a)); }
};

struct Cbrt
{
    auto operator()(Float auto a) const { return std::cbrt(flushed(a)); }
};

struct Sin
{
    auto operator()(Float auto a) const { return isSubnormal(a) ? a : std::sin(a); }
};

struct Cos
{
    auto operator()(Float auto a) const { return std::cos(flushed(a)); }
};

struct Tan
{
    auto operator()(Float auto a) const { return isSubnormal(a) ? a : std::tan(a); }
};

struct Erf
{
    auto operator()(Float auto a) const { return std::erf(flushed(a)); }
};

struct ErfInv
{
    auto operator()(Float auto a) const { return inverseErf(flushed(a)); }
};

struct Pow // int32 exponents are converted first
{
    auto operator()(Float auto a, Float auto b) const { return std::pow(flushed(a), flushed(b)); }
};

struct Atan2
{
    auto operator()(Float auto a, Float auto b) const { return std::atan2(flushed(a), flushed(b)); }
};

} // namespace rules

} // namespace pallascope::machine::ops
