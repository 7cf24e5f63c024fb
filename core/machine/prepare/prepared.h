// What all runs of one program on one chip share. It is made once and read by any number of runs.
// Internal to core/machine; run.h is the way in.
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
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pallascope::machine {

// How a program uses its refs, anywhere in it.
struct RefUses
{
    RefUses(const ir::Program& program, const NeededSet& needed);

    bool mayRace = false;                // whether two accesses can be unordered
    std::vector<bool> written;           // by root; see writtenRoots
    std::vector<std::int32_t> broughtTo; // by root; see broughtTo
    // By root: SMEM of a GPU that loads or stores use, and copies or products too.
    std::vector<bool> hasProxies;
    std::vector<bool> ofBlocks;  // by root: all agents of a block share it
    std::vector<bool> signalled; // by root: copies that other devices start may signal it
    std::vector<bool> reaches;   // by ValueId: something other than a wait for a copy uses it
    std::vector<bool> beside;    // by ValueId: something other than copies uses it
    std::vector<bool> promised;  // by ValueId: copies that promise that it lies in its array use it
    // By ValueId: something other than copies into SMEM by a GPU's TMA uses it.
    std::vector<bool> besideLoads;
    std::vector<bool> masked; // by ValueId: it is used, and only where a mask may say what of it
    std::vector<ir::ValueId> seen; // by ValueId: for a view the ref that it is a view of
};

// By pipeline and number of the operand. An error is that of a run that reaches the pipeline.
using OperandPlans = std::map<std::pair<const ir::Operation*, std::size_t>,
                              Result<std::shared_ptr<const OperandPlan>>>;

// A limit error if the program has more grid steps than `most`, as far as they are known before it
// runs.
[[nodiscard]] Status checkSteps(const ir::Program& program, std::int64_t most);

// What the program occupies on the chip. Errors are those of checkFit().
[[nodiscard]] Result<std::vector<cost::Budget>>
fittingBudgets(const ir::Program& program, const chip::Chip& chip,
               std::optional<std::int64_t> registers);

// A user error if a chip that is not a GPU is to pass over blocks of long grids, or not to.
[[nodiscard]] Status checkLongGrids(const chip::Chip& chip, const Settings& settings);

struct Prepared
{
    const ir::Program& program;
    std::shared_ptr<const chip::Chip> clocked; // the chip at the clock of the settings
    const chip::Chip& chip;
    ValueMode values;
    bool rows;
    std::optional<std::int64_t> registers; // these two as in the settings
    chip::Clock clock;
    NeededSet needed;
    Slots slots;
    Constants constants;
    RefUses uses;
    AgentLayout layout;
    Plan plan;
    OperandPlans operandPlans;
    Description description;
    std::vector<trace::Finding> findings; // those made before anything runs

    // The ref of which a ref is a view (itself if it is not a view), and the name that findings use
    // for that.
    [[nodiscard]] ir::ValueId rootOf(ir::ValueId ref) const;
    [[nodiscard]] std::string refName(ir::ValueId ref) const;
};

} // namespace pallascope::machine
