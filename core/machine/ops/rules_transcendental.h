// The transcendental operations on one element, one rule for each operation whose rule takes more
// than a line; core/ir/operations.inc has the others. All use the C library's f32 functions,
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

struct Pow // its int32 exponents are converted first
{
    auto operator()(Float auto a, Float auto b) const { return std::pow(flushed(a), flushed(b)); }
};

} // namespace rules

} // namespace pallascope::machine::ops
