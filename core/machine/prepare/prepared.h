// What the runs of one program on one chip have in common: made once, read by any number of runs.
// Internal to core/machine; run.h has the way in.
#pragma once

#include "core/cost/budget.h"
#include "core/machine/needed.h"
#include "core/machine/prepare/agent_layout.h"
#include "core/machine/prepare/description.h"
#include "core/machine/prepare/pipeline_operand.h"
#include "core/machine/prepare/plan.h"
#include "core/machine/run.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pallascope::machine {

// What a program does with its refs, wherever it does it.
struct RefUses
{
    RefUses(const ir::Program& program, const NeededSet& needed);

    bool mayRace = false;                // two accesses can be without order
    std::vector<bool> written;           // by root, see writtenRoots
    std::vector<std::int32_t> broughtTo; // by root
    std::vector<bool> reaches;           // by ValueId: a wait for a copy is not its only use
    std::vector<bool> beside;            // by ValueId: copies are not its only uses
    std::vector<ir::ValueId> seen;       // by ValueId: of a view the ref that it sees
};

// By pipeline and number of its operand; the error is that of a run that comes to the pipeline.
using OperandPlans = std::map<std::pair<const ir::Operation*, std::size_t>,
                              Result<std::shared_ptr<const OperandPlan>>>;

// A limit error for a program with more grid steps, as far as they are known before it runs.
[[nodiscard]] Status checkSteps(const ir::Program& program, std::int64_t most);

// What a program occupies on the chip; the errors are those of checkFit().
[[nodiscard]] Result<std::vector<cost::Budget>> fittingBudgets(const ir::Program& program,
                                                               const chip::Chip& chip);

struct Prepared
{
    const ir::Program& program;
    const chip::Chip& chip;
    ValueMode values;
    bool rows;
    NeededSet needed;
    Slots slots;
    Constants constants;
    RefUses uses;
    AgentLayout layout;
    Plan plan;
    OperandPlans operandPlans;
    Description description;
    std::vector<trace::Finding> findings; // before anything runs

    // The ref that a ref is a view of, or itself, and what findings call that.
    [[nodiscard]] ir::ValueId rootOf(ir::ValueId ref) const;
    [[nodiscard]] std::string refName(ir::ValueId ref) const;
};

} // namespace pallascope::machine
