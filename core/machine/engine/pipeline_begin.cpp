// A pipeline is entered with its grid, slots and scratch, and gives them back when it ends.
#include "core/base/format.h"
#include "core/machine/engine/engine.h"

#include <algorithm>
#include <bit>

namespace pallascope::machine {

const OperandPlan* Engine::operandPlan(const ir::Operation& pipeline, std::size_t operand)
{
    const Result<std::shared_ptr<const OperandPlan>>& plan =
        m_operandPlans.at({&pipeline, operand});
    if (!plan) {
        fail(plan.error());
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

// Whether what a step's index map gives may be something else a step later.
bool Engine::isLive(const BlockMap& map)
{
    if (!map.isLive() && !map.filled().empty()) {
        land(m_agent->time); // what has ended by now is no longer on its way
    }
    return map.isLive()
           || std::any_of(map.filled().begin(), map.filled().end(),
                          [&](ir::ValueId ref) { return isOnItsWay(binding(ref).buffer); });
}

void Engine::enterPipeline(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    PipelineFrame frame;
    frame.item = &item;
    frame.params = &std::get<ir::PipelineParams>(operation.params);
    frame.outerStep = m_agent->step;
    frame.outerGrid = m_agent->gridFrame;
    if (!takeGrid(frame, operation)) {
        return;
    }
    for (std::size_t i = 0; i < frame.params->specs.size(); ++i) {
        PipelineOperand operand;
        operand.plan = operandPlan(operation, i);
        if (operand.plan == nullptr) {
            return;
        }
        const ir::OperandFacts& facts = operand.plan->facts;
        operand.traceOperand = m_recorder.operandIndex(operation, frame.traceIndex, i);
        operand.array = binding(operation.operands[i]);
        operand.isLive = isLive(operand.plan->map);
        frame.isLive = frame.isLive || operand.isLive;
        operand.contents = m_needed.needsContents(operation.operands[i]);
        if (!facts.unbuffered) {
            frame.owned.buffers.emplace_back(operand.plan->blockRef,
                                             m_state.memory.allocate(facts.slots));
            operand.firstSlot = frame.owned.buffers.back().second.first;
            for (std::int32_t slot = 0; slot < facts.slots; ++slot) {
                m_state.memory[operand.firstSlot + slot] = {
                    undefined(operand.plan->dtype, operand.plan->blockShape), false, true};
            }
            operand.inCopyOfSlot.resize(static_cast<std::size_t>(facts.slots));
            operand.outCopyOfSlot.resize(static_cast<std::size_t>(facts.slots));
            operand.lastVisitOfBlock.assign(static_cast<std::size_t>(operand.plan->blocks), -1);
        }
        frame.stages = std::max<std::int64_t>({frame.stages, facts.inCount, facts.outCount});
        frame.operands.push_back(std::move(operand));
    }
    const auto& arguments = operation.regions[0].arguments;
    allocate({arguments.begin() + static_cast<std::ptrdiff_t>(frame.params->specs.size()),
              arguments.end()},
             frame.owned);
    frame.window =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * frame.stages + 4)));
    const GridPoint origin{0, std::vector<std::int64_t>(frame.grid.size())};
    frame.here = origin;
    frame.points.assign(frame.operands.size(), origin);
    frame.actions.resize(frame.operands.size());
    frame.looked.resize(static_cast<std::size_t>(frame.window) * frame.operands.size());
    m_recorder.reserve(frame.traceIndex, frame.steps);
    m_agent->frames.emplace_back(std::move(frame));
}

// The grid of this execution; false when there is nothing to run.
bool Engine::takeGrid(PipelineFrame& frame, const ir::Operation& operation)
{
    frame.grid = frame.params->grid;
    std::size_t operand = frame.params->specs.size();
    for (Extent& extent : frame.grid) {
        if (extent != ir::kDynamicExtent) {
            continue;
        }
        const RuntimeValue& bound = value(operation.operands[operand++]);
        reportUndefinedUse(bound, "undefined_bound", "The grid", operation.location);
        extent = static_cast<Extent>(bound.scalar);
        if (extent < 0) {
            fail(userError(m_program.where(operation.location) + ": the grid has an axis of "
                           + std::to_string(extent) + " steps; 0 or more is right."));
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
        fail(limitError(m_program.name + " takes more than " + countText(kMostSteps)
                        + " grid steps, the most that a run records. Larger blocks make fewer "
                          "steps."));
        return false;
    }
    if (frame.steps > 0) {
        frame.traceIndex = m_recorder.enterPipeline(operation, frame.grid, m_agent->id);
    }
    return frame.steps > 0;
}

void Engine::endPipeline(PipelineFrame& frame)
{
    noteVisited(frame);
    reportNeverAwaited(frame);
    land(m_agent->time);
    m_agent->gridFrame = frame.outerGrid;
    m_agent->step = frame.outerStep;
    const Owned owned = std::move(frame.owned);
    m_agent->frames.pop_back();
    release(owned);
}

} // namespace pallascope::machine
