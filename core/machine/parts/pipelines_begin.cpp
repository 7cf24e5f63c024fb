// Begins a pipeline with its grid, slots and scratch, and gives these back when it ends.
#include "core/base/format.h"
#include "core/ir/mesh.h"
#include "core/machine/parts/pipelines.h"

#include <algorithm>
#include <bit>

namespace pallascope::machine {

const OperandPlan* Pipelines::operandPlan(const ir::Operation& pipeline, std::size_t operand)
{
    const Result<std::shared_ptr<const OperandPlan>>& plan =
        m_prepared.operandPlans.at({&pipeline, operand});
    if (!plan) {
        m_ending.fail(plan.error());
        return nullptr;
    }
    if (!(*plan)->facts.isIndirect()) {
        return plan->get();
    }
    std::unique_ptr<OperandPlan>& mine = m_indirect[{&pipeline, operand}];
    if (!mine) {
        mine = std::make_unique<OperandPlan>(**plan);
        mine->map.beginLists();
    }
    return mine.get();
}

// Whether the index map of one step may return another block when it is evaluated again later.
bool Pipelines::isLive(const BlockMap& map)
{
    if (!map.isLive() && !map.filled().empty()) {
        m_copies.land(m_turn.agent().time); // what has ended by now is no longer under way
    }
    return map.isLive()
           || std::any_of(map.filled().begin(), map.filled().end(), [&](ir::ValueId ref) {
                  return m_copies.isOnItsWay(m_turn.binding(ref).buffer);
              });
}

void Pipelines::enter(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    PipelineFrame frame;
    frame.item = &item;
    frame.params = &std::get<ir::PipelineParams>(operation.params);
    frame.outerStep = m_turn.agent().step;
    frame.outerGrid = m_turn.agent().gridFrame;
    if (!takeGrid(frame, operation)) {
        return;
    }
    for (std::size_t i = 0; i < frame.params->specs.size(); ++i) {
        if (!takeOperand(frame, operation, i)) {
            return;
        }
    }
    const auto& arguments = operation.regions[0].arguments;
    m_scopes.allocate({arguments.begin() + static_cast<std::ptrdiff_t>(frame.params->specs.size()),
                       arguments.end()},
                      frame.owned);
    frame.window =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * frame.stages + 4)));
    const GridPoint origin{0, std::vector<std::int64_t>(frame.grid.size())};
    frame.here = origin;
    frame.points.assign(frame.operands.size(), origin);
    frame.actions.resize(frame.operands.size());
    for (const PipelineOperand& operand : frame.operands) {
        PipelineFrame::Changes& changes = frame.changes.emplace_back();
        if (operand.plan->map.isPlain() && operand.array.whole && !operand.isLive) {
            changes.every = operand.plan->map.changesEvery(frame.grid, frame.offset);
        }
    }
    frame.looked.resize(static_cast<std::size_t>(frame.window) * frame.operands.size());
    m_recorder.reserve(frame.traceIndex, frame.steps);
    m_turn.agent().frames.emplace_back(std::move(frame));
}

// Sets the grid of this execution. Returns false if there is nothing to run.
bool Pipelines::takeGrid(PipelineFrame& frame, const ir::Operation& operation)
{
    frame.grid = frame.params->grid;
    std::size_t operand = frame.params->specs.size();
    for (Extent& extent : frame.grid) {
        if (extent != ir::kDynamicExtent) {
            continue;
        }
        const RuntimeValue& bound = m_turn.value(operation.operands[operand++]);
        m_findings.reportUndefinedUse(bound, trace::FindingKind::UndefinedBound, "The grid",
                                      operation.location);
        extent = static_cast<Extent>(bound.scalar);
        if (extent < 0) {
            m_ending.fail(userError(m_prepared.program.where(operation.location)
                                    + ": the grid has an axis of " + std::to_string(extent)
                                    + " steps; expected 0 or more."));
            return false;
        }
    }
    shareGrid(frame);
    __int128 steps = 1;
    for (const Extent extent : frame.grid) {
        steps = std::min<__int128>(steps * extent, kMostSteps + 1);
    }
    frame.steps = static_cast<std::int64_t>(steps);
    if (m_recorder.position().steps + frame.steps > kMostSteps) {
        m_ending.fail(
            limitError(m_prepared.program.name + " takes more than " + countText(kMostSteps)
                       + " grid steps, the most that a run records. Larger blocks make fewer "
                         "steps."));
        return false;
    }
    if (frame.steps > 0) {
        frame.traceIndex = m_recorder.enterPipeline(operation, frame.grid, m_turn.agent().id);
    }
    return frame.steps > 0;
}

void Pipelines::endPipeline(PipelineFrame& frame)
{
    m_findings.noteVisited(frame, m_aliased);
    m_findings.reportNeverAwaited(frame);
    m_copies.land(m_turn.agent().time);
    m_turn.agent().gridFrame = frame.outerGrid;
    m_turn.agent().step = frame.outerStep;
    const Owned owned = std::move(frame.owned);
    m_turn.agent().frames.pop_back();
    m_scopes.release(owned);
}

// Takes this core's part of a pipeline's grid, by the rule of _partition_grid in JAX's
// jax/_src/pallas/mosaic/pipeline.py. One parallel axis is split: the first one whose extent the
// number of cores divides, otherwise the only dynamic one, otherwise the largest. In the last case
// the first cores get one step more.
void Pipelines::shareGrid(PipelineFrame& frame) const
{
    const ir::PipelineParams& params = *frame.params;
    std::int64_t cores = 1, core = 0;
    for (const std::string& name : params.blockAxes) {
        const std::size_t axis = ir::axisNamed(m_turn.agent().mesh->grid, name).value();
        const std::int64_t size = m_turn.agent().mesh->grid[axis].size;
        core = core * size + ir::coordinate(m_turn.agent().mesh->grid, m_turn.agent().block, axis);
        cores *= size;
    }
    if (!params.coreAxis.empty()) {
        core = core * m_turn.agent().cores + m_turn.agent().core;
        cores *= m_turn.agent().cores;
    }
    if (cores == 1) {
        return;
    }
    std::size_t chosen = static_cast<std::size_t>(params.parallel.front());
    bool even = false, isStatic = false;
    Extent largest = -1;
    for (const std::int32_t axis : params.parallel) {
        const auto at = static_cast<std::size_t>(axis);
        if (params.grid[at] == ir::kDynamicExtent) {
            continue;
        }
        if (!isStatic || (!even && params.grid[at] > largest)) {
            chosen = at;
            largest = params.grid[at];
        }
        isStatic = true;
        if (!even && params.grid[at] % cores == 0) {
            chosen = at;
            even = true;
        }
    }
    const Extent all = frame.grid[chosen], base = all / cores, rest = all % cores;
    frame.grid[chosen] = base + (core < rest ? 1 : 0);
    frame.offset.assign(frame.grid.size(), 0);
    frame.offset[chosen] = core * base + std::min<std::int64_t>(core, rest);
}

void Pipelines::recordLists()
{
    for (const auto& [at, plan] : m_indirect) {
        m_recorder.recordLists(*at.first, at.second, plan->facts.blockCounts, plan->map.lists());
    }
}

bool Pipelines::takeOperand(PipelineFrame& frame, const ir::Operation& operation, std::size_t i)
{
    PipelineOperand operand;
    operand.plan = operandPlan(operation, i);
    if (operand.plan == nullptr) {
        return false;
    }
    const ir::OperandFacts& facts = operand.plan->facts;
    operand.traceOperand =
        m_recorder.operandIndex(operation, frame.traceIndex, i).value_or(trace::kNone);
    operand.array = m_turn.binding(operation.operands[i]);
    operand.isLive = isLive(operand.plan->map);
    frame.isLive = frame.isLive || operand.isLive;
    operand.contents = m_prepared.needed.needsContents(operation.operands[i]);
    if (!facts.unbuffered) {
        frame.owned.buffers.emplace_back(operand.plan->blockRef, m_memory.allocate(facts.slots));
        operand.firstSlot = frame.owned.buffers.back().second.first;
        for (std::int32_t slot = 0; slot < facts.slots; ++slot) {
            Memory& memory = m_memory[operand.firstSlot + slot] = {
                m_turn.undefined(operand.plan->dtype, operand.plan->blockShape)};
            memory.isUncontested = m_prepared.layout.devices == 1; // others may copy into it
            memory.device = m_turn.agent().device;
        }
        m_watch.created(operand.plan->blockRef, {operand.firstSlot, facts.slots});
        operand.inCopyOfSlot.resize(static_cast<std::size_t>(facts.slots));
        operand.outCopyOfSlot.resize(static_cast<std::size_t>(facts.slots));
        operand.lastVisitOfBlock.assign(static_cast<std::size_t>(operand.plan->blocks), -1);
    }
    frame.stages = std::max<std::int64_t>({frame.stages, facts.inCount, facts.outCount});
    frame.operands.push_back(std::move(operand));
    return true;
}

} // namespace pallascope::machine
