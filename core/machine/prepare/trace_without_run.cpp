// Makes the trace of a program that is not run.
#include "core/machine/trace_without_run.h"

#include "core/cost/budget.h"
#include "core/machine/prepare/agent_layout.h"
#include "core/machine/prepare/constants.h"
#include "core/machine/prepare/description.h"
#include "core/machine/prepare/plan.h"

namespace pallascope::machine {

Result<std::shared_ptr<const trace::Trace>>
traceWithoutRun(const ir::Program& program, const chip::Chip& chip,
                std::map<std::string, std::string> parameters,
                std::vector<std::string> parameterOrder)
{
    const Result<std::vector<cost::Budget>> budgets = cost::budgets(program, chip);
    if (!budgets) {
        return budgets.error();
    }
    const NeededSet needed = NeededSet::of(program);
    const Slots slots(program, needed);
    const Constants constants(program, needed, slots);
    const Result<Plan> plan = makePlan(program, chip, needed, constants);
    if (!plan) {
        return plan.error();
    }
    const bool listing = true;
    const std::vector<cost::BlockGrid> grids = cost::blockGrids(program, chip);
    Result<Description> description = Description::of(
        program, chip, agentLayout(program, chip, grids), *plan, *budgets, grids, listing);
    if (!description) {
        return description.error();
    }
    trace::TraceBuilder builder;
    builder.info = std::move(description->info);
    builder.info.parameters = std::move(parameters);
    builder.info.parameterOrder = std::move(parameterOrder);
    builder.info.values = "needed";
    return std::move(builder).finish();
}

} // namespace pallascope::machine
