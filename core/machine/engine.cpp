#include "core/machine/engine.h"

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/machine/evaluate.h"

#include <algorithm>
#include <array>

namespace pallascope::machine {

using ir::OpCode;

Engine::Engine(const ir::Program& program, const chip::Chip& chip, const Options& options,
               const NeededSet& needed, const Plan& plan)
    : m_program(program)
    , m_chip(chip)
    , m_options(options)
    , m_needed(needed)
    , m_plan(plan)
    , m_recorder(options.rows)
    , m_values(program.values.size())
    , m_refs(program.values.size())
    , m_used(program.values.size(), false)
{
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        const auto use = [&](ir::ValueId id) { m_used[static_cast<std::size_t>(id.index)] = true; };
        std::for_each(operation.operands.begin(), operation.operands.end(), use);
        for (const ir::Region& region : operation.regions) {
            std::for_each(region.results.begin(), region.results.end(), use);
        }
    });
    for (const chip::Link& link : chip.links) {
        m_links.emplace_back(link);
    }
    for (std::size_t i = 0; i < program.values.size(); ++i) {
        if (program.values[i].literal) {
            m_values[i] =
                RuntimeValue::scalarOf(program.values[i].type.dtype, *program.values[i].literal);
        }
    }
}

Status Engine::bind(const std::vector<Array>& inputs)
{
    std::size_t input = 0;
    for (const ir::Argument& argument : m_program.arguments) {
        const ir::Type& type = m_program.type(argument.ref);
        if (argument.aliasOf >= 0) { // one array: the input's, which is bound already
            const auto& same = m_program.arguments[static_cast<std::size_t>(argument.aliasOf)];
            binding(argument.ref) = binding(same.ref);
            m_aliased.insert(binding(same.ref).buffer);
            continue;
        }
        binding(argument.ref).buffer = static_cast<std::int32_t>(m_buffers.size());
        if (argument.kind == ir::ArgumentKind::Output) {
            m_buffers.emplace_back(type.dtype, type.shape);
            continue;
        }
        PALLASCOPE_CHECK(input < inputs.size());
        const Array& array = inputs[input++];
        PALLASCOPE_CHECK(array.dtype == type.dtype && array.shape == type.shape);
        if (m_needed.needsContents(argument.ref) && !array.data) {
            return userError("The values of " + argument.name + " decide what " + m_program.name
                             + " does, so they are needed; only its shape is given.");
        }
        if (array.data) {
            m_buffers.emplace_back(type.dtype, type.shape, array.data);
        } else {
            m_buffers.emplace_back(type.dtype, type.shape);
        }
    }
    m_written.assign(m_buffers.size(), 1);
    return Done{};
}

void Engine::fail(Error error)
{
    if (!m_error) {
        m_error = std::move(error);
    }
}

Status Engine::execute()
{
    m_agent.frames.emplace_back(BlockFrame{m_plan.body, nullptr, 0});
    while (!m_agent.frames.empty() && !m_error) {
        advance();
    }
    if (m_error) {
        return *m_error;
    }
    land(m_agent.time);
    return Done{};
}

void Engine::advance()
{
    ++m_turns;
    if (!mayGoOn()) {
        return;
    }
    switch (m_agent.frames.back().index()) {
    case 0:
        runBlock();
        return;
    case 1:
        runScan();
        return;
    case 2:
        runWhile();
        return;
    case 3:
        runPipeline();
        return;
    default:
        release(std::get<ScopeFrame>(m_agent.frames.back()).firstBuffer);
        m_agent.frames.pop_back();
    }
}

bool Engine::mayGoOn()
{
    const std::int64_t most = m_options.rows ? kMostRecordedTurns : kMostTurns;
    if (m_turns > most) {
        fail(limitError(m_program.name + " takes more than " + countText(most)
                        + " loop rounds and steps, the most that a run records; a loop that ends, "
                          "or larger blocks, are right."));
    } else if (m_turns % 1024 == 0 && m_recorder.recordedBytes() > kMostRecorded) {
        fail(limitError(m_program.name + " takes more steps, copies and waits than the "
                        + bytesText(kMostRecorded)
                        + " that a run records; a loop that ends, or larger blocks, are right."));
    } else if (m_options.progress && (m_options.values == ValueMode::Full || m_turns % 1024 == 0)) {
        constexpr auto kBetween = std::chrono::milliseconds(50);
        const auto now = std::chrono::steady_clock::now();
        if (now - m_asked > kBetween && !m_options.progress(m_share)) {
            fail(limitError("cancelled"));
        }
        m_asked = now - m_asked > kBetween ? now : m_asked;
    }
    return !m_error;
}

void Engine::runBlock()
{
    auto& frame = std::get<BlockFrame>(m_agent.frames.back());
    while (frame.next < frame.plan->items.size()) {
        const PlanItem& item = frame.plan->items[frame.next++];
        if (item.control != nullptr) {
            enterControl(item); // invalidates `frame`
            return;
        }
        runSegment(item);
        if (m_error) {
            return;
        }
    }
    if (frame.owner != nullptr) {
        assign(frame.owner->results, frame.plan->region->results, 0);
    }
    m_agent.frames.pop_back();
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
        value(to[i + skip]) = std::move(values[i]);
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
        m_agent.frames.emplace_back(
            BlockFrame{item.regions[static_cast<std::size_t>(branch)], &operation, 0});
        return;
    }
    case OpCode::Scan:
        m_agent.frames.emplace_back(ScanFrame{&item, -1});
        return;
    case OpCode::While:
        m_agent.frames.emplace_back(WhileFrame{&item, WhileFrame::Next::Test});
        return;
    case OpCode::Pipeline:
        enterPipeline(item);
        return;
    case OpCode::RunScoped:
        enterScope(item);
        return;
    default:
        PALLASCOPE_CHECK(false && "not a control operation");
    }
}

void Engine::enterScope(const PlanItem& item)
{
    const ir::Region& region = item.control->regions[0];
    m_agent.frames.emplace_back(ScopeFrame{m_buffers.size()});
    allocate(region.arguments);
    m_agent.frames.emplace_back(BlockFrame{item.regions[0], item.control, 0});
}

void Engine::allocate(const std::vector<ir::ValueId>& refs)
{
    for (const ir::ValueId ref : refs) {
        binding(ref) = {static_cast<std::int32_t>(m_buffers.size()), {}};
        m_buffers.emplace_back(m_program.type(ref).dtype, m_program.type(ref).shape);
    }
    m_written.resize(m_buffers.size(), 0);
}

void Engine::release(std::size_t firstBuffer)
{
    m_buffers.resize(firstBuffer);
    m_written.resize(firstBuffer);
}

void Engine::runScan()
{
    auto& frame = std::get<ScanFrame>(m_agent.frames.back());
    const ir::Operation& operation = *frame.item->control;
    const ir::Region& body = operation.regions[0];
    assign(body.arguments, frame.done < 0 ? operation.operands : body.results, 1);
    ++frame.done;
    if (frame.done < std::get<ir::ScanParams>(operation.params).length) {
        value(body.arguments[0]) =
            RuntimeValue::scalarOf(DType::Int32, static_cast<double>(frame.done));
        m_agent.frames.emplace_back(BlockFrame{frame.item->regions[0], nullptr, 0});
        return;
    }
    const std::vector<ir::ValueId> carry(body.arguments.begin() + 1, body.arguments.end());
    assign(operation.results, carry, 0);
    m_agent.frames.pop_back();
}

void Engine::runWhile()
{
    auto& frame = std::get<WhileFrame>(m_agent.frames.back());
    const PlanItem& item = *frame.item;
    const ir::Operation& operation = *item.control;
    const ir::Region &condition = operation.regions[0], &body = operation.regions[1];
    switch (frame.next) {
    case WhileFrame::Next::Test:
        assign(condition.arguments, operation.operands, 0);
        frame.next = WhileFrame::Next::Decide;
        m_agent.frames.emplace_back(BlockFrame{item.regions[0], nullptr, 0});
        return;
    case WhileFrame::Next::Decide:
        reportUndefinedUse(value(condition.results[0]), "undefined_branch", "A loop",
                           operation.location);
        if (value(condition.results[0]).scalar == 0) {
            assign(operation.results, condition.arguments, 0);
            m_agent.frames.pop_back();
            return;
        }
        assign(body.arguments, condition.arguments, 0);
        frame.next = WhileFrame::Next::Carry;
        m_agent.frames.emplace_back(BlockFrame{item.regions[1], nullptr, 0});
        return;
    case WhileFrame::Next::Carry:
        assign(condition.arguments, body.results, 0);
        frame.next = WhileFrame::Next::Decide;
        m_agent.frames.emplace_back(BlockFrame{item.regions[0], nullptr, 0});
        return;
    }
}

void Engine::runSegment(const PlanItem& item)
{
    m_recorder.addSegment(item.templateId, m_agent.id, m_agent.step, m_agent.time);
    if (!item.evaluate.empty()) {
        land(m_agent.time); // copies that ended by now are seen by this segment
        for (const Evaluation& evaluation : item.evaluate) {
            if (!mayGoOn()) { // one operation may take seconds
                return;
            }
            execute(evaluation);
        }
    }
    for (const ir::ValueId ref : item.stores) {
        m_written[static_cast<std::size_t>(binding(ref).buffer)] = 1;
    }
    m_recorder.countEvents(item.operationCount);
    m_agent.time += item.duration;
    if (m_agent.time > kLongestRun) { // a segment alone is at most half as long: no overflow
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
        PALLASCOPE_CHECK(m_gridFrame.has_value());
        const auto& grid = std::get<PipelineFrame>(m_agent.frames[*m_gridFrame]);
        const auto axis = static_cast<std::size_t>(std::get<ir::AxisParams>(operation.params).axis);
        const std::int64_t number =
            operation.code == OpCode::ProgramId ? grid.here.point[axis] : grid.grid[axis];
        RuntimeValue& result = value(operation.results[0]);
        result.dtype = DType::Int32;
        result.scalar = static_cast<double>(number);
        return;
    }
    case OpCode::Get:
    case OpCode::Swap:
        access(operation);
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

std::optional<StridedView> Engine::view(const ir::Operation& operation)
{
    const RefBinding& ref = binding(operation.operands[0]);
    const Shape& array = buffer(ref.buffer).shape();
    const std::vector<std::int64_t> arrayStrides = rowMajorStrides(array);
    StridedView result;
    std::vector<std::int64_t> strides;
    std::vector<Extent> sizes;
    for (std::size_t axis = 0; axis < array.rank(); ++axis) {
        const bool whole = ref.box.start.empty();
        result.offset += whole ? 0 : ref.box.start[axis] * arrayStrides[axis];
        if (whole || !ref.box.squeezed[axis]) {
            strides.push_back(arrayStrides[axis]);
            sizes.push_back(whole ? array[axis] : ref.box.size[axis]);
        }
    }
    std::vector<Extent> extents;
    const auto& entries = std::get<ir::IndexerParams>(operation.params).entries;
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
        const ir::IndexEntry& entry = entries[axis];
        std::int64_t start = entry.start;
        if (entry.operand >= 0) {
            const RuntimeValue& index =
                value(operation.operands[static_cast<std::size_t>(entry.operand)]);
            reportUndefinedUse(index, "undefined_index", "An index", operation.location);
            start = static_cast<std::int64_t>(index.scalar);
        }
        const std::int64_t last = start + (entry.size - 1) * entry.stride;
        if (start < 0 || last >= sizes[axis]) {
            fail(userError(m_program.where(operation.location) + ": "
                           + std::string(ir::opName(operation.code)) + " reaches elements "
                           + std::to_string(start) + " to " + std::to_string(last) + " on axis "
                           + std::to_string(axis) + " of "
                           + m_program.value(operation.operands[0]).name + ", which has "
                           + std::to_string(sizes[axis]) + "."));
            return std::nullopt;
        }
        result.offset += start * strides[axis];
        if (entry.isSlice) {
            extents.push_back(entry.size);
            result.strides.push_back(strides[axis] * entry.stride);
        }
    }
    result.shape = Shape(extents);
    return result;
}

void Engine::access(const ir::Operation& operation)
{
    PALLASCOPE_CHECK(binding(operation.operands[0]).buffer >= 0);
    Buffer& memory = buffer(binding(operation.operands[0]).buffer);
    const std::optional<StridedView> where = view(operation);
    if (!where) {
        return;
    }
    // A plain store drops the old contents; reading them would cost a copy.
    if (operation.code == OpCode::Get
        || m_used[static_cast<std::size_t>(operation.results[0].index)]) {
        value(operation.results[0]) = memory.load(*where, where->shape);
    }
    if (operation.code == OpCode::Swap) {
        memory.store(*where, value(operation.operands[1]));
    }
}

void Engine::land(Picoseconds until)
{
    while (!m_flights.empty() && m_flights.front().start <= until) {
        Flight& flight = m_flights.front();
        if (!flight.started) {
            flight.started = true;
            flight.payload =
                flight.out ? buffer(flight.slotBuffer)
                           : buffer(flight.arrayBuffer).cut(flight.box, flight.operand->blockShape);
        }
        if (flight.end > until) {
            return;
        }
        if (flight.out) {
            const std::int64_t undefined =
                buffer(flight.arrayBuffer).paste(flight.box, flight.payload);
            if (undefined > 0) {
                reportUndefinedWrite(flight, undefined);
            }
        } else {
            buffer(flight.slotBuffer) = std::move(flight.payload);
        }
        m_flights.pop_front();
    }
}

// A branch, an address, a loop or a grid that undefined data decides.
void Engine::reportUndefinedUse(const RuntimeValue& value, const char* kind,
                                const std::string& what, ir::LocationId location)
{
    if (!value.shadow.all()) {
        m_recorder.addFinding({kind,
                               trace::FindingClass::Structural,
                               what + " is decided by an undefined value.",
                               "",
                               m_agent.step,
                               {},
                               m_recorder.sourceLine(m_program, location),
                               1});
    }
}

void Engine::reportUndefinedWrite(const Flight& flight, std::int64_t undefined)
{
    const PipelineOperand& operand = *flight.operand;
    const std::int64_t all = Shape(flight.box.size).elements();
    m_recorder.addFinding({"undefined_written_back",
                           trace::FindingClass::Value,
                           operand.blockName(flight.block) + " is written back with "
                               + countText(undefined) + " of " + countText(all)
                               + " elements undefined.",
                           operand.spec->name,
                           flight.step,
                           {},
                           m_recorder.sourceLine(m_program, operand.spec->location),
                           1});
}

std::vector<Array> Engine::outputs()
{
    std::vector<Array> arrays;
    for (const ir::Argument& argument : m_program.arguments) {
        if (argument.kind == ir::ArgumentKind::Output) {
            arrays.push_back(buffer(binding(argument.ref).buffer).contents());
        }
    }
    return arrays;
}

} // namespace pallascope::machine
