#include "core/machine/prepare/prepared.h"

#include "core/base/check.h"
#include "core/cost/block_grid.h"
#include "core/ir/cp_async.h"
#include "core/ir/mesh.h"
#include "core/ir/pipeline_facts.h"
#include "core/machine/prepare/may_race.h"
#include "core/machine/prepare/static_findings.h"
#include "core/machine/prepare/written.h"

#include <algorithm>
#include <optional>
#include <set>

namespace pallascope::machine {

using ir::OpCode;

namespace {

// See RefUses::hasProxies. On a TPU no copy or product uses SMEM in this way.
std::vector<bool> withBothProxies(const ir::Program& program, const NeededSet& needed)
{
    std::vector<bool> generic(program.values.size(), false), async = generic;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        const ir::OpKind kind = ir::opEntry(operation.code).kind;
        const bool isAsync =
            kind == ir::OpKind::Request || operation.code == OpCode::AsyncCopySmemToTmem
            || (ir::startsCopy(operation.code) && operation.code != OpCode::DmaStart);
        for (std::size_t i = 0; i < operation.operands.size(); ++i) {
            const ir::ValueId operand = operation.operands[i];
            const ir::Type& type = program.type(operand);
            if (type.space == ir::MemorySpace::Smem) {
                const auto root = static_cast<std::size_t>(needed.root(operand).index);
                generic[root] = generic[root] || kind == ir::OpKind::Memory;
                async[root] = async[root] || isAsync;
            }
        }
    });
    for (std::size_t i = 0; i < generic.size(); ++i) {
        generic[i] = generic[i] && async[i];
    }
    return generic;
}

// The copies that threads make, each its elements, in the loops that Triton pipelines.
std::set<const ir::Operation*> copiesByThreads(const ir::Program& program)
{
    std::set<const ir::Operation*> found;
    ir::forEachOfTriton(program, [&](const ir::Operation& operation) {
        if (operation.code == OpCode::CopyGmemToSmem) {
            found.insert(&operation);
        }
    });
    return found;
}

} // namespace

RefUses::RefUses(const ir::Program& program, const NeededSet& needed)
    : mayRace(machine::mayRace(program, needed))
    , written(writtenRoots(program, needed))
    , broughtTo(machine::broughtTo(program, needed))
    , hasProxies(withBothProxies(program, needed))
    , ofBlocks(program.values.size(), false)
    , signalled(program.values.size(), false)
    , reaches(program.values.size(), false)
    , beside(program.values.size(), false)
    , promised(program.values.size(), false)
    , besideLoads(program.values.size(), false)
    , masked(program.values.size(), false)
    , seen(program.values.size())
{
    std::vector<bool> otherwise(program.values.size(), false);
    const std::set<const ir::Operation*> byThreads = copiesByThreads(program);
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        const bool isByElement = ir::isMasked(operation.code) || byThreads.contains(&operation)
                                 || ir::isMaskedCopy(program, operation);
        for (std::size_t i = 0; i < operation.operands.size(); ++i) {
            const bool may = i == 0 && isByElement;
            (may ? masked : otherwise)[static_cast<std::size_t>(operation.operands[i].index)] =
                true;
            if (ir::roleOf(operation, i) != ir::OperandRole::Sized) {
                reaches[static_cast<std::size_t>(operation.operands[i].index)] = true;
            }
        }
        const bool copies = ir::startsCopy(operation.code) || operation.code == OpCode::DmaWait;
        for (std::size_t i = copies ? 2 : 0; i < operation.operands.size(); ++i) {
            beside[static_cast<std::size_t>(operation.operands[i].index)] = true;
        }
        const auto* load = std::get_if<ir::LoadCopyParams>(&operation.params);
        const bool fills = load != nullptr && !ir::isCpAsync(operation);
        for (std::size_t i = fills ? 1 : 0; i < operation.operands.size(); ++i) {
            besideLoads[static_cast<std::size_t>(operation.operands[i].index)] = true;
        }
        if (load != nullptr && load->outside == ir::OutsideMode::PromiseInBounds) {
            promised[static_cast<std::size_t>(operation.operands[0].index)] = true;
        }
        if (operation.code == OpCode::DmaStart
            && std::get<ir::DmaParams>(operation.params).device) {
            signalled[static_cast<std::size_t>(needed.root(operation.operands[2]).index)] = true;
        }
        if (const auto* scope = std::get_if<ir::ScopedParams>(&operation.params);
            scope != nullptr && scope->collective) {
            for (const ir::ValueId ref : operation.regions[0].arguments) {
                ofBlocks[static_cast<std::size_t>(ref.index)] = true;
            }
        }
        if (ir::opEntry(operation.code).kind == ir::OpKind::View && !operation.operands.empty()) {
            seen[static_cast<std::size_t>(operation.results[0].index)] = operation.operands[0];
        }
    });
    for (std::size_t i = 0; i < masked.size(); ++i) {
        masked[i] = masked[i] && !otherwise[i];
    }
}

namespace {

OperandPlans operandPlans(const ir::Program& program, const chip::Chip& chip,
                          const AgentLayout& layout, const NeededSet& needed, const RefUses& uses)
{
    const bool isAlone = layout.isAlone(); // otherwise another agent may write at any time
    OperandPlans plans;
    for (const ir::Operation* pipeline : ir::pipelinesOf(program)) {
        // Roots that the pipeline writes to; computed only if asked for.
        std::optional<std::vector<bool>> inside;
        const auto writesTo = [&](ir::ValueId ref) {
            const auto root = static_cast<std::size_t>(needed.root(ref).index);
            if (!uses.written[root]) {
                return Writes::Never;
            }
            if (isAlone && !inside) {
                inside = writtenRoots(program, *pipeline, needed);
            }
            return isAlone && !(*inside)[root] ? Writes::Before : Writes::During;
        };
        const std::size_t count = std::get<ir::PipelineParams>(pipeline->params).specs.size();
        for (std::size_t i = 0; i < count; ++i) {
            plans.try_emplace({pipeline, i}, planOperand(program, *pipeline, i, chip, writesTo));
        }
    }
    return plans;
}

} // namespace

ir::ValueId Prepared::rootOf(ir::ValueId ref) const
{
    while (uses.seen[static_cast<std::size_t>(ref.index)].index >= 0) {
        ref = uses.seen[static_cast<std::size_t>(ref.index)];
    }
    return ref;
}

std::string Prepared::refName(ir::ValueId ref) const
{
    const std::string& name = program.value(rootOf(ref)).name;
    return name.empty() ? "a ref" : name;
}

Result<std::shared_ptr<const Prepared>> prepare(const ir::Program& program,
                                                const chip::Chip& unclocked, ValueMode values,
                                                bool rows, const Settings& settings)
{
    std::shared_ptr<const chip::Chip> clocked;
    if (settings.clock != chip::Clock::Sustained) {
        Result<chip::Chip> changed = chip::atClock(unclocked, settings.clock);
        if (!changed) {
            return changed.error();
        }
        clocked = std::make_shared<const chip::Chip>(std::move(*changed));
    }
    const chip::Chip& chip = clocked ? *clocked : unclocked;
    if (Status status = checkLongGrids(chip, settings); !status) {
        return status.error();
    }
    const Result<std::vector<cost::Budget>> budgets =
        fittingBudgets(program, chip, settings.registers);
    if (!budgets) {
        return budgets.error();
    }
    NeededSet needed =
        values == ValueMode::Full ? NeededSet::everything(program) : NeededSet::of(program);
    Slots slots(program, needed);
    Constants constants(program, needed, slots);
    Result<Plan> plan = makePlan(program, chip, needed, constants);
    if (!plan) {
        return plan.error();
    }
    const std::vector<cost::BlockGrid> grids = cost::blockGrids(program, chip, settings.registers);
    AgentLayout layout = agentLayout(program, chip, grids);
    Result<Description> description =
        Description::of(program, chip, layout, *plan, *budgets, grids, rows);
    if (!description) {
        return description.error();
    }
    if (rows) { // only a run with rows becomes a trace
        if (Status status = trace::checkInfo(description->info); !status) {
            checkFailed(status.error().message, __FILE__, __LINE__);
        }
    }
    std::vector<trace::Finding> findings =
        staticFindings(program, chip, *plan, *budgets, *description);
    RefUses uses(program, needed);
    OperandPlans operands = operandPlans(program, chip, layout, needed, uses);
    return std::make_shared<const Prepared>(
        Prepared{program, std::move(clocked), chip, values, rows, settings.registers,
                 settings.clock, std::move(needed), std::move(slots), std::move(constants),
                 std::move(uses), std::move(layout), std::move(*plan), std::move(operands),
                 std::move(*description), std::move(findings)});
}

} // namespace pallascope::machine
