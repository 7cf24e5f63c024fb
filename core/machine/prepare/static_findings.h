// Findings about a program that are known before it runs.
#pragma once

#include "core/cost/budget.h"
#include "core/machine/prepare/description.h"

#include <vector>

namespace pallascope::machine {

// Memories over their scoped limit, blocks that JAX's lowering for TPUs refuses, and figures of the
// chip that nobody has published.
[[nodiscard]] std::vector<trace::Finding> staticFindings(const ir::Program& program,
                                                         const chip::Chip& chip, const Plan& plan,
                                                         const std::vector<cost::Budget>& budgets,
                                                         const Description& description);

} // namespace pallascope::machine
