#include "core/machine/parts/matrix_unit.h"

#include <algorithm>

namespace pallascope::machine {

MatrixUnit::MatrixUnit(const Context& context, Agents& agents, Findings& findings)
    : UnitRequests(context, agents, findings)
{}

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
    const std::optional<Picoseconds> end = serve(item, mxu);
    if (!end) {
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
        sum.fifo.push_back({std::move(product), *end});
        return;
    }
    sum.ready = std::max(sum.ready, *end);
    if (isNeeded) {
        const Watch::Writing writing(m_watch, watched(operation, operation.operands[0]));
        sum.contents.store(all, sumOf(sum.contents.load(all, all.shape), std::move(product)));
    }
}

void MatrixUnit::pop(const ir::Operation& operation)
{
    Memory& sum = accumulator(operation.operands[0]);
    m_agents.awaitEnd(m_turn.agent(), sum.ready);
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
    m_agents.awaitEnd(m_turn.agent(), fifo.front().ready);
    if (m_prepared.needed.needs(operation.results[0])) {
        m_turn.value(operation.results[0]) = std::move(fifo.front().value);
    }
    fifo.erase(fifo.begin());
}

} // namespace pallascope::machine
