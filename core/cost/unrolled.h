// What a compiler leaves of an unrolled loop: its rounds are one straight stretch, in which what is
// the same in every round is computed once, what was stored is still in registers, and what is
// stored again need not be stored before.
#pragma once

#include "core/ir/program.h"

#include <map>

namespace pallascope::cost {

// Of the operations of a scan that is unrolled whole, those that do not run in every round, by
// their ids: the share of rounds in which they do.
[[nodiscard]] std::map<std::int32_t, double> unrolledShares(const ir::Program& program,
                                                            const ir::Operation& scan);

// Whether all rounds of a loop are written out. (jax.lax.fori_loop with unroll=True;
// jax/_src/pallas/mosaic/lowering.py, _lower_jaxpr_to_for_loop.)
[[nodiscard]] bool isUnrolled(const ir::Operation& operation);

} // namespace pallascope::cost
