// What refs take of a GPU's tensor memory (TMEM), by JAX's rules
// (jax/_src/pallas/mosaic_gpu/core.py and tcgen05.tmem_alloc_exact_ncols of JAX 0.12).
#pragma once

#include "core/base/units.h"
#include "core/ir/program.h"

#include <cstdint>
#include <vector>

namespace pallascope::cost {

// TMEM has 128 lanes; a column is a word of 32 bits of each.
inline constexpr std::int64_t kTensorLanes = 128, kTensorColumnBytes = 4 * kTensorLanes;

// The columns of a ref of at least two axes: rows are lanes, whatever their number, and the axes
// before them lie side by side. Elements of fewer than 32 bits are packed.
[[nodiscard]] std::int64_t tensorColumns(DType dtype, const Shape& shape);

// What an allocation of so many columns takes: a power of two of at least 32.
[[nodiscard]] std::int64_t allocatedColumns(std::int64_t columns);

// The columns that a block takes of its SM's TMEM: the sum over nested scopes, the largest of
// scopes that follow each other.
[[nodiscard]] std::int64_t blockColumns(const ir::Program& program, const ir::Region& region);

} // namespace pallascope::cost
