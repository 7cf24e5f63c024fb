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

// Whether a GPU multiplies the operands of a dot_general as they are, on its FP32 units, since
// tensor cores would round them to TF32: f32 at HIGHEST precision, InputPrecision.IEEE in
// _dot_general_lowering of jax/_src/pallas/triton/lowering.py, where DEFAULT and HIGH are TF32.
// Triton takes tensor cores for f32 only at TF32 (supportMMA in lib/Analysis/Utility.cpp), and
// XLA's cuBLAS calls compute in TF32 up to HIGH (xla/stream_executor/gpu/gpu_blas_lt.cc,
// GetBlasComputationType).
[[nodiscard]] bool isFullPrecision(const chip::Chip& chip, const ir::Program& program,
                                   const ir::Operation& operation);

} // namespace pallascope::cost
