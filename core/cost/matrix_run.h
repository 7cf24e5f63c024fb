// How a matrix unit runs products of two dtypes.
#pragma once

#include "core/base/dtype.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <optional>

namespace pallascope::cost {

struct MatrixRun
{
    DType dtype = DType::BF16; // whose rate it runs at
    std::int32_t passes = 1;   // how often the operands go through
    bool operator==(const MatrixRun&) const = default;
};

// Nothing where the unit takes no such product. Operands run at the rate of the wider one, or of
// the narrowest dtype with a rate that holds its numbers. What bf16 does not hold, f32 above all,
// goes through as bf16: once at default precision, three times (HIGH) or six times (HIGHEST) to
// keep its bits. Source: JAX docs/jax.lax.html#jax.lax.Precision;
// jax/_src/pallas/mosaic/lowering.py takes such dots, with a cast.
[[nodiscard]] std::optional<MatrixRun> matrixRun(const chip::Unit& unit, DType lhs, DType rhs,
                                                 ir::DotPrecision precision);

// Of a dot_general or a request of the unit.
[[nodiscard]] std::optional<MatrixRun> matrixRun(const chip::Unit& unit, const ir::Program& program,
                                                 const ir::Operation& operation);

} // namespace pallascope::cost
