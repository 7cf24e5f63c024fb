#include "core/machine/parts/tensor_memory.h"

#include "core/ir/tensor_product.h"
#include "core/machine/ops/evaluate.h"
#include "core/machine/ops/scaled.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace pallascope::machine {

using namespace ir::tensor_product;

TensorMemory::TensorMemory(const Context& context, Agents& agents, Copies& copies,
                           Semaphores& semaphores, Accesses& accesses, Findings& findings)
    : UnitRequests(context, agents, findings)
    , m_copies(copies)
    , m_semaphores(semaphores)
    , m_accesses(accesses)
    , m_times(syncTimes(context.prepared.chip))
{}

void TensorMemory::complete(std::vector<Access>& late)
{
    for (Access& access : std::exchange(late, {})) {
        m_races.complete(m_turn.agent().id, std::move(access));
    }
}

std::vector<Agent*> TensorMemory::coresOf(bool isPair)
{
    std::vector<Agent*> cores{&m_agents.unitAt(0)};
    if (isPair) {
        cores.push_back(&m_agents.unitOfNext(0));
    }
    return cores;
}

// What the agent has done so far is ordered before what the tensor core does next.
void TensorMemory::order(Agent& core)
{
    VectorClock known;
    m_races.signal(m_turn.agent().id, known);
    m_races.wait(core.id, known);
}

void TensorMemory::multiply(const PlanItem& item)
{
    const ir::Operation& product = *item.control;
    const bool pair = isOfPair(product);
    const std::vector<Agent*> cores = coresOf(pair);
    for (const Agent* core : cores) { // both work on it at the same time
        cores.front()->time = std::max(cores.front()->time, core->time);
    }
    const std::optional<Picoseconds> end = serve(item, 0, &m_copies.slotUse().ofProducts);
    if (!end) {
        return;
    }
    order(*cores.front());
    for (const std::size_t first : {std::size_t{0}, kSecond}) {
        if (first == 0 || pair) {
            m_accesses.useBy(*cores.front(), product, first + kLhs, false);
            m_accesses.useBy(*cores.front(), product, first + kRhs, false);
            m_accesses.useBy(*cores.front(), product, first + kSum, true);
        }
    }
    for (std::size_t i = firstScale(product).value_or(product.operands.size());
         i < product.operands.size(); ++i) {
        m_accesses.useBy(*cores.front(), product, i, false);
    }
    if (pair) {
        m_recorder.addSegment(item.templateId, trace::AgentRow{cores.back()->id},
                              m_turn.agent().step, *end - item.duration);
        cores.back()->time = *end;
    }
    if (m_prepared.needed.needsContents(product.operands[kSum])) {
        compute(product);
    }
}

RuntimeValue TensorMemory::load(const ir::Operation& operation, std::size_t operand)
{
    m_watch.read(watched(operation, operation.operands[operand]));
    const RefBinding& where = m_turn.binding(operation.operands[operand]);
    return loadThrough(where, m_turn.buffer(where.buffer));
}

// The values of a product exist at once; whether somebody may use them is decided by waits. The
// right operands of a pair are the columns of one.
void TensorMemory::compute(const ir::Operation& product)
{
    m_copies.land(m_turn.agent().time);
    const bool adds = m_turn.value(product.operands[kAccumulates]).scalar != 0;
    const std::optional<std::size_t> scale = firstScale(product);
    RuntimeValue rhs = load(product, kRhs);
    if (isOfPair(product)) {
        RuntimeValue second = load(product, kSecond + kRhs);
        ir::Operation join{.code = ir::OpCode::Concatenate};
        join.params = ir::AxisParams{1};
        const std::array<RuntimeValue*, 2> columns{&rhs, &second};
        rhs = evaluate(join, columns, 0);
    }
    if (scale) { // both blocks of a pair have those of all columns
        rhs = scaled(rhs, load(product, *scale + 1), 0);
    }
    const std::size_t end = scale.value_or(product.operands.size());
    for (std::size_t first = 0; first < end; first += kSecond) {
        const ir::ValueId sum = product.operands[first];
        const RefBinding& where = m_turn.binding(sum);
        Buffer& memory = accumulator(sum).contents;
        RuntimeValue lhs = load(product, first + kLhs);
        if (scale) {
            const std::size_t block = first / kSecond;
            lhs = scaled(lhs, load(product, *scale + block * kScalesOfBlock), 1);
        }
        RuntimeValue found = productOf(std::move(lhs), RuntimeValue(rhs), memory.dtype());
        if (adds) {
            found = sumOf(loadThrough(where, memory), std::move(found));
        }
        const Watch::Writing writing(m_watch, watched(product, sum));
        m_copies.noteStored(where, found, product.location);
        storeThrough(where, memory, std::move(found));
    }
}

void TensorMemory::copyFromShared(const ir::Operation& copy)
{
    Agent& core = m_agents.unitAt(0);
    core.time = std::max(core.time, m_turn.agent().time);
    order(core);
    m_accesses.useBy(core, copy, 0, false);
    m_accesses.useBy(core, copy, 1, true);
    if (m_prepared.needed.needsContents(copy.operands[1])) {
        m_copies.land(m_turn.agent().time);
        RuntimeValue found = load(copy, 0);
        const RefBinding& where = m_turn.binding(copy.operands[1]);
        const Watch::Writing writing(m_watch, watched(copy, copy.operands[1]));
        m_copies.noteStored(where, found, copy.location);
        storeThrough(where, m_turn.buffer(where.buffer), std::move(found));
    }
}

// Arrives when all that was asked of the tensor core so far is done.
void TensorMemory::commitArrive(const ir::Operation& commit)
{
    if (std::get<ir::PredicateParams>(commit.params).predicate
        && m_turn.value(commit.operands.back()).scalar == 0) {
        return;
    }
    Agent& core = m_agents.unitAt(0);
    Signal signal{std::max(core.time, m_turn.agent().time) + m_times.productWait,
                  m_turn.semaphoreOf(commit.operands[0]),
                  1,
                  {},
                  commit.location,
                  {}};
    m_races.signal(core.id, signal.clock);
    m_semaphores.queue(std::move(signal));
}

} // namespace pallascope::machine
