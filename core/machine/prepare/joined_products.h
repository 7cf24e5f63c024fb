// Finds products that are evaluated together with an addition.
#pragma once

#include "core/machine/prepare/plan.h"

namespace pallascope::machine {

// An f32 or int32 product whose only use is an addition is evaluated together with the addition, so
// that its elements are not written and read again. Sums over blocks of k, most of the work of
// matrix kernels, have this form. `uses` is by ValueId, as in Plan.
void joinProducts(const ir::Program& program, const std::vector<std::int32_t>& uses,
                  std::vector<Evaluation>& evaluations);

} // namespace pallascope::machine
