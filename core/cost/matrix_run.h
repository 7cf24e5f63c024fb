// Decides how a matrix unit runs products of two dtypes: at which rate, and in how many passes.
#pragma once

#include "core/base/dtype.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <optional>

namespace pallascope::cost {

struct MatrixRun
{
    DType dtype = DType::BF16; // whose rate it runs at
    std::int32_t passes = 1;   // how often the operands go through the unit
    bool operator==(const MatrixRun&) const = default;
};

// Nothing if the unit cannot run such a product. Operands run at the rate of the wider one, or of
// the narrowest dtype with a rate that holds its numbers. If bf16 does not hold them, as with f32,
// the operands go through as bf16: once at default precision, three times (HIGH) or six times
// (HIGHEST) to keep their bits. Source: JAX docs/jax.lax.html#jax.lax.Precision;
// jax/_src/pallas/mosaic/lowering.py accepts such dots, with a cast.
[[nodiscard]] std::optional<MatrixRun> matrixRun(const chip::Unit& unit, DType lhs, DType rhs,
                                                 ir::DotPrecision precision);

// For a dot_general, or a request to the unit.
[[nodiscard]] std::optional<MatrixRun> matrixRun(const chip::Unit& unit, const ir::Program& program,
                                                 const ir::Operation& operation);

} // namespace pallascope::cost
