// Runs regions, branches, loops and scopes, frame by frame.
#include "core/base/check.h"
#include "core/machine/engine/engine.h"

#include <algorithm>

namespace pallascope::machine {

using ir::OpCode;

// Waits for what the segment that comes next in the frame has under way.
void Engine::endCopies(BlockFrame& frame)
{
    m_fusionCopies.end(frame.plan->items[frame.next], frame);
    frame.awaits = false;
}

void Engine::resume(BlockFrame& frame)
{
    while (frame.next < frame.plan->items.size()) {
        const PlanItem& item = frame.plan->items[frame.next];
        if (item.control == nullptr) {
            if (!frame.awaits && !frame.ends && !runSegment(item, frame)) {
                return;
            }
            while (frame.ends) {
                if (!m_fusionCopies.store(item, frame) || (frame.ends && m_turn.yields())) {
                    return;
                }
            }
            if (frame.streams) {
                // Its own moment: what the operations have stored is there, the wait is to come.
                if (!frame.awaits && m_fusionCopies.isLate(frame)) {
                    frame.awaits = true;
                    if (m_turn.yields() && !m_ending.isReached()) {
                        return;
                    }
                }
                endCopies(frame);
            }
            ++frame.next;
            if (m_turn.yields()) {
                return;
            }
            continue;
        }
        ++frame.next;
        if (ir::opEntry(item.control->code).kind != ir::OpKind::Control) {
            m_syncOperations.run(item);
            if (m_turn.agent().waiting || m_turn.yields()) {
                return;
            }
        } else {
            enterControl(item); // invalidates `frame`
            return;
        }
    }
    if (frame.owner != nullptr) {
        assign(frame.owner->results, frame.plan->region->results, 0);
    }
    m_turn.agent().frames.pop_back();
}

// Runs a segment or goes on with it, up to what it stores to GMEM. Returns false if that is not yet
// due, or if the segment has not come to it.
bool Engine::runSegment(const PlanItem& item, BlockFrame& frame)
{
    const bool isThroughL2 = m_fusionCopies.isThroughL2(item);
    if (!item.streams.empty() && !frame.streams && !isThroughL2
        && (!m_fusionCopies.begin(item, frame) || m_turn.halts())) {
        return false;
    }
    if (!item.demands.empty() && !frame.reserved) {
        m_slotUnits.reserve(item);
        frame.reserved = true;
        if (m_turn.yields()) {
            return false;
        }
    }
    if (!m_segments.run(item, frame.done)) {
        return false;
    }
    frame.reserved = false;
    if (isThroughL2 && !m_ending.isReached() && !m_fusionCopies.load(item, frame)) {
        return false;
    }
    return !frame.ends || !m_turn.yields();
}

// Assigns values in parallel: all are read before the first is written.
void Engine::assign(const std::vector<ir::ValueId>& to, const std::vector<ir::ValueId>& from,
                    std::size_t skip)
{
    std::vector<RuntimeValue> values;
    values.reserve(from.size());
    for (const ir::ValueId id : from) {
        values.push_back(m_turn.value(id));
    }
    for (std::size_t i = 0; i < values.size() && i + skip < to.size(); ++i) {
        if (!m_prepared.slots.isIdle(to[i + skip])) {
            m_turn.value(to[i + skip]) = std::move(values[i]);
        }
    }
}

void Engine::enterControl(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    m_recorder.countEvents(1);
    switch (operation.code) {
    case OpCode::Cond: {
        const RuntimeValue& index = m_turn.value(operation.operands[0]);
        m_findings.reportUndefinedUse(index, trace::FindingKind::UndefinedBranch, "A branch",
                                      operation.location);
        const auto last = static_cast<std::int64_t>(item.regions.size()) - 1;
        const auto branch =
            std::clamp<std::int64_t>(static_cast<std::int64_t>(index.scalar), 0, last);
        const BlockPlan& plan = *item.regions[static_cast<std::size_t>(branch)];
        if (plan.items.empty()) { // usual for a condition without an else
            assign(operation.results, plan.region->results, 0);
        } else {
            m_turn.agent().frames.emplace_back(std::in_place_type<BlockFrame>, &plan, &operation);
        }
        return;
    }
    case OpCode::Scan:
        m_turn.agent().frames.emplace_back(ScanFrame{&item, -1});
        return;
    case OpCode::While:
        m_turn.agent().frames.emplace_back(WhileFrame{&item, WhileFrame::Next::Test});
        return;
    case OpCode::Pipeline:
        m_pipelines.enter(item);
        return;
    case OpCode::RunScoped:
        m_scopes.enter(item);
        return;
    case OpCode::Kernel:
        m_recorder.countLaunch(operation);
        m_state.races.enter(m_turn.agent().id);
        [[fallthrough]];
    case OpCode::Fusion:
        m_turn.agent().frames.emplace_back(BlockFrame{item.regions[0], item.control});
        return;
    case OpCode::CoreMap:
        m_l1Caches.clear();
        m_coreMaps.enter(item);
        return;
    case OpCode::WarpMap:
        m_warps.enter(item);
        return;
    default:
        PALLASCOPE_CHECK(false && "not a control operation");
    }
}

void Engine::beginRound(const ir::Operation& loop)
{
    if (const std::int32_t row = m_prepared.description.loopOf(loop); row >= 0) {
        m_recorder.nextRound(row, m_turn.agent().id, m_turn.agent().time);
    }
}

void Engine::endRounds(const ir::Operation& loop)
{
    if (const std::int32_t row = m_prepared.description.loopOf(loop); row >= 0) {
        m_recorder.endLoop(row, m_turn.agent().id, m_turn.agent().time);
    }
}

void Engine::resume(ScanFrame& frame)
{
    const ir::Operation& operation = *frame.item->control;
    const ir::Region& body = operation.regions[0];
    assign(body.arguments, frame.done < 0 ? operation.operands : body.results, 1);
    ++frame.done;
    if (frame.done < std::get<ir::ScanParams>(operation.params).length) {
        m_turn.value(body.arguments[0]) =
            RuntimeValue::scalarOf(DType::Int32, static_cast<double>(frame.done));
        beginRound(operation);
        m_turn.agent().frames.emplace_back(BlockFrame{frame.item->regions[0]});
        return;
    }
    const std::vector<ir::ValueId> carry(body.arguments.begin() + 1, body.arguments.end());
    assign(operation.results, carry, 0);
    endRounds(operation);
    m_turn.agent().frames.pop_back();
}

void Engine::resume(WhileFrame& frame)
{
    const PlanItem& item = *frame.item;
    const ir::Operation& operation = *item.control;
    const ir::Region &condition = operation.regions[0], &body = operation.regions[1];
    switch (frame.next) {
    case WhileFrame::Next::Test:
        assign(condition.arguments, operation.operands, 0);
        frame.next = WhileFrame::Next::Decide;
        m_turn.agent().frames.emplace_back(BlockFrame{item.regions[0]});
        return;
    case WhileFrame::Next::Decide:
        m_findings.reportUndefinedUse(m_turn.value(condition.results[0]),
                                      trace::FindingKind::UndefinedBranch, "A loop",
                                      operation.location);
        if (m_turn.value(condition.results[0]).scalar == 0) {
            assign(operation.results, condition.arguments, 0);
            endRounds(operation);
            m_turn.agent().frames.pop_back();
            return;
        }
        assign(body.arguments, condition.arguments, 0);
        frame.next = WhileFrame::Next::Carry;
        beginRound(operation);
        m_turn.agent().frames.emplace_back(BlockFrame{item.regions[1]});
        return;
    case WhileFrame::Next::Carry:
        assign(condition.arguments, body.results, 0);
        frame.next = WhileFrame::Next::Decide;
        m_turn.agent().frames.emplace_back(BlockFrame{item.regions[0]});
        return;
    }
}

} // namespace pallascope::machine
