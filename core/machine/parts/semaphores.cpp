#include "core/machine/parts/semaphores.h"

#include "core/base/check.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace pallascope::machine {

Semaphores::Semaphores(const Context& context, SyncState& state, Agents& agents, Copies& copies,
                       Findings& findings)
    : m_prepared(context.prepared)
    , m_mode(context.settings.dmaExecutionMode)
    , m_recorder(context.recorder)
    , m_turn(context.turn)
    , m_ending(context.ending)
    , m_races(context.races)
    , m_state(state)
    , m_agents(agents)
    , m_copies(copies)
    , m_findings(findings)
{}

void Semaphores::allocate(ir::ValueId ref, Owned& owned)
{
    const ir::Type& type = m_prepared.program.type(ref);
    const auto count = static_cast<std::int32_t>(type.shape.elements());
    owned.semaphores.emplace_back(ref, m_state.semaphores.allocate(count));
    const std::int32_t first = owned.semaphores.back().second.first;
    m_turn.binding(ref) = {};
    m_turn.binding(ref).buffer = first;
    for (std::int32_t i = 0; i < count; ++i) {
        Semaphore& semaphore = m_state.semaphores[first + i];
        semaphore.space = *type.space;
        semaphore.isShared = m_prepared.uses.signalled[static_cast<std::size_t>(ref.index)];
        semaphore.row = m_recorder.semaphoreRow(m_prepared.refName(ref), *type.space, i, type.shape,
                                                m_turn.agent().id);
        if (const auto early = m_state.early.find({m_turn.agent().id, ref, i});
            early != m_state.early.end()) {
            semaphore.clock.learn(early->second.clock);
            add(first + i, early->second.amount, m_turn.agent().time);
            m_state.early.erase(early);
        }
    }
}

namespace {

// A captured program has barriers that its kernels do not ask for: one before a kernel starts, and
// one for each ring of a collective. Their numbers are the highest ones, in this order downwards.
std::string barrierName(std::int32_t collectiveId)
{
    constexpr std::int32_t kStart = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t kCollectives = 1 << 20;
    return collectiveId == kStart ? "start barrier"
           : collectiveId >= kStart - kCollectives
               ? "barrier of collective " + std::to_string(kStart - 1 - collectiveId)
               : "barrier " + std::to_string(collectiveId);
}

} // namespace

std::int32_t Semaphores::barrier(std::int32_t collectiveId, std::int32_t agent)
{
    const auto [place, isNew] = m_state.barriers.try_emplace({collectiveId, agent});
    if (isNew) {
        place->second = m_state.semaphores.allocate(1).first;
        Semaphore& semaphore = m_state.semaphores[place->second];
        semaphore.space = ir::MemorySpace::BarrierSemaphore;
        semaphore.row = m_recorder.semaphoreRow(barrierName(collectiveId),
                                                ir::MemorySpace::BarrierSemaphore, 0, {}, agent);
    }
    return place->second;
}

void Semaphores::bindBarrier(const ir::Operation& operation)
{
    const std::int32_t id = std::get<ir::BarrierParams>(operation.params).collectiveId;
    m_turn.binding(operation.results[0]) = {};
    m_turn.binding(operation.results[0]).buffer = barrier(id, m_turn.agent().id);
}

// Semaphores of a TPU must be 0 when they end: a copy that nobody waited for leaves its bytes.
// Those of a GPU are new in each launch, and may keep what they have.
void Semaphores::close(SlabRange semaphores)
{
    const auto in = [&](std::int32_t semaphore) {
        return semaphores.first <= semaphore && semaphore < semaphores.first + semaphores.count;
    };
    for (const Signal& signal : m_state.signals) {
        if (in(signal.semaphore)) {
            m_state.semaphores[signal.semaphore].count += signal.amount;
            m_state.semaphores[signal.semaphore].location = signal.location;
            m_state.semaphores[signal.semaphore].landed.push_back(signal.copy);
        }
    }
    m_state.signals.removeIf([&](const Signal& signal) { return in(signal.semaphore); });
    for (std::int32_t i = semaphores.first; i < semaphores.first + semaphores.count; ++i) {
        const Semaphore& semaphore = m_state.semaphores[i];
        const bool mayStay =
            m_prepared.chip.multiprocessor && semaphore.space == ir::MemorySpace::Semaphore;
        if (semaphore.count != 0 && !mayStay) {
            m_findings.reportLeftOver(semaphore);
        }
    }
}

// Reports signals of semaphores that some agents never had.
void Semaphores::reportEarly(std::int32_t first, std::int32_t count)
{
    for (auto it = m_state.early.begin(); it != m_state.early.end();) {
        const auto& [agent, ref, element] = it->first;
        if (agent < first || agent >= first + count) {
            ++it;
            continue;
        }
        m_findings.reportEarly(agent, ref, it->second.amount);
        it = m_state.early.erase(it);
    }
}

void Semaphores::wait(const ir::Operation& operation, std::int32_t semaphore, std::int64_t amount,
                      bool decrement)
{
    const Waiting waiting{semaphore, amount, decrement, m_turn.agent().time, &operation};
    if (!take(m_turn.agent(), waiting)) {
        m_turn.agent().waiting = waiting;
        addWaiter(m_state.semaphores[semaphore], m_turn.agent().id);
    }
}

// Takes the amount if the semaphore has it, and lets the agent go on. Returns false if it has not.
bool Semaphores::take(Agent& agent, const Waiting& waiting)
{
    Semaphore& semaphore = m_state.semaphores[waiting.semaphore.value()];
    if (semaphore.count < waiting.amount) {
        return false;
    }
    m_recorder.addWait(
        {semaphore.lastCopy, semaphore.row, trace::OperationRow{waiting.operation->id}},
        trace::AgentRow{agent.id}, agent.step, waiting.since, agent.time);
    if (waiting.decrement && waiting.amount != 0) {
        semaphore.count -= waiting.amount;
        m_recorder.addSignal(*semaphore.row, trace::AgentRow{agent.id}, agent.time,
                             -waiting.amount);
    }
    m_races.wait(agent.id, semaphore.clock);
    if (holdsCopies()) {
        if (semaphore.space == ir::MemorySpace::DmaSemaphore || !semaphore.held.empty()) {
            const bool lands = m_mode == DmaMode::OnWait;
            lands ? m_copies.landHeld(semaphore, waiting.amount, agent.id)
                  : awaitCertain(semaphore, waiting.amount, agent.id);
        }
    } else {
        for (const AwaitedCopy& copy : semaphore.landed) {
            m_races.await(agent.id, copy);
        }
    }
    semaphore.landed.clear();
    return true;
}

// A wait knows only how many bytes have arrived. It can be certain only of those copies under way
// without which the count could not have been reached.
void Semaphores::awaitCertain(Semaphore& semaphore, std::int64_t bytes, std::int32_t agent)
{
    semaphore.executed += bytes;
    const std::int64_t open = semaphore.heldBytes - semaphore.executed; // bytes that none has taken
    if (semaphore.largestHeld <= open) {
        return;
    }
    std::vector<HeldCopy>& held = semaphore.held;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
        if (held[i].bytes > open) {
            await(semaphore, held[i], agent);
            semaphore.heldBytes -= held[i].bytes;
            semaphore.executed -= held[i].bytes;
        } else if (kept++ != i) {
            held[kept - 1] = std::move(held[i]);
        }
    }
    held.resize(kept);
    semaphore.largestHeld = kept == 0 ? 0 : semaphore.largestHeld;
}

void Semaphores::await(Semaphore& semaphore, const HeldCopy& copy, std::int32_t agent)
{
    if (!copy.awaited.copy) {
        return;
    }
    if (!semaphore.isShared) {
        m_races.await(agent, copy.awaited);
        return;
    }
    constexpr std::size_t kMany = 64; // then those go of which their own starters know
    if (semaphore.settled.size() >= kMany) {
        std::erase_if(semaphore.settled, [&](const SettledCopy& one) {
            return m_races.knows(one.settled.ends.front().agent, one.settled);
        });
    }
    if (Races::Settled settled = m_races.settle(agent, copy.awaited); !settled.ends.empty()) {
        semaphore.settled.push_back({copy, std::move(settled)});
    }
}

// What a wait was sure of must not depend on times: a copy that is started by an agent that does
// not know of the wait could as well have been started before it, and could have brought the bytes
// that the wait took. So the wait was sure of nothing that these bytes can stand in for.
void Semaphores::doubtEarlierWaits(Semaphore& semaphore)
{
    const std::int64_t open = semaphore.heldBytes - semaphore.executed;
    const std::int32_t starter = m_turn.agent().id;
    std::vector<SettledCopy>& settled = semaphore.settled;
    const auto doubtful =
        std::stable_partition(settled.begin(), settled.end(), [&](const SettledCopy& one) {
            return one.copy.bytes > open || m_races.knows(starter, one.settled);
        });
    std::vector<SettledCopy> copies(std::make_move_iterator(doubtful),
                                    std::make_move_iterator(settled.end()));
    settled.erase(doubtful, settled.end());
    for (SettledCopy& one : copies) {
        semaphore.executed += one.copy.bytes;
        semaphore.hold(std::move(one.copy));
        doubt(semaphore.held.back(), std::move(one.settled));
    }
}

// Of the accesses that relied on the wait one is told, and once.
void Semaphores::doubt(HeldCopy& copy, Races::Settled settled)
{
    const std::vector<Races::Doubt> doubts = m_races.doubt(std::move(settled), copy.started);
    if (doubts.empty() || std::exchange(copy.isReported, true)) {
        return;
    }
    const Races::Doubt& first = doubts.front();
    m_findings.reportRace(first.race,
                          m_prepared.refName(copy.operation->operands[first.atTarget ? 1 : 0]),
                          first.accessor);
}

void Semaphores::signalByProgram(const ir::Operation& operation)
{
    const auto& params = std::get<ir::SignalParams>(operation.params);
    const ir::ValueId ref = operation.operands[0];
    const std::int64_t amount = m_turn.number(operation.operands[1]);
    Agent* peer = m_agents.peerOf(operation, params.device, 2);
    if (peer == nullptr) {
        return;
    }
    if (params.core) {
        const std::int64_t asked = m_turn.number(operation.operands.back());
        if (asked < 0 || asked >= m_turn.agent().cores) {
            m_ending.fail(userError(m_prepared.program.where(operation.location)
                                    + ": semaphore_signal names core " + std::to_string(asked)
                                    + " of " + std::to_string(m_turn.agent().cores)
                                    + ", numbered from 0."));
            return;
        }
        peer = &m_agents.coreOf(*peer, static_cast<std::int32_t>(asked));
    }
    const std::optional<std::int32_t> semaphore = semaphoreAt(*peer, ref);
    if (!semaphore) { // the agent has not begun its scope yet
        const ir::ValueId root = m_prepared.rootOf(ref);
        const std::int64_t element = m_turn.semaphoreOf(ref) - m_turn.binding(root).buffer;
        EarlySignal& early = m_state.early[{peer->id, root, element}];
        early.amount += amount;
        m_races.signal(m_turn.agent().id, early.clock);
        return;
    }
    Semaphore& target = m_state.semaphores[*semaphore];
    target.location = operation.location;
    m_races.signal(m_turn.agent().id, target.clock);
    add(*semaphore, amount, m_turn.agent().time);
}

void Semaphores::add(std::int32_t semaphore, std::int64_t amount, Picoseconds at)
{
    Semaphore& target = m_state.semaphores[semaphore];
    target.count += amount;
    m_recorder.addSignal(*target.row, trace::AgentRow{m_turn.agent().id}, at, amount);
    const std::vector<std::int32_t> waiters = target.waiters;
    for (const std::int32_t waiter : waiters) {
        Agent& agent = m_agents.at(waiter);
        const Waiting waiting = *agent.waiting;
        agent.time = std::max(agent.time, at);
        if (take(agent, waiting)) {
            agent.waiting.reset();
            std::erase(m_state.semaphores[semaphore].waiters, waiter);
            m_agents.changed(agent);
            m_turn.endBy(agent.time);
        }
    }
}

void Semaphores::deliver(const Signal& signal)
{
    Semaphore& target = m_state.semaphores[signal.semaphore];
    target.location = signal.location;
    target.clock.learn(signal.clock);
    if (signal.copy.copy) {
        target.lastCopy = signal.copy.copy;
        target.landed.push_back(signal.copy);
    }
    add(signal.semaphore, signal.amount, signal.at);
}

// The semaphore of `agent` that corresponds to the current agent's `ref`; empty if it has none at
// present.
std::optional<std::int32_t> Semaphores::semaphoreAt(const Agent& agent, ir::ValueId ref)
{
    const std::int32_t mine = m_turn.semaphoreOf(ref);
    if (m_turn.isOf(agent)) {
        return mine;
    }
    if (m_prepared.program.type(ref).space == ir::MemorySpace::BarrierSemaphore) {
        const auto known = std::find_if(m_state.barriers.begin(), m_state.barriers.end(),
                                        [&](const auto& one) { return one.second == mine; });
        PALLASCOPE_CHECK(known != m_state.barriers.end());
        return barrier(known->first.first, agent.id);
    }
    const std::optional<std::int32_t> first = m_agents.rootAt(agent, ref);
    return first ? std::optional(*first + mine - m_agents.rootAt(m_turn.agent(), ref).value())
                 : std::nullopt;
}

void Semaphores::closeBarriers()
{
    for (const auto& [id, semaphore] : m_state.barriers) {
        close({semaphore, 1});
    }
}

void Semaphores::expect(Signal signal, HeldCopy held)
{
    if (holdsCopies()) {
        Semaphore& semaphore = m_state.semaphores[signal.semaphore];
        semaphore.hold(std::move(held));
        if (!semaphore.settled.empty()) {
            doubtEarlierWaits(semaphore);
        }
    }
    queue(std::move(signal));
}

void Semaphores::queue(Signal signal)
{
    const auto sooner = [](const Signal& a, const Signal& b) { return a.at < b.at; };
    auto& signals = m_state.signals;
    m_turn.endBy(signal.at);
    signals.insert(std::upper_bound(signals.begin(), signals.end(), signal, sooner),
                   std::move(signal));
}

} // namespace pallascope::machine
