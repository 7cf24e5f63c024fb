#include "core/machine/parts/unit_requests.h"

#include "core/machine/ops/evaluate.h"

#include <algorithm>
#include <array>

namespace pallascope::machine {

std::optional<Picoseconds> UnitRequests::serve(const PlanItem& item, std::int32_t unit,
                                               Hindrances* hindrances)
{
    Agent& server = m_agents.unitAt(unit);
    Picoseconds start = std::max(m_turn.agent().time, server.time);
    if (hindrances != nullptr) { // it is shown as work for its own time only, after a wait
        start += hindrances->lengthOf(start, item.duration) - item.duration;
    }
    m_recorder.addSegment(item.templateId, trace::AgentRow{server.id}, m_turn.agent().step, start);
    server.time = start + item.duration;
    if (server.time > kLongestRun) {
        m_ending.fail(limitError("The run takes longer than 53 days on this chip; use less work or "
                                 "a faster matrix unit."));
        return std::nullopt;
    }
    return server.time;
}

Watch::Hits UnitRequests::watched(const ir::Operation& operation, ir::ValueId ref)
{
    if (m_watch.isOn()) {
        m_watch.byOperation(operation);
    }
    return m_watch.in(m_turn.binding(ref));
}

RuntimeValue UnitRequests::productOf(RuntimeValue lhs, RuntimeValue rhs, DType dtype)
{
    ir::Operation product{.code = ir::OpCode::DotGeneral};
    product.params = ir::DotParams{{1}, {0}, {}, {}, dtype};
    const std::array<RuntimeValue*, 2> factors{&lhs, &rhs};
    return evaluate(product, factors, 0);
}

RuntimeValue UnitRequests::sumOf(RuntimeValue sum, RuntimeValue term)
{
    const std::array<RuntimeValue*, 2> terms{&sum, &term};
    return evaluate({.code = ir::OpCode::Add}, terms, 0);
}

} // namespace pallascope::machine
