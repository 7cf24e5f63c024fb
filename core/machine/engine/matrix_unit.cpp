// The matrix unit by hand: it adds products to accumulators, one request after the other, beside
// the agents that ask. An accumulator is the token of its requests: who takes it waits for them. As
// matmul_push_rhs, matmul_acc_lhs and matmul_pop in JAX, jax/_src/pallas/mosaic/primitives.py; a
// right operand is pushed while the unit works, and takes no time. With matmul_lhs_fifo and
// matmul_pop_fifo products are not added but taken one by one, in the order of the requests.
#include "core/machine/engine/engine.h"
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

Agent& Engine::unitAt(std::int32_t mxu)
{
    const std::int32_t core = m_agent->slot * m_layout.groups.front().cores + m_agent->core;
    const std::int32_t before = m_layout.ownedByCores ? core * m_layout.asked : 0;
    return m_state.agents[static_cast<std::size_t>(m_agent->device * m_layout.perDevice()
                                                   + m_layout.firstUnit() + before + mxu)];
}

Memory& Engine::accumulator(ir::ValueId ref)
{
    return m_state.memory[binding(ref).buffer];
}

void Engine::pushRhs(const ir::Operation& operation)
{
    if (m_needed.needs(operation)) {
        Buffer& staged = accumulator(operation.operands[0]).contents;
        staged.storeAll(value(operation.operands[1]));
    }
}

void Engine::accumulate(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    const std::int32_t mxu = std::get<ir::MatrixUnitParams>(operation.params).mxu;
    if (mxu >= m_layout.asked) {
        fail(userError(m_program.where(operation.location) + ": "
                       + std::string(ir::opName(operation.code)) + " asks for mxu "
                       + std::to_string(mxu) + "; the chip " + m_chip.title + " has "
                       + std::to_string(m_layout.asked) + ", numbered from 0."));
        return;
    }
    Agent& unit = unitAt(mxu);
    const Picoseconds start = std::max(m_agent->time, unit.time);
    m_recorder.addSegment(item.templateId, unit.id, m_agent->step, start);
    unit.time = start + item.duration;
    if (unit.time > kLongestRun) {
        fail(limitError("The run takes longer than 53 days on this chip; a faster matrix unit or "
                        "less work is right."));
        return;
    }
    Buffer& weights = accumulator(operation.operands[2]).contents;
    const StridedView allWeights = StridedView::whole(weights.shape());
    if (operation.operands.size() > 3 && m_needed.needsContents(operation.operands[2])) {
        weights.store(
            allWeights,
            accumulator(operation.operands[3]).contents.load(allWeights, weights.shape()));
    }
    Memory& sum = accumulator(operation.operands[0]);
    const StridedView all = StridedView::whole(sum.contents.shape());
    RuntimeValue product;
    if (m_needed.needs(operation)) {
        product = productOf(value(operation.operands[1]), weights.load(allWeights, weights.shape()),
                            sum.contents.dtype());
    }
    if (operation.code == ir::OpCode::MatmulLhsFifo) {
        sum.fifo.push_back({std::move(product), unit.time});
        return;
    }
    sum.ready = std::max(sum.ready, unit.time);
    if (m_needed.needs(operation)) {
        sum.contents.store(all, sumOf(sum.contents.load(all, all.shape), std::move(product)));
    }
}

// Waits for what the accumulator was asked for, and leaves zeros in it.
void Engine::pop(const ir::Operation& operation)
{
    Memory& sum = accumulator(operation.operands[0]);
    m_agent->time = awaitEnd(sum.ready);
    if (m_needed.needs(operation)) {
        const StridedView all = StridedView::whole(sum.contents.shape());
        value(operation.results[0]) = sum.contents.load(all, all.shape);
        sum.contents.store(all, RuntimeValue::zeros(sum.contents.dtype(), all.shape));
    }
}

// Waits for the product that was asked for first, and takes it out.
void Engine::popFirst(const ir::Operation& operation)
{
    std::vector<Product>& fifo = accumulator(operation.operands[0]).fifo;
    if (fifo.empty()) {
        stop({"empty_fifo",
              trace::FindingClass::Structural,
              "matmul_pop_fifo finds no product in " + refName(operation.operands[0])
                  + ", and none is on its way: the run stops there.",
              refName(operation.operands[0]),
              m_agent->step,
              {},
              m_recorder.sourceLine(m_program, operation.location),
              1});
        return;
    }
    m_agent->time = awaitEnd(fifo.front().ready);
    if (m_needed.needs(operation)) {
        value(operation.results[0]) = std::move(fifo.front().value);
    }
    fifo.erase(fifo.begin());
}

} // namespace pallascope::machine
