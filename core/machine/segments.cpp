// Segments: their time and, where they are needed, the values of their operations.
#include "core/base/check.h"
#include "core/machine/engine.h"
#include "core/machine/evaluate.h"

#include <algorithm>
#include <array>

namespace pallascope::machine {

using ir::OpCode;

namespace {

// The whole of a ref that is a whole buffer: the usual case.
bool isWhole(const ir::IndexerParams& indexer, const RefBinding& ref, const Shape& memory)
{
    if (!ref.whole || !ref.recasts.empty() || memory.rank() == 0) {
        return false;
    }
    for (std::size_t axis = 0; axis < indexer.entries.size(); ++axis) {
        const ir::IndexEntry& entry = indexer.entries[axis];
        if (!entry.isSlice || entry.operand >= 0 || entry.size != memory[axis]
            || entry.stride != 1) {
            return false;
        }
    }
    return true;
}

} // namespace

void Engine::runSegment(const PlanItem& item)
{
    m_recorder.addSegment(item.templateId, m_agent->id, m_agent->step, m_agent->time);
    if (!item.evaluate.empty()) {
        land(m_agent->time); // copies that ended by now are seen by this segment
        for (const Evaluation& evaluation : item.evaluate) {
            execute(evaluation);
            if (m_stopped) {
                return;
            }
        }
    }
    for (const PlanAccess& access : item.accesses) {
        const RefBinding& ref = binding(access.ref);
        Memory& memory = m_state.memory[ref.buffer];
        memory.written = memory.written || access.writes;
        if (access.wholeRef && m_state.races.mayConflict(ref.buffer, memory.isPrivate)) {
            checkRace(access.ref, *access.operation, access.writes, ref);
        }
    }
    m_recorder.countEvents(item.operationCount);
    m_agent->time += item.duration;
    if (m_agent->time > kLongestRun) { // a segment alone is at most half as long: no overflow
        fail(limitError("The run takes longer than 53 days on this chip; more speed or less work "
                        "is right."));
    }
}

void Engine::execute(const Evaluation& evaluation)
{
    const ir::Operation& operation = *evaluation.operation;
    switch (operation.code) {
    case OpCode::ProgramId:
    case OpCode::NumPrograms: {
        PALLASCOPE_CHECK(m_agent->gridFrame.has_value());
        const auto& grid = std::get<PipelineFrame>(m_agent->frames[*m_agent->gridFrame]);
        const auto axis = static_cast<std::size_t>(std::get<ir::AxisParams>(operation.params).axis);
        const std::int64_t offset = grid.offset.empty() ? 0 : grid.offset[axis];
        const std::int64_t number =
            operation.code == OpCode::ProgramId ? grid.here.point[axis] + offset : grid.grid[axis];
        RuntimeValue& result = value(operation.results[0]);
        result.dtype = DType::Int32;
        result.scalar = static_cast<double>(number);
        return;
    }
    case OpCode::AxisIndex:
        value(operation.results[0]) =
            RuntimeValue::scalarOf(DType::Int32, static_cast<double>(m_agent->id));
        return;
    case OpCode::Get:
    case OpCode::Swap:
        access(evaluation);
        break;
    case OpCode::MaskedLoad:
        maskedLoad(operation);
        break;
    case OpCode::MaskedSwap:
        maskedSwap(operation);
        break;
    case OpCode::RefAt:
    case OpCode::RefReshape:
    case OpCode::RefBitcast:
    case OpCode::RefTranspose:
        bindView(operation);
        break;
    case OpCode::GetBarrierSemaphore:
        bindBarrier(operation);
        break;
    default: {
        std::array<RuntimeValue*, ir::kMostValues> operands;
        const std::size_t count = operation.operands.size();
        PALLASCOPE_CHECK(count <= operands.size());
        for (std::size_t i = 0; i < count; ++i) {
            operands[i] = &value(operation.operands[i]);
        }
        for (std::size_t i = 0; i < operation.results.size(); ++i) {
            value(operation.results[i]) =
                evaluate(operation, {operands.data(), count}, evaluation.dying, i);
        }
    }
    }
    for (std::size_t i = 0; i < operation.operands.size(); ++i) {
        if (((evaluation.dying >> i) & 1U) != 0) {
            value(operation.operands[i]) = {}; // gives its storage back
        }
    }
}

// Semaphores are numbered one after another; other memory is a buffer.
const Shape& Engine::memoryShape(ir::ValueId ref)
{
    if (!ir::isSemaphore(*m_program.type(ref).space)) {
        return buffer(binding(ref).buffer).shape();
    }
    return m_program.type(rootOf(ref)).shape;
}

std::optional<RefBinding> Engine::indexed(const ir::Operation& operation)
{
    const RefBinding& ref = binding(operation.operands[0]);
    const Shape& memory = memoryShape(operation.operands[0]);
    const Shape extents = viewOf(ref, memory).shape;
    const auto& entries = std::get<ir::IndexerParams>(operation.params).entries;
    std::vector<Window> windows;
    const auto dynamic = [&](std::int32_t operand, std::int64_t otherwise) {
        if (operand < 0) {
            return otherwise;
        }
        const ir::ValueId id = operation.operands[static_cast<std::size_t>(operand)];
        reportUndefinedUse(value(id), "undefined_index", "An index", operation.location);
        return number(id);
    };
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
        const ir::IndexEntry& entry = entries[axis];
        const std::int64_t start = dynamic(entry.operand, entry.start);
        const std::int64_t size = dynamic(entry.sizeOperand, entry.size);
        const std::int64_t last = start + (size - 1) * entry.stride;
        if (start < 0 || size < 0 || last >= extents[axis]) {
            fail(userError(m_program.where(operation.location) + ": "
                           + std::string(ir::opName(operation.code)) + " reaches elements "
                           + std::to_string(start) + " to " + std::to_string(last) + " on axis "
                           + std::to_string(axis) + " of " + refName(operation.operands[0])
                           + ", which has " + std::to_string(extents[axis]) + "."));
            return std::nullopt;
        }
        windows.push_back({start, size, entry.stride, entry.isSlice});
    }
    return narrowed(ref, memory, windows);
}

void Engine::access(const Evaluation& evaluation)
{
    const ir::Operation& operation = *evaluation.operation;
    const RefBinding& ref = binding(operation.operands[0]);
    PALLASCOPE_CHECK(ref.buffer >= 0);
    Buffer& memory = buffer(ref.buffer);
    // A plain store drops the old contents; reading them would cost a copy.
    const bool stores = operation.code == OpCode::Swap;
    const bool loads = !stores || m_used[static_cast<std::size_t>(operation.results[0].index)];
    if (isWhole(std::get<ir::IndexerParams>(operation.params), ref, memory.shape())) {
        const StridedView whole = StridedView::whole(memory.shape());
        if (loads) {
            value(operation.results[0]) = memory.load(whole, whole.shape);
        }
        if (stores) {
            memory.store(whole, value(operation.operands[1]));
        }
        return; // races: with the segment's accesses
    }
    const std::optional<RefBinding> where = indexed(operation);
    if (!where) {
        return;
    }
    if (evaluation.partial
        && m_state.races.mayConflict(ref.buffer, m_state.memory[ref.buffer].isPrivate)) {
        checkRace(operation.operands[0], operation, stores, *where);
    }
    if (evaluation.touches) { // only where it reaches matters
        return;
    }
    if (loads) {
        value(operation.results[0]) = loadThrough(*where, memory);
    }
    if (stores) {
        storeThrough(*where, memory, value(operation.operands[1]));
    }
}

void Engine::maskedLoad(const ir::Operation& operation)
{
    const RefBinding& ref = binding(operation.operands[0]);
    RuntimeValue loaded = loadThrough(ref, buffer(ref.buffer));
    if (operation.operands.size() > 2) {
        const ir::Operation select{.code = OpCode::SelectN, .operands = operation.operands};
        std::array<RuntimeValue*, 3> cases{&value(operation.operands[1]),
                                           &value(operation.operands[2]), &loaded};
        loaded = evaluate(select, cases, 0);
    }
    value(operation.results[0]) = std::move(loaded);
}

void Engine::maskedSwap(const ir::Operation& operation)
{
    const RefBinding& ref = binding(operation.operands[0]);
    RuntimeValue old = loadThrough(ref, buffer(ref.buffer));
    const ir::Operation select{.code = OpCode::SelectN, .operands = operation.operands};
    std::array<RuntimeValue*, 3> cases{&value(operation.operands[2]), &old,
                                       &value(operation.operands[1])};
    storeThrough(ref, buffer(ref.buffer), evaluate(select, cases, 0));
    value(operation.results[0]) = std::move(old);
}

void Engine::bindView(const ir::Operation& operation)
{
    const RefBinding& ref = binding(operation.operands[0]);
    const ir::Type& result = m_program.type(operation.results[0]);
    const Shape& memory = memoryShape(operation.operands[0]);
    switch (operation.code) {
    case OpCode::RefAt:
        if (std::optional<RefBinding> where = indexed(operation)) {
            binding(operation.results[0]) = std::move(*where);
        }
        return;
    case OpCode::RefReshape:
        binding(operation.results[0]) = reshaped(ref, memory, result.dtype, result.shape);
        return;
    case OpCode::RefBitcast:
        binding(operation.results[0]) = bitcasted(ref, memory, result.dtype, result.shape);
        return;
    default:
        binding(operation.results[0]) =
            transposed(ref, memory, std::get<ir::PermutationParams>(operation.params).permutation);
    }
}

void Engine::checkRace(ir::ValueId ref, const ir::Operation& operation, bool writes,
                       const RefBinding& where)
{
    const Memory& memory = m_state.memory[where.buffer];
    Access access{where.buffer, memory.isPrivate, writes, m_agent->step, operation.location, {}};
    access.place.located =
        std::make_shared<Place::Located>(Place::Located{where, memory.contents.shape()});
    if (const std::optional<Race> race = m_state.races.access(m_agent->id, access)) {
        reportRace(*race, refName(ref), false, m_agent->step, operation.location);
    }
}

} // namespace pallascope::machine
