// Blocks, branches, loops and scopes, frame by frame.
#include "core/base/check.h"
#include "core/machine/engine/engine.h"

#include <algorithm>

namespace pallascope::machine {

using ir::OpCode;

void Engine::runBlock()
{
    auto& frame = std::get<BlockFrame>(m_agent->frames.back());
    while (frame.next < frame.plan->items.size()) {
        const PlanItem& item = frame.plan->items[frame.next];
        if (item.control == nullptr) {
            if (!item.streams.empty() && frame.streams < 0
                && (!beginStreams(item, frame) || pauses())) {
                return;
            }
            if (!runSegment(item, frame.done)) {
                return;
            }
            if (frame.streams >= 0) {
                endStreams(item, frame);
            }
            ++frame.next;
            if (m_error || m_state.stopped || yields()) {
                return;
            }
            continue;
        }
        ++frame.next;
        if (ir::opEntry(item.control->code).kind != ir::OpKind::Control) {
            runSync(item);
            if (m_error || m_state.stopped || m_agent->waiting || yields()) {
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
    m_agent->frames.pop_back();
}

// Values move in parallel: all are read before the first is written.
void Engine::assign(const std::vector<ir::ValueId>& to, const std::vector<ir::ValueId>& from,
                    std::size_t skip)
{
    std::vector<RuntimeValue> values;
    values.reserve(from.size());
    for (const ir::ValueId id : from) {
        values.push_back(value(id));
    }
    for (std::size_t i = 0; i < values.size() && i + skip < to.size(); ++i) {
        if (!m_slots.isIdle(to[i + skip])) {
            value(to[i + skip]) = std::move(values[i]);
        }
    }
}

void Engine::enterControl(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    m_recorder.countEvents(1);
    switch (operation.code) {
    case OpCode::Cond: {
        const RuntimeValue& index = value(operation.operands[0]);
        reportUndefinedUse(index, "undefined_branch", "A branch", operation.location);
        const auto last = static_cast<std::int64_t>(item.regions.size()) - 1;
        const auto branch =
            std::clamp<std::int64_t>(static_cast<std::int64_t>(index.scalar), 0, last);
        const BlockPlan& plan = *item.regions[static_cast<std::size_t>(branch)];
        if (plan.items.empty()) { // the usual case of a branch that has no other
            assign(operation.results, plan.region->results, 0);
        } else {
            m_agent->frames.emplace_back(std::in_place_type<BlockFrame>, &plan, &operation);
        }
        return;
    }
    case OpCode::Scan:
        m_agent->frames.emplace_back(ScanFrame{&item, -1});
        return;
    case OpCode::While:
        m_agent->frames.emplace_back(WhileFrame{&item, WhileFrame::Next::Test});
        return;
    case OpCode::Pipeline:
        enterPipeline(item);
        return;
    case OpCode::RunScoped:
        enterScope(item);
        return;
    case OpCode::Kernel:
        m_state.races.enter(m_agent->id);
        [[fallthrough]];
    case OpCode::Fusion:
        m_agent->frames.emplace_back(BlockFrame{item.regions[0], item.control});
        return;
    case OpCode::CoreMap:
        enterCores(item);
        return;
    default:
        PALLASCOPE_CHECK(false && "not a control operation");
    }
}

void Engine::enterScope(const PlanItem& item)
{
    ScopeFrame frame;
    frame.owned.location = item.control->location;
    allocate(item.control->regions[0].arguments, frame.owned);
    m_agent->frames.emplace_back(std::move(frame));
    m_agent->frames.emplace_back(BlockFrame{item.regions[0], item.control});
}

void Engine::allocate(const std::vector<ir::ValueId>& refs, Owned& owned)
{
    owned.buffers.reserve(owned.buffers.size() + refs.size());
    for (const ir::ValueId ref : refs) {
        const ir::Type& type = m_program.type(ref);
        if (ir::isSemaphore(*type.space)) {
            allocateSemaphores(ref, owned);
            continue;
        }
        owned.buffers.emplace_back(ref, m_state.memory.allocate(1));
        binding(ref) = {};
        binding(ref).buffer = owned.buffers.back().second.first;
        Memory& memory = m_state.memory[binding(ref).buffer];
        memory.contents = undefined(type.dtype, type.shape);
        memory.isUncontested = m_agent->mesh != nullptr && m_layout.devices == 1;
        if (*type.space == ir::MemorySpace::Accumulator) {
            memory.contents.storeAll(RuntimeValue::zeros(type.dtype, type.shape));
        }
    }
}

void Engine::release(const Owned& owned)
{
    for (const auto& [ref, range] : owned.semaphores) {
        closeSemaphores(range);
        m_state.semaphores.release(range);
        binding(ref) = {}; // another core may look for it
    }
    land(m_agent->time);
    for (const auto& [ref, range] : owned.buffers) {
        reportCutOff(ref, range, owned.location);
        dropFlights(range);
        forgetBindings(range);
        for (std::int32_t i = range.first; i < range.first + range.count; ++i) {
            m_state.races.forget(i);
        }
        m_state.memory.release(range);
    }
}

void Engine::runScan()
{
    auto& frame = std::get<ScanFrame>(m_agent->frames.back());
    const ir::Operation& operation = *frame.item->control;
    const ir::Region& body = operation.regions[0];
    assign(body.arguments, frame.done < 0 ? operation.operands : body.results, 1);
    ++frame.done;
    if (frame.done < std::get<ir::ScanParams>(operation.params).length) {
        value(body.arguments[0]) =
            RuntimeValue::scalarOf(DType::Int32, static_cast<double>(frame.done));
        m_agent->frames.emplace_back(BlockFrame{frame.item->regions[0]});
        return;
    }
    const std::vector<ir::ValueId> carry(body.arguments.begin() + 1, body.arguments.end());
    assign(operation.results, carry, 0);
    m_agent->frames.pop_back();
}

void Engine::runWhile()
{
    auto& frame = std::get<WhileFrame>(m_agent->frames.back());
    const PlanItem& item = *frame.item;
    const ir::Operation& operation = *item.control;
    const ir::Region &condition = operation.regions[0], &body = operation.regions[1];
    switch (frame.next) {
    case WhileFrame::Next::Test:
        assign(condition.arguments, operation.operands, 0);
        frame.next = WhileFrame::Next::Decide;
        m_agent->frames.emplace_back(BlockFrame{item.regions[0]});
        return;
    case WhileFrame::Next::Decide:
        reportUndefinedUse(value(condition.results[0]), "undefined_branch", "A loop",
                           operation.location);
        if (value(condition.results[0]).scalar == 0) {
            assign(operation.results, condition.arguments, 0);
            m_agent->frames.pop_back();
            return;
        }
        assign(body.arguments, condition.arguments, 0);
        frame.next = WhileFrame::Next::Carry;
        m_agent->frames.emplace_back(BlockFrame{item.regions[1]});
        return;
    case WhileFrame::Next::Carry:
        assign(condition.arguments, body.results, 0);
        frame.next = WhileFrame::Next::Decide;
        m_agent->frames.emplace_back(BlockFrame{item.regions[0]});
        return;
    }
}

} // namespace pallascope::machine
