#include "core/machine/parts/sync_operations.h"

#include "core/base/check.h"
#include "core/ir/cp_async.h"

#include <algorithm>

namespace pallascope::machine {

using ir::OpCode;

SyncOperations::SyncOperations(const Context& context, Agents& agents, Copies& copies,
                               Semaphores& semaphores, Barriers& barriers, Accesses& accesses,
                               CoreMaps& coreMaps, Findings& findings)
    : Part(context)
    , m_semaphores(semaphores)
    , m_barriers(barriers)
    , m_coreMaps(coreMaps)
    , m_groups(context, copies)
    , m_matrixUnit(context, agents, findings)
    , m_products(context, agents, copies, accesses, findings)
    , m_manualCopies(context, agents, copies, semaphores, m_groups, accesses, findings)
    , m_tensorMemory(context, agents, copies, semaphores, accesses, findings)
{}

void SyncOperations::run(const PlanItem& item)
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
    case OpCode::SemaphoreRead:
        m_turn.value(operation.results[0]) = RuntimeValue::scalarOf(
            DType::Int32,
            static_cast<double>(m_semaphores.countOf(m_turn.semaphoreOf(operation.operands[0]))));
        return;
    case OpCode::Delay:
        delay(operation);
        return;
    default:
        PALLASCOPE_CHECK(runOfGpu(item) || runOfTensorMemory(item));
    }
}

// Runs an operation of a GPU's agents. Returns false if it is another one.
bool SyncOperations::runOfGpu(const PlanItem& item)
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
        m_races.commit(m_turn.agent().id);
        return true;
    case OpCode::SetMaxRegisters:
        return true; // it changes no value
    default:
        return false;
    }
}

// The same for operations on TMEM, and for claims of further work, of which chips with one know.
bool SyncOperations::runOfTensorMemory(const PlanItem& item)
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

void SyncOperations::delay(const ir::Operation& operation)
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
