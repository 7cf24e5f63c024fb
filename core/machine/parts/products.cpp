#include "core/machine/parts/products.h"

#include <algorithm>

namespace pallascope::machine {

Products::Products(const Context& context, Agents& agents, Copies& copies, Accesses& accesses,
                   Findings& findings)
    : UnitRequests(context, agents, findings)
    , m_copies(copies)
    , m_accesses(accesses)
    , m_times(syncTimes(context.prepared.chip))
{}

void Products::multiply(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    const std::optional<Picoseconds> end = serve(item, 0, &m_copies.slotUse().ofProducts);
    if (!end) {
        return;
    }
    // An operand in registers is a value, which nothing changes: the compiler keeps it.
    const bool inRegisters = std::get<ir::WgmmaParams>(operation.params).lhsInRegisters;
    const std::span<const ir::ValueId> refs(operation.operands);
    m_turn.agent().products.push_back(
        {*end + (inRegisters ? m_times.registerProductWait : m_times.productWait),
         m_turn.binding(operation.operands[0]).buffer,
         m_accesses.startReads(operation, refs.subspan(inRegisters ? 2 : 1))});
    if (m_prepared.needed.needsContents(operation.operands[0])) {
        compute(operation);
    }
    if (item.awaited > Picoseconds(0)) {
        waitUntil(*end + item.awaited, operation);
    }
}

// The values of a product exist at once; whether somebody may use them is decided by waits.
void Products::compute(const ir::Operation& operation)
{
    m_copies.land(m_turn.agent().time);
    const auto load = [&](ir::ValueId ref) {
        m_watch.read(watched(operation, ref));
        const RefBinding& where = m_turn.binding(ref);
        return loadThrough(where, m_turn.buffer(where.buffer));
    };
    const bool inRegisters = std::get<ir::WgmmaParams>(operation.params).lhsInRegisters;
    RuntimeValue lhs =
        inRegisters ? m_turn.value(operation.operands[1]) : load(operation.operands[1]);
    RuntimeValue rhs = load(operation.operands[2]);
    const RefBinding& where = m_turn.binding(operation.operands[0]);
    Buffer& sum = m_turn.buffer(where.buffer);
    const Watch::Writing writing(m_watch, watched(operation, operation.operands[0]));
    storeThrough(
        where, sum,
        sumOf(loadThrough(where, sum), productOf(std::move(lhs), std::move(rhs), sum.dtype())));
}

void Products::waitUntil(Picoseconds end, const ir::Operation& operation)
{
    Agent& agent = m_turn.agent();
    m_recorder.addWait({.operation = trace::OperationRow{operation.id}}, trace::AgentRow{agent.id},
                       agent.step, agent.time, end);
    agent.time = end;
}

void Products::wait(const ir::Operation& operation)
{
    Agent& agent = m_turn.agent();
    const auto left = static_cast<std::size_t>(std::get<ir::ProductWaitParams>(operation.params).n);
    const std::size_t done = agent.products.size() - std::min(agent.products.size(), left);
    if (done == 0) {
        return;
    }
    // One unit serves them in order, so the last of them ends last.
    waitUntil(std::max(agent.time, agent.products[done - 1].end), operation);
    const auto last = agent.products.begin() + static_cast<std::ptrdiff_t>(done);
    std::for_each(agent.products.begin(), last,
                  [&](const UnderwayProduct& product) { m_races.finish(agent.id, product.reads); });
    agent.products.erase(agent.products.begin(), last);
}

void Products::checkDone(const ir::Operation& operation)
{
    const std::int32_t buffer = m_turn.binding(operation.operands[0]).buffer;
    const std::vector<UnderwayProduct>& products = m_turn.agent().products;
    const bool isDone = std::none_of(products.begin(), products.end(), [&](const auto& product) {
        return product.accumulator == buffer;
    });
    if (!isDone) {
        m_findings.reportUnfinishedProduct(operation);
    }
}

void Products::load(const ir::Operation& operation)
{
    checkDone(operation);
    if (m_prepared.needed.needs(operation.results[0])) {
        m_watch.read(watched(operation, operation.operands[0]));
        m_turn.value(operation.results[0]) = accumulator(operation.operands[0]).contents.loadAll();
    }
}

void Products::store(const ir::Operation& operation)
{
    checkDone(operation);
    if (m_prepared.needed.needs(operation)) {
        const Watch::Writing writing(m_watch, watched(operation, operation.operands[0]));
        accumulator(operation.operands[0]).contents.storeAll(m_turn.value(operation.operands[1]));
    }
}

} // namespace pallascope::machine
