// Runs regions, branches, loops and scopes, frame by frame, and the operations between segments.
#include "core/base/check.h"
#include "core/ir/cp_async.h"
#include "core/machine/engine/engine.h"

#include <algorithm>

namespace pallascope::machine {

using ir::OpCode;

void Engine::resume(BlockFrame& frame)
{
    while (frame.next < frame.plan->items.size()) {
        const PlanItem& item = frame.plan->items[frame.next];
        if (item.control == nullptr) {
            const bool isThroughL2 = m_fusionCopies.isThroughL2(item);
            if (!item.streams.empty() && !frame.streams && !isThroughL2
                && (!m_fusionCopies.begin(item, frame) || m_turn.halts())) {
                return;
            }
            if (!item.demands.empty() && !frame.reserved) {
                m_slotUnits.reserve(item);
                frame.reserved = true;
                if (m_turn.yields()) {
                    return;
                }
            }
            if (!m_segments.run(item, frame.done)) {
                return;
            }
            frame.reserved = false;
            if (isThroughL2 && !m_ending.isReached() && !m_fusionCopies.serve(item, frame)) {
                return;
            }
            if (frame.streams) {
                m_fusionCopies.end(item, frame);
            }
            ++frame.next;
            if (m_turn.yields()) {
                return;
            }
            continue;
        }
        ++frame.next;
        if (ir::opEntry(item.control->code).kind != ir::OpKind::Control) {
            runSync(item);
            if (m_turn.agent().waiting || m_turn.yields()) {
                return;
            }
        } else {
            enterControl(item); // invalidates `frame`
            return;
        }
    }
    if (frame.owner != nullptr) {
        assign(frame.owner->results, frame.plan->region->results, 0);
    }
    m_turn.agent().frames.pop_back();
}

// Assigns values in parallel: all are read before the first is written.
void Engine::assign(const std::vector<ir::ValueId>& to, const std::vector<ir::ValueId>& from,
                    std::size_t skip)
{
    std::vector<RuntimeValue> values;
    values.reserve(from.size());
    for (const ir::ValueId id : from) {
        values.push_back(m_turn.value(id));
    }
    for (std::size_t i = 0; i < values.size() && i + skip < to.size(); ++i) {
        if (!m_prepared.slots.isIdle(to[i + skip])) {
            m_turn.value(to[i + skip]) = std::move(values[i]);
        }
    }
}

void Engine::enterControl(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    m_recorder.countEvents(1);
    switch (operation.code) {
    case OpCode::Cond: {
        const RuntimeValue& index = m_turn.value(operation.operands[0]);
        m_findings.reportUndefinedUse(index, trace::FindingKind::UndefinedBranch, "A branch",
                                      operation.location);
        const auto last = static_cast<std::int64_t>(item.regions.size()) - 1;
        const auto branch =
            std::clamp<std::int64_t>(static_cast<std::int64_t>(index.scalar), 0, last);
        const BlockPlan& plan = *item.regions[static_cast<std::size_t>(branch)];
        if (plan.items.empty()) { // usual for a condition without an else
            assign(operation.results, plan.region->results, 0);
        } else {
            m_turn.agent().frames.emplace_back(std::in_place_type<BlockFrame>, &plan, &operation);
        }
        return;
    }
    case OpCode::Scan:
        m_turn.agent().frames.emplace_back(ScanFrame{&item, -1});
        return;
    case OpCode::While:
        m_turn.agent().frames.emplace_back(WhileFrame{&item, WhileFrame::Next::Test});
        return;
    case OpCode::Pipeline:
        m_pipelines.enter(item);
        return;
    case OpCode::RunScoped:
        m_scopes.enter(item);
        return;
    case OpCode::Kernel:
        m_state.races.enter(m_turn.agent().id);
        [[fallthrough]];
    case OpCode::Fusion:
        m_turn.agent().frames.emplace_back(BlockFrame{item.regions[0], item.control});
        return;
    case OpCode::CoreMap:
        m_coreMaps.enter(item);
        return;
    case OpCode::WarpMap:
        m_warps.enter(item);
        return;
    default:
        PALLASCOPE_CHECK(false && "not a control operation");
    }
}

void Engine::beginRound(const ir::Operation& loop)
{
    if (const std::int32_t row = m_prepared.description.loopOf(loop); row >= 0) {
        m_recorder.nextRound(row, m_turn.agent().id, m_turn.agent().time);
    }
}

void Engine::endRounds(const ir::Operation& loop)
{
    if (const std::int32_t row = m_prepared.description.loopOf(loop); row >= 0) {
        m_recorder.endLoop(row, m_turn.agent().id, m_turn.agent().time);
    }
}

void Engine::resume(ScanFrame& frame)
{
    const ir::Operation& operation = *frame.item->control;
    const ir::Region& body = operation.regions[0];
    assign(body.arguments, frame.done < 0 ? operation.operands : body.results, 1);
    ++frame.done;
    if (frame.done < std::get<ir::ScanParams>(operation.params).length) {
        m_turn.value(body.arguments[0]) =
            RuntimeValue::scalarOf(DType::Int32, static_cast<double>(frame.done));
        beginRound(operation);
        m_turn.agent().frames.emplace_back(BlockFrame{frame.item->regions[0]});
        return;
    }
    const std::vector<ir::ValueId> carry(body.arguments.begin() + 1, body.arguments.end());
    assign(operation.results, carry, 0);
    endRounds(operation);
    m_turn.agent().frames.pop_back();
}

void Engine::resume(WhileFrame& frame)
{
    const PlanItem& item = *frame.item;
    const ir::Operation& operation = *item.control;
    const ir::Region &condition = operation.regions[0], &body = operation.regions[1];
    switch (frame.next) {
    case WhileFrame::Next::Test:
        assign(condition.arguments, operation.operands, 0);
        frame.next = WhileFrame::Next::Decide;
        m_turn.agent().frames.emplace_back(BlockFrame{item.regions[0]});
        return;
    case WhileFrame::Next::Decide:
        m_findings.reportUndefinedUse(m_turn.value(condition.results[0]),
                                      trace::FindingKind::UndefinedBranch, "A loop",
                                      operation.location);
        if (m_turn.value(condition.results[0]).scalar == 0) {
            assign(operation.results, condition.arguments, 0);
            endRounds(operation);
            m_turn.agent().frames.pop_back();
            return;
        }
        assign(body.arguments, condition.arguments, 0);
        frame.next = WhileFrame::Next::Carry;
        beginRound(operation);
        m_turn.agent().frames.emplace_back(BlockFrame{item.regions[1]});
        return;
    case WhileFrame::Next::Carry:
        assign(condition.arguments, body.results, 0);
        frame.next = WhileFrame::Next::Decide;
        m_turn.agent().frames.emplace_back(BlockFrame{item.regions[0]});
        return;
    }
}

void Engine::runSync(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    m_recorder.countEvents(1);
    switch (operation.code) {
    case OpCode::MatmulPushRhs:
        m_matrixUnit.pushRhs(operation);
        return;
    case OpCode::MatmulAccLhs:
    case OpCode::MatmulLhsFifo:
        m_matrixUnit.accumulate(item);
        return;
    case OpCode::MatmulPop:
        m_matrixUnit.pop(operation);
        return;
    case OpCode::MatmulPopFifo:
        m_matrixUnit.popFirst(operation);
        return;
    case OpCode::DmaStart:
        m_manualCopies.start(operation);
        return;
    case OpCode::DmaWait:
        m_manualCopies.waitFor(operation);
        return;
    case OpCode::SemaphoreSignal:
        m_semaphores.signalByProgram(operation);
        return;
    case OpCode::SemaphoreWait:
        m_semaphores.wait(operation, m_turn.semaphoreOf(operation.operands[0]),
                          m_turn.number(operation.operands[1]),
                          std::get<ir::SemaphoreWaitParams>(operation.params).decrement);
        return;
    case OpCode::SemaphoreRead: {
        const std::int32_t semaphore = m_turn.semaphoreOf(operation.operands[0]);
        m_turn.value(operation.results[0]) = RuntimeValue::scalarOf(
            DType::Int32, static_cast<double>(m_state.sync.semaphores[semaphore].count));
        return;
    }
    case OpCode::Delay:
        delay(operation);
        return;
    default:
        PALLASCOPE_CHECK(runOfGpu(item) || runOfTensorMemory(item));
    }
}

// Runs an operation of a GPU's agents. Returns false if it is another one.
bool Engine::runOfGpu(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    switch (operation.code) {
    case OpCode::CopyGmemToSmem:
        m_manualCopies.start(operation);
        if (ir::isCpAsync(operation)) { // each is a group
            m_groups.commit();
        }
        return true;
    case OpCode::CopySmemToGmem:
        m_manualCopies.start(operation);
        if (std::get<ir::StoreCopyParams>(operation.params).commit) {
            m_groups.commit();
        }
        return true;
    case OpCode::CommitGroup:
        m_groups.commit();
        return true;
    case OpCode::WaitSmemToGmem:
    case OpCode::WaitGmemToSmem:
        m_groups.wait(operation);
        return true;
    case OpCode::BarrierArrive:
        m_barriers.arriveByProgram(operation);
        return true;
    case OpCode::BarrierWait:
        m_barriers.wait(operation);
        return true;
    case OpCode::BarrierTest:
        m_turn.value(operation.results[0]) =
            RuntimeValue::scalarOf(DType::Bool, m_barriers.test(operation) ? 1 : 0);
        return true;
    case OpCode::Wgmma:
        m_products.multiply(item);
        return true;
    case OpCode::WgmmaWait:
        m_products.wait(operation);
        return true;
    case OpCode::WgmmaAccumulatorDeref:
        m_products.load(operation);
        return true;
    case OpCode::WgmmaAccumulatorStore:
        m_products.store(operation);
        return true;
    case OpCode::CommitSmem:
        m_state.races.commit(m_turn.agent().id);
        return true;
    case OpCode::SetMaxRegisters:
        return true; // it changes no value
    default:
        return false;
    }
}

// The same for operations on TMEM, and for claims of further work, of which chips with one know.
bool Engine::runOfTensorMemory(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    switch (operation.code) {
    case OpCode::Tcgen05Mma:
        m_tensorMemory.multiply(item);
        return true;
    case OpCode::AsyncCopySmemToTmem:
        m_tensorMemory.copyFromShared(operation);
        return true;
    case OpCode::Tcgen05CommitArrive:
        m_tensorMemory.commitArrive(operation);
        return true;
    case OpCode::WaitLoadTmem:
        m_tensorMemory.awaitLoads();
        return true;
    case OpCode::CommitTmem:
        m_tensorMemory.awaitStores();
        return true;
    case OpCode::TryClusterCancel:
        m_coreMaps.claim(operation);
        return true;
    default:
        return false;
    }
}

void Engine::delay(const ir::Operation& operation)
{
    const std::int64_t nanoseconds =
        std::max<std::int64_t>(0, m_turn.number(operation.operands[0]));
    const Picoseconds end = m_turn.agent().time + Picoseconds(nanoseconds * 1000);
    m_recorder.addWait({.operation = trace::OperationRow{operation.id}},
                       trace::AgentRow{m_turn.agent().id}, m_turn.agent().step, m_turn.agent().time,
                       end);
    m_turn.agent().time = end;
    if (end > kLongestRun) {
        m_ending.fail(
            limitError("The run takes longer than 53 days on this chip; a shorter delay is "
                       "right."));
    }
}

} // namespace pallascope::machine
