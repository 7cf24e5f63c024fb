// Segments: their time and, where they are needed, the values of their operations.
#include "core/base/check.h"
#include "core/machine/engine/engine.h"
#include "core/machine/ops/evaluate.h"
#include "core/machine/ops/ops.h"
#include "core/machine/values/debug_text.h"
#include "core/machine/values/nonfinite.h"
#include "core/trace/mark_time.h"

#include <algorithm>
#include <array>
#include <bit>

namespace pallascope::machine {

using ir::OpCode;

namespace {

// The operations numbered [from, to).
template<class T>
std::span<const T> part(const std::vector<T>& all, std::int32_t from, std::int32_t to)
{
    const auto first = [&](std::int32_t number) {
        return std::partition_point(all.begin(), all.end(),
                                    [&](const T& one) { return one.number < number; });
    };
    return {first(from), first(to)};
}

} // namespace

// How many of its operations the run comes to before it pauses.
std::int32_t Engine::reachable(const PlanItem& item, std::int32_t done) const
{
    std::int64_t to = item.operationCount;
    if (m_agent->time + item.duration > m_until.time) {
        const trace::SegmentTemplate& segment =
            m_plan.templates[static_cast<std::size_t>(item.templateId)];
        const auto later =
            std::partition_point(segment.retire.begin(), segment.retire.end(), [&](Cycles retire) {
                return m_agent->time + Picoseconds(trace::markTime(segment, retire))
                       <= m_until.time;
            });
        to = later - segment.retire.begin();
    }
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(m_until.events - m_recorder.position().events + done, done, to));
}

// From operation `done` on, which is 0 again when all of it has run; else the run pauses within.
bool Engine::runSegment(const PlanItem& item, std::int32_t& done)
{
    if (done == 0) {
        m_recorder.addSegment(item.templateId, m_agent->id, m_agent->step, m_agent->time);
        if (!item.evaluate.empty()) {
            land(m_agent->time); // copies that ended by now are seen by this segment
        }
    }
    m_template = item.templateId;
    const std::int32_t to = reachable(item, done);
    if (to - done == item.operationCount) {
        runOperations(item.evaluate, item.accesses);
    } else {
        runOperations(part(item.evaluate, done, to), part(item.accesses, done, to));
    }
    m_paused = to < item.operationCount && !m_state.stopped; // else the run ends with this segment
    m_recorder.countEvents((m_paused ? to : item.operationCount) - done);
    done = m_paused ? to : 0;
    if (m_paused) {
        return false;
    }
    m_agent->time += item.duration;
    if (m_agent->time > kLongestRun) { // a segment alone is at most half as long: no overflow
        fail(limitError("The run takes longer than 53 days on this chip; more speed or less work "
                        "is right."));
    }
    return true;
}

// In the order of the program, so that it does not matter where the run pauses.
void Engine::runOperations(std::span<const Evaluation> evaluate,
                           std::span<const PlanAccess> accesses)
{
    const auto note = [&](const PlanAccess& access) {
        const RefBinding& ref = binding(access.ref);
        Memory& memory = m_state.memory[ref.buffer];
        memory.written = memory.written || access.writes;
        if (m_detects && access.wholeRef
            && m_state.races.mayConflict(ref.buffer, memory.isUncontested)) {
            checkRace(access.ref, *access.operation, access.writes, ref);
        }
    };
    auto access = accesses.begin();
    for (const Evaluation& evaluation : evaluate) {
        for (; access != accesses.end() && access->number < evaluation.number; ++access) {
            note(*access);
        }
        if (evaluation.isLong && !mayGoOn()) {
            return;
        }
        execute(evaluation);
        if (m_state.stopped) {
            return;
        }
    }
    std::for_each(access, accesses.end(), note);
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
        value(operation.results[0]).becomeScalar(DType::Int32, static_cast<double>(number));
        return;
    }
    case OpCode::AxisIndex:
        value(operation.results[0]) =
            RuntimeValue::scalarOf(DType::Int32, static_cast<double>(axisIndex(operation)));
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
    case OpCode::LoadGather:
    case OpCode::StoreScatter:
    case OpCode::AddupdateScatter:
        accessListed(evaluation);
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
    case OpCode::DebugPrint:
    case OpCode::DebugCheck:
        debug(evaluation);
        break;
    default:
        if (evaluation.product == nullptr || !addProduct(evaluation)) {
            evaluateNow(evaluation);
        }
    }
    release(operation, evaluation.dying);
}

// Values that were used for the last time give their storage back.
void Engine::release(const ir::Operation& operation, std::uint32_t dying)
{
    for (std::uint32_t rest = dying; rest != 0; rest &= rest - 1) {
        value(operation.operands[static_cast<std::size_t>(std::countr_zero(rest))]).drop();
    }
}

// False where only the product was evaluated, and the addition is left to do.
bool Engine::addProduct(const Evaluation& evaluation)
{
    const ir::Operation& product = *evaluation.product;
    const ir::Operation& addition = *evaluation.operation;
    const std::size_t other = addition.operands[0] == product.results[0] ? 1 : 0;
    std::array<RuntimeValue*, 2> factors{&value(product.operands[0]), &value(product.operands[1])};
    const bool dies = ((evaluation.dying >> other) & 1U) != 0;
    if (!m_births
        && ops::addProduct({product, factors}, value(addition.operands[other]), dies,
                           value(addition.results[0]))) {
        release(product, evaluation.productDying);
        return true;
    }
    execute({.operation = &product, .dying = evaluation.productDying});
    return false;
}

void Engine::debug(const Evaluation& evaluation)
{
    const ir::Operation& operation = *evaluation.operation;
    const std::string& text = std::get<ir::TextParams>(operation.params).text;
    if (operation.code == OpCode::DebugPrint) {
        const bool kept = m_recorder.takesPrint();
        if (!kept && !m_options.print) {
            return;
        }
        std::vector<const RuntimeValue*> values;
        for (const ir::ValueId operand : operation.operands) {
            values.push_back(&value(operand));
        }
        std::string line = debugText(text, values);
        if (m_options.print) {
            m_options.print(line);
        }
        if (kept) {
            const trace::SegmentTemplate& segment =
                m_plan.templates[static_cast<std::size_t>(m_template)];
            const Cycles retires = segment.retire[static_cast<std::size_t>(evaluation.number)];
            m_recorder.addPrint({std::move(line), m_agent->step, m_agent->id,
                                 m_agent->time + Picoseconds(trace::markTime(segment, retires)),
                                 m_recorder.sourceLine(m_program, operation.location)});
        }
        return;
    }
    const RuntimeValue& holds = value(operation.operands[0]);
    if (!holds.shadow.all() || holds.scalar == 0) {
        m_recorder.addFinding({"check_failed",
                               trace::FindingClass::Value,
                               text + (holds.shadow.all() ? "" : " (of undefined data)"),
                               "",
                               m_agent->step,
                               {},
                               m_recorder.sourceLine(m_program, operation.location),
                               1});
    }
}

void Engine::evaluateNow(const Evaluation& evaluation)
{
    const ir::Operation& operation = *evaluation.operation;
    std::array<RuntimeValue*, ir::kMostValues> operands;
    const std::size_t count = operation.operands.size();
    PALLASCOPE_CHECK(count <= operands.size());
    NonFinite before;
    for (std::size_t i = 0; i < count; ++i) {
        operands[i] = &value(operation.operands[i]);
        if (m_births) {
            const NonFinite in = nonFiniteIn(*operands[i]);
            before = {before.nan || in.nan, before.inf || in.inf};
        }
    }
    if (operation.results.size() == 1
        && ops::scalarInPlace(operation, {operands.data(), count}, value(operation.results[0]))) {
        return;
    }
    for (std::size_t i = 0; i < operation.results.size(); ++i) {
        RuntimeValue& result = value(operation.results[i]);
        result = evaluate(operation, {operands.data(), count}, evaluation.dying, i);
        if (m_births) {
            const NonFinite after = nonFiniteIn(result);
            if (after.nan && !before.nan) {
                noteBirth(operation, result, {.nan = true, .inf = before.inf});
            }
            if (after.inf && !before.inf) {
                noteBirth(operation, result, {.inf = true});
            }
        }
    }
}

// A birth of NaN, of inputs with or without Inf, or one of Inf.
void Engine::noteBirth(const ir::Operation& operation, const RuntimeValue& result,
                       const NonFinite& kind)
{
    const bool nan = kind.nan;
    const auto same = [&](const Birth& birth) {
        return birth.operation == &operation && birth.nan == nan;
    };
    const auto known = std::find_if(m_births->begin(), m_births->end(), same);
    if (known != m_births->end()) {
        ++known->count;
        return;
    }
    m_births->push_back({&operation, nan, nan && kind.inf, m_agent->step,
                         countNonFinite(result, nan), result.elements(), 1});
}

// A block in the memory of its array ends where that one does; what is behind has no other shape.
bool Engine::isCut(const ir::Operation& view, const RefBinding& ref, const Shape& memory)
{
    const Shape& there = shapeOf(ref, memory);
    const Shape& wanted = m_program.type(view.operands[0]).shape;
    if (there == wanted || view.code == OpCode::RefTranspose) {
        return false;
    }
    stop({"out_of_bounds",
          trace::FindingClass::Structural,
          "A view in another form reaches all " + toString(wanted) + " elements of "
              + refName(view.operands[0]) + ", of which its array has " + toString(there)
              + ": the run stops there." + calledFrom(view.location),
          refName(view.operands[0]),
          m_agent->step,
          {},
          m_recorder.sourceLine(m_program, view.location),
          1});
    return true;
}

void Engine::bindView(const ir::Operation& operation)
{
    const RefBinding& ref = binding(operation.operands[0]);
    const ir::Type& result = m_program.type(operation.results[0]);
    const Shape& memory = memoryShape(operation.operands[0]);
    if (operation.code != OpCode::RefAt && isCut(operation, ref, memory)) {
        return;
    }
    switch (operation.code) {
    case OpCode::RefAt:
        if (std::optional<Reached> reached = reach(operation)) {
            binding(operation.results[0]) = std::move(reached->where);
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
    Access access{where.buffer,  memory.isUncontested, writes,
                  m_agent->step, operation.location,   {}};
    access.place.located =
        std::make_shared<Place::Located>(Place::Located{where, memory.contents.shape(), {}});
    if (const std::optional<Race> race = m_state.races.access(m_agent->id, access)) {
        reportRace(*race, refName(ref), {}, m_agent->step, operation.location);
    }
}

} // namespace pallascope::machine
