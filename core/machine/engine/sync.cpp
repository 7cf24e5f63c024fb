// Signals and waits. A wait that cannot go on leaves the agent waiting; a signal wakes it.
// Semantics: JAX jax/_src/pallas/mosaic/primitives.py; a copy adds its bytes to its semaphore when
// it has landed, a wait takes them off.
#include "core/base/check.h"
#include "core/machine/engine/engine.h"

#include <algorithm>

namespace pallascope::machine {

using ir::OpCode;

void Engine::runSync(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    m_recorder.countEvents(1);
    switch (operation.code) {
    case OpCode::MatmulPushRhs:
        pushRhs(operation);
        return;
    case OpCode::MatmulAccLhs:
    case OpCode::MatmulLhsFifo:
        accumulate(item);
        return;
    case OpCode::MatmulPop:
        pop(operation);
        return;
    case OpCode::MatmulPopFifo:
        popFirst(operation);
        return;
    case OpCode::DmaStart:
        startDma(operation);
        return;
    case OpCode::DmaWait:
        waitForDma(operation);
        return;
    case OpCode::SemaphoreSignal:
        signalByHand(operation);
        return;
    case OpCode::SemaphoreWait:
        wait(operation, semaphoreOf(*m_agent, operation.operands[0]), number(operation.operands[1]),
             std::get<ir::SemaphoreWaitParams>(operation.params).decrement);
        return;
    case OpCode::SemaphoreRead: {
        const std::int32_t semaphore = semaphoreOf(*m_agent, operation.operands[0]);
        value(operation.results[0]) = RuntimeValue::scalarOf(
            DType::Int32, static_cast<double>(m_state.semaphores[semaphore].count));
        return;
    }
    case OpCode::Delay:
        delay(operation);
        return;
    default:
        PALLASCOPE_CHECK(false && "exhaustive");
    }
}

std::int32_t Engine::semaphoreOf(const Agent& agent, ir::ValueId ref) const
{
    const RefBinding& where = agent.refs[m_slots.of(ref)];
    return where.buffer + static_cast<std::int32_t>(where.whole ? 0 : where.view.offset);
}

void Engine::signalByHand(const ir::Operation& operation)
{
    const auto& params = std::get<ir::SignalParams>(operation.params);
    const ir::ValueId ref = operation.operands[0];
    const std::int64_t amount = number(operation.operands[1]);
    Agent* peer = peerOf(operation, params.device, 2);
    if (peer == nullptr) {
        return;
    }
    if (params.core) {
        const std::int64_t asked = number(operation.operands.back());
        if (asked < 0 || asked >= m_agent->cores) {
            fail(userError(m_program.where(operation.location) + ": semaphore_signal names core "
                           + std::to_string(asked) + " of " + std::to_string(m_agent->cores)
                           + ", numbered from 0."));
            return;
        }
        peer = &agentAt(peer->device, peer->kind, peer->slot, static_cast<std::int32_t>(asked));
    }
    const std::int32_t semaphore = semaphoreAt(*peer, ref);
    if (semaphore < 0) { // it has not come to its scope yet
        const ir::ValueId root = rootOf(ref);
        const std::int64_t element = semaphoreOf(*m_agent, ref) - binding(root).buffer;
        EarlySignal& early = m_state.early[{peer->id, root, element}];
        early.amount += amount;
        m_state.races.signal(m_agent->id, early.clock);
        return;
    }
    Semaphore& target = m_state.semaphores[semaphore];
    target.location = operation.location;
    m_state.races.signal(m_agent->id, target.clock);
    add(semaphore, amount, m_agent->time);
}

void Engine::add(std::int32_t semaphore, std::int64_t amount, Picoseconds at)
{
    Semaphore& target = m_state.semaphores[semaphore];
    target.count += amount;
    m_recorder.addSignal(target.row, m_agent->id, at, amount);
    for (Agent& agent : m_state.agents) {
        if (!agent.waiting || agent.waiting->semaphore != semaphore) {
            continue;
        }
        const Waiting waiting = *agent.waiting;
        agent.time = std::max(agent.time, at);
        if (take(agent, waiting)) {
            agent.waiting.reset();
            m_horizon = std::min(m_horizon, agent.time);
        }
    }
}

void Engine::deliver(const Signal& signal)
{
    Semaphore& target = m_state.semaphores[signal.semaphore];
    target.location = signal.location;
    learn(target.clock, signal.clock);
    if (signal.copy.copy >= 0) {
        target.lastCopy = signal.copy.copy;
        target.landed.push_back(signal.copy);
    }
    add(signal.semaphore, signal.amount, signal.at);
}

void Engine::wait(const ir::Operation& operation, std::int32_t semaphore, std::int64_t amount,
                  bool decrement)
{
    const Waiting waiting{semaphore, amount, decrement, m_agent->time, &operation};
    if (!take(*m_agent, waiting)) {
        m_agent->waiting = waiting;
    }
}

// Whether the semaphore has enough; then the agent goes on.
bool Engine::take(Agent& agent, const Waiting& waiting)
{
    Semaphore& semaphore = m_state.semaphores[waiting.semaphore];
    if (semaphore.count < waiting.amount) {
        return false;
    }
    m_recorder.addWait({semaphore.lastCopy, semaphore.row, waiting.operation->id}, agent.id,
                       agent.step, waiting.since, agent.time);
    if (waiting.decrement && waiting.amount != 0) {
        semaphore.count -= waiting.amount;
        m_recorder.addSignal(semaphore.row, agent.id, agent.time, -waiting.amount);
    }
    m_state.races.wait(agent.id, semaphore.clock);
    if (holdsCopies()) {
        if (semaphore.space == ir::MemorySpace::DmaSemaphore || !semaphore.held.empty()) {
            const bool lands = m_options.settings.dmaExecutionMode == DmaMode::OnWait;
            lands ? landHeld(semaphore, waiting.amount, agent.id)
                  : awaitCertain(semaphore, waiting.amount, agent.id);
        }
    } else {
        for (const AwaitedCopy& copy : semaphore.landed) {
            m_state.races.await(agent.id, copy);
        }
    }
    semaphore.landed.clear();
    return true;
}

void Engine::delay(const ir::Operation& operation)
{
    const std::int64_t nanoseconds = std::max<std::int64_t>(0, number(operation.operands[0]));
    const Picoseconds end = m_agent->time + Picoseconds(nanoseconds * 1000);
    m_recorder.addWait({.operation = operation.id}, m_agent->id, m_agent->step, m_agent->time, end);
    m_agent->time = end;
    if (end > kLongestRun) {
        fail(limitError("The run takes longer than 53 days on this chip; a shorter delay is "
                        "right."));
    }
}

} // namespace pallascope::machine
