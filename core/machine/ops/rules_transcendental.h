// One element of those transcendental operations that take more than a line, which is in
// core/ir/operations.inc. Both use the C library's f32 functions, within an ulp or two of the exact
// value (tests/ops names each bound). Those with `all` take many at once. Where the result next to
// 0 is the operand, it stays a subnormal, as in XLA.
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

struct Pow // its int32 exponents are converted first
{
    auto operator()(Float auto a, Float auto b) const { return std::pow(flushed(a), flushed(b)); }
};

} // namespace rules

} // namespace pallascope::machine::ops
