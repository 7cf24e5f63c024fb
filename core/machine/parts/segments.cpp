#include "core/machine/parts/segments.h"

#include "core/base/check.h"
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

// Those with numbers in [from, to).
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

Segments::Segments(const Context& context, const Options& options, const std::int64_t& turns,
                   Agents& agents, Copies& copies, Semaphores& semaphores, Accesses& accesses,
                   Reductions& reductions, Limits& limits, Findings& findings)
    : m_prepared(context.prepared)
    , m_options(options)
    , m_turns(turns)
    , m_recorder(context.recorder)
    , m_turn(context.turn)
    , m_ending(context.ending)
    , m_agents(agents)
    , m_copies(copies)
    , m_semaphores(semaphores)
    , m_accesses(accesses)
    , m_reductions(reductions)
    , m_limits(limits)
    , m_findings(findings)
    , m_watch(context.watch)
{}

// How many of the segment's operations retire before the run pauses.
std::int32_t Segments::reachable(const PlanItem& item, std::int32_t done) const
{
    std::int64_t to = item.operationCount;
    if (m_turn.agent().time + item.duration > m_turn.until().time) {
        const trace::SegmentTemplate& segment =
            m_prepared.plan.templates[static_cast<std::size_t>(item.templateId)];
        const auto later =
            std::partition_point(segment.retire.begin(), segment.retire.end(), [&](Cycles retire) {
                return m_turn.agent().time + Picoseconds(trace::markTime(segment, retire))
                       <= m_turn.until().time;
            });
        to = later - segment.retire.begin();
    }
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(
        m_turn.until().events - m_recorder.position().events + done, done, to));
}

bool Segments::run(const PlanItem& item, std::int32_t& done)
{
    if (done == 0) {
        m_recorder.addSegment(item.templateId, trace::AgentRow{m_turn.agent().id},
                              m_turn.agent().step, m_turn.agent().time);
        if (!item.evaluate.empty()) {
            m_copies.land(m_turn.agent().time); // the segment sees copies that have ended by now
        }
    }
    m_template = item.templateId;
    m_done = done;
    const std::int32_t to = reachable(item, done);
    if (to - done == item.operationCount) {
        runOperations(item.evaluate, item.accesses);
    } else {
        runOperations(part(item.evaluate, done, to), part(item.accesses, done, to));
    }
    // Otherwise the run ends with this segment.
    const bool pauses = to < item.operationCount && !m_ending.hasStopped();
    m_turn.pauseWithin(pauses);
    m_recorder.countEvents((pauses ? to : item.operationCount) - done);
    done = pauses ? to : 0;
    if (pauses) {
        return false;
    }
    m_turn.agent().time += item.duration;
    // A single segment is at most half as long, so this cannot overflow.
    if (m_turn.agent().time > kLongestRun) {
        m_ending.fail(limitError(
            "The run takes longer than 53 days on this chip; use less work or a faster chip."));
    }
    return true;
}

// Runs them in program order, so that it makes no difference where the run pauses.
void Segments::runOperations(std::span<const Evaluation> evaluate,
                             std::span<const PlanAccess> accesses)
{
    auto access = accesses.begin();
    for (const Evaluation& evaluation : evaluate) {
        for (; access != accesses.end() && access->number < evaluation.number; ++access) {
            note(*access);
        }
        if (evaluation.isLong && !m_limits.mayGoOn(m_turns)) {
            return;
        }
        if (m_watch.isOn()) {
            tellWatch(evaluation);
        }
        execute(evaluation);
        if (m_ending.isReached()) {
            return;
        }
    }
    for (; access != accesses.end(); ++access) {
        note(*access);
    }
}

void Segments::note(const PlanAccess& access)
{
    if (access.isReduction) {
        m_reductions.note(*access.operation);
    } else {
        m_accesses.note(access);
    }
}

void Segments::tellWatch(const Evaluation& evaluation)
{
    const trace::SegmentTemplate& segment =
        m_prepared.plan.templates[static_cast<std::size_t>(m_template)];
    const Cycles retires = segment.retire[static_cast<std::size_t>(evaluation.number)];
    m_watch.byOperation(*evaluation.operation,
                        m_recorder.position().events + evaluation.number - m_done + 1,
                        m_turn.agent().time + Picoseconds(trace::markTime(segment, retires)));
}

void Segments::execute(const Evaluation& evaluation)
{
    const ir::Operation& operation = *evaluation.operation;
    switch (operation.code) {
    case OpCode::ProgramId:
    case OpCode::NumPrograms:
        placeInGrid(operation);
        return;
    case OpCode::AxisIndex:
        m_turn.value(operation.results[0]) = RuntimeValue::scalarOf(
            DType::Int32, static_cast<double>(m_agents.axisIndex(operation)));
        return;
    case OpCode::Get:
    case OpCode::Swap:
        m_accesses.access(evaluation, evaluation.asRows && !m_findings.watchesBirths());
        break;
    case OpCode::MaskedLoad:
    case OpCode::MaskedSwap:
    case OpCode::AtomicCas:
        m_accesses.accessMasked(evaluation);
        break;
    case OpCode::AtomicRmw:
        std::get<ir::AtomicParams>(operation.params).listed ? m_accesses.accessListed(evaluation)
                                                            : m_accesses.accessMasked(evaluation);
        break;
    case OpCode::LoadGather:
    case OpCode::StoreScatter:
    case OpCode::AddupdateScatter:
        m_accesses.accessListed(evaluation);
        break;
    case OpCode::RefAt:
    case OpCode::RefReshape:
    case OpCode::RefBitcast:
    case OpCode::RefTranspose:
        m_accesses.bindView(operation);
        break;
    case OpCode::RemoteRef:
        m_agents.bindRemote(operation);
        break;
    case OpCode::GetBarrierSemaphore:
        m_semaphores.bindBarrier(operation);
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

// Frees the storage of values that were used for the last time.
void Segments::release(const ir::Operation& operation, std::uint32_t dying)
{
    for (std::uint32_t rest = dying; rest != 0; rest &= rest - 1) {
        m_turn.value(operation.operands[static_cast<std::size_t>(std::countr_zero(rest))]).drop();
    }
}

// Returns false if only the product was evaluated and the addition remains to be done.
bool Segments::addProduct(const Evaluation& evaluation)
{
    const ir::Operation& product = *evaluation.product;
    const ir::Operation& addition = *evaluation.operation;
    const std::size_t other = addition.operands[0] == product.results[0] ? 1 : 0;
    std::array<RuntimeValue*, 2> factors{&m_turn.value(product.operands[0]),
                                         &m_turn.value(product.operands[1])};
    const bool dies = ((evaluation.dying >> other) & 1U) != 0;
    if (!m_findings.watchesBirths()
        && ops::addProduct({product, factors}, m_turn.value(addition.operands[other]), dies,
                           m_turn.value(addition.results[0]))) {
        release(product, evaluation.productDying);
        return true;
    }
    execute({.operation = &product, .dying = evaluation.productDying});
    return false;
}

void Segments::debug(const Evaluation& evaluation)
{
    const ir::Operation& operation = *evaluation.operation;
    const std::string& text = std::get<ir::TextParams>(operation.params).text;
    if (operation.code == OpCode::DebugPrint) {
        if (m_prepared.values != ValueMode::Full) { // only some lines would be there
            return;
        }
        const bool kept = m_recorder.takesPrint();
        if (!kept && !m_options.print) {
            return;
        }
        std::vector<const RuntimeValue*> values;
        for (const ir::ValueId operand : operation.operands) {
            values.push_back(&m_turn.value(operand));
        }
        std::string line = debugText(text, values);
        if (m_options.print) {
            m_options.print(line);
        }
        if (kept) {
            const trace::SegmentTemplate& segment =
                m_prepared.plan.templates[static_cast<std::size_t>(m_template)];
            const Cycles retires = segment.retire[static_cast<std::size_t>(evaluation.number)];
            m_recorder.addPrint(
                {std::move(line), trace::stored(m_turn.agent().step), m_turn.agent().id,
                 m_turn.agent().time + Picoseconds(trace::markTime(segment, retires)),
                 m_recorder.description().sourceLine(m_prepared.program, operation.location)});
        }
        return;
    }
    const RuntimeValue& holds = m_turn.value(operation.operands[0]);
    if (!holds.shadow.all() || holds.scalar == 0) {
        m_recorder.addFinding(trace::found(
            trace::FindingKind::CheckFailed,
            text + (holds.shadow.all() ? "" : " (of undefined data)"), "", m_turn.agent().step, {},
            m_recorder.description().sourceLine(m_prepared.program, operation.location)));
    }
}

void Segments::evaluateNow(const Evaluation& evaluation)
{
    const ir::Operation& operation = *evaluation.operation;
    std::array<RuntimeValue*, ir::kMostValues> operands;
    const std::size_t count = operation.operands.size();
    PALLASCOPE_CHECK(count <= operands.size());
    NonFinite before;
    for (std::size_t i = 0; i < count; ++i) {
        operands[i] = &m_turn.value(operation.operands[i]);
        if (m_findings.watchesBirths()) {
            const NonFinite in = nonFiniteIn(*operands[i]);
            before = {before.nan || in.nan, before.inf || in.inf};
        }
    }
    if (operation.results.size() == 1
        && ops::scalarInPlace(operation, {operands.data(), count},
                              m_turn.value(operation.results[0]))) {
        return;
    }
    for (std::size_t i = 0; i < operation.results.size(); ++i) {
        RuntimeValue& result = m_turn.value(operation.results[i]);
        result = evaluate(operation, {operands.data(), count}, evaluation.dying, i);
        if (m_findings.watchesBirths()) {
            const NonFinite after = nonFiniteIn(result);
            if (after.nan && !before.nan) {
                if (m_watch.seeksNans()) {
                    m_watch.noteBirth(operation, before.inf);
                }
                m_findings.noteBirth(operation, result, {.nan = true, .inf = before.inf});
            }
            if (after.inf && !before.inf) {
                m_findings.noteBirth(operation, result, {.inf = true});
            }
        }
    }
}

void Segments::placeInGrid(const ir::Operation& operation)
{
    PALLASCOPE_CHECK(m_turn.agent().gridFrame.has_value());
    const auto& grid = std::get<PipelineFrame>(m_turn.agent().frames[*m_turn.agent().gridFrame]);
    const auto axis = static_cast<std::size_t>(std::get<ir::AxisParams>(operation.params).axis);
    const std::int64_t offset = grid.offset.empty() ? 0 : grid.offset[axis];
    const std::int64_t number =
        operation.code == OpCode::ProgramId ? grid.here.point[axis] + offset : grid.grid[axis];
    m_turn.value(operation.results[0]).becomeScalar(DType::Int32, static_cast<double>(number));
}

} // namespace pallascope::machine
