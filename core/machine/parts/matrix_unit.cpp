#include "core/machine/parts/matrix_unit.h"

#include "core/machine/ops/evaluate.h"

#include <algorithm>
#include <array>

namespace pallascope::machine {

namespace {

RuntimeValue productOf(RuntimeValue lhs, RuntimeValue rhs, DType dtype)
{
    ir::Operation product{.code = ir::OpCode::DotGeneral};
    product.params = ir::DotParams{{1}, {0}, {}, {}, dtype};
    const std::array<RuntimeValue*, 2> factors{&lhs, &rhs};
    return evaluate(product, factors, 0);
}

RuntimeValue sumOf(RuntimeValue sum, RuntimeValue term)
{
    const std::array<RuntimeValue*, 2> terms{&sum, &term};
    return evaluate({.code = ir::OpCode::Add}, terms, 0);
}

} // namespace

MatrixUnit::MatrixUnit(const Context& context, Agents& agents, Findings& findings)
    : m_prepared(context.prepared)
    , m_recorder(context.recorder)
    , m_turn(context.turn)
    , m_ending(context.ending)
    , m_memory(context.memory)
    , m_agents(agents)
    , m_findings(findings)
    , m_watch(context.watch)
{}

Watch::Hits MatrixUnit::watched(const ir::Operation& operation, ir::ValueId ref)
{
    if (m_watch.isOn()) {
        m_watch.byOperation(operation);
    }
    return m_watch.in(m_turn.binding(ref));
}

Memory& MatrixUnit::accumulator(ir::ValueId ref)
{
    return m_memory[m_turn.binding(ref).buffer];
}

void MatrixUnit::pushRhs(const ir::Operation& operation)
{
    if (m_prepared.needed.needs(operation)) {
        const Watch::Writing writing(m_watch, watched(operation, operation.operands[0]));
        Buffer& staged = accumulator(operation.operands[0]).contents;
        staged.storeAll(m_turn.value(operation.operands[1]));
    }
}

void MatrixUnit::accumulate(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    const std::int32_t mxu = std::get<ir::MatrixUnitParams>(operation.params).mxu;
    if (mxu >= m_prepared.layout.asked) {
        m_ending.fail(userError(m_prepared.program.where(operation.location) + ": "
                                + std::string(ir::opName(operation.code)) + " asks for mxu "
                                + std::to_string(mxu) + "; the chip " + m_prepared.chip.title
                                + " has " + std::to_string(m_prepared.layout.asked)
                                + ", numbered from 0."));
        return;
    }
    Agent& unit = m_agents.unitAt(mxu);
    const Picoseconds start = std::max(m_turn.agent().time, unit.time);
    m_recorder.addSegment(item.templateId, trace::AgentRow{unit.id}, m_turn.agent().step, start);
    unit.time = start + item.duration;
    if (unit.time > kLongestRun) {
        m_ending.fail(limitError("The run takes longer than 53 days on this chip; use less work or "
                                 "a faster matrix unit."));
        return;
    }
    Buffer& weights = accumulator(operation.operands[2]).contents;
    const StridedView allWeights = StridedView::whole(weights.shape());
    if (operation.operands.size() > 3 && m_prepared.needed.needsContents(operation.operands[2])) {
        m_watch.read(watched(operation, operation.operands[3]));
        const Watch::Writing writing(m_watch, watched(operation, operation.operands[2]));
        weights.store(
            allWeights,
            accumulator(operation.operands[3]).contents.load(allWeights, weights.shape()));
    }
    Memory& sum = accumulator(operation.operands[0]);
    const StridedView all = StridedView::whole(sum.contents.shape());
    const bool isNeeded = m_prepared.needed.needsContents(operation.operands[0]);
    RuntimeValue product;
    if (isNeeded) {
        m_watch.read(watched(operation, operation.operands[2]));
        product = productOf(m_turn.value(operation.operands[1]),
                            weights.load(allWeights, weights.shape()), sum.contents.dtype());
    }
    if (operation.code == ir::OpCode::MatmulLhsFifo) {
        sum.fifo.push_back({std::move(product), unit.time});
        return;
    }
    sum.ready = std::max(sum.ready, unit.time);
    if (isNeeded) {
        const Watch::Writing writing(m_watch, watched(operation, operation.operands[0]));
        sum.contents.store(all, sumOf(sum.contents.load(all, all.shape), std::move(product)));
    }
}

void MatrixUnit::pop(const ir::Operation& operation)
{
    Memory& sum = accumulator(operation.operands[0]);
    m_turn.agent().time = m_agents.awaitEnd(sum.ready);
    if (m_prepared.needed.needs(operation)) {
        m_watch.read(watched(operation, operation.operands[0]));
        const Watch::Writing writing(m_watch, watched(operation, operation.operands[0]));
        const StridedView all = StridedView::whole(sum.contents.shape());
        if (m_prepared.needed.needs(operation.results[0])) {
            m_turn.value(operation.results[0]) = sum.contents.load(all, all.shape);
        }
        sum.contents.store(all, RuntimeValue::zeros(sum.contents.dtype(), all.shape));
    }
}

void MatrixUnit::popFirst(const ir::Operation& operation)
{
    std::vector<Product>& fifo = accumulator(operation.operands[0]).fifo;
    if (fifo.empty()) {
        m_findings.stop(trace::found(
            trace::FindingKind::EmptyFifo,
            "matmul_pop_fifo finds no product in " + m_prepared.refName(operation.operands[0])
                + ", and none is on its way: the run stops there.",
            m_prepared.refName(operation.operands[0]), m_turn.agent().step, {},
            m_recorder.description().sourceLine(m_prepared.program, operation.location)));
        return;
    }
    m_turn.agent().time = m_agents.awaitEnd(fifo.front().ready);
    if (m_prepared.needed.needs(operation.results[0])) {
        m_turn.value(operation.results[0]) = std::move(fifo.front().value);
    }
    fifo.erase(fifo.begin());
}

} // namespace pallascope::machine
