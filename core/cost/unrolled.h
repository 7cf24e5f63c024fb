// What remains of an unrolled loop after compilation. Its rounds become one straight stretch of
// code. What is the same in every round is computed once, what was stored is still in registers,
// and a store that a later round overwrites is dropped.
#pragma once

#include "core/ir/program.h"

#include <map>

namespace pallascope::cost {

// For a scan that is fully unrolled: the operations that do not run in every round, by id, and the
// share of rounds in which they run.
[[nodiscard]] std::map<std::int32_t, double> unrolledShares(const ir::Program& program,
                                                            const ir::Operation& scan);

// Whether all rounds of a loop are written out, as by jax.lax.fori_loop with unroll=True
// (jax/_src/pallas/mosaic/lowering.py, _lower_jaxpr_to_for_loop).
[[nodiscard]] bool isUnrolled(const ir::Operation& operation);

} // namespace pallascope::cost
