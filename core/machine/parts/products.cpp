#include "core/machine/parts/products.h"

#include "core/machine/ops/evaluate.h"

#include <algorithm>
#include <array>

namespace pallascope::machine {

namespace {

RuntimeValue sumOfProduct(RuntimeValue sum, RuntimeValue lhs, RuntimeValue rhs)
{
    ir::Operation dot{.code = ir::OpCode::DotGeneral};
    dot.params = ir::DotParams{{1}, {0}, {}, {}, sum.dtype};
    const std::array<RuntimeValue*, 2> factors{&lhs, &rhs};
    RuntimeValue product = evaluate(dot, factors, 0);
    const std::array<RuntimeValue*, 2> terms{&sum, &product};
    return evaluate({.code = ir::OpCode::Add}, terms, 0);
}

} // namespace

Products::Products(const Context& context, Agents& agents, Copies& copies, Accesses& accesses,
                   Findings& findings)
    : m_prepared(context.prepared)
    , m_recorder(context.recorder)
    , m_turn(context.turn)
    , m_ending(context.ending)
    , m_memory(context.memory)
    , m_agents(agents)
    , m_copies(copies)
    , m_accesses(accesses)
    , m_findings(findings)
    , m_watch(context.watch)
{}

Watch::Hits Products::watched(const ir::Operation& operation, ir::ValueId ref)
{
    if (m_watch.isOn()) {
        m_watch.byOperation(operation);
    }
    return m_watch.in(m_turn.binding(ref));
}

Memory& Products::accumulator(ir::ValueId ref)
{
    return m_memory[m_turn.binding(ref).buffer];
}

void Products::multiply(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    Agent& agent = m_turn.agent();
    Agent& unit = m_agents.unitAt(0);
    const Picoseconds start = std::max(agent.time, unit.time);
    m_recorder.addSegment(item.templateId, trace::AgentRow{unit.id}, agent.step, start);
    unit.time = start + item.duration;
    if (unit.time > kLongestRun) {
        m_ending.fail(limitError("The run takes longer than 53 days on this chip; use less work or "
                                 "a faster tensor core."));
        return;
    }
    const bool inRegisters = std::get<ir::WgmmaParams>(operation.params).lhsInRegisters;
    for (std::size_t i = inRegisters ? 2 : 1; i < 3; ++i) {
        m_accesses.note({&operation, 0, operation.operands[i], false, true});
    }
    agent.products.push_back({unit.time, m_turn.binding(operation.operands[0]).buffer});
    if (m_prepared.needed.needsContents(operation.operands[0])) {
        compute(operation);
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
    Buffer& sum = accumulator(operation.operands[0]).contents;
    const Watch::Writing writing(m_watch, watched(operation, operation.operands[0]));
    sum.storeAll(sumOfProduct(sum.loadAll(), std::move(lhs), std::move(rhs)));
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
    const Picoseconds end = std::max(agent.time, agent.products[done - 1].end);
    m_recorder.addWait({.operation = trace::OperationRow{operation.id}}, trace::AgentRow{agent.id},
                       agent.step, agent.time, end);
    agent.time = end;
    agent.products.erase(agent.products.begin(),
                         agent.products.begin() + static_cast<std::ptrdiff_t>(done));
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
