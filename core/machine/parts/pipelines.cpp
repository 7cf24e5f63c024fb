#include "core/machine/parts/pipelines.h"

#include "core/base/format.h"
#include "core/machine/prepare/pipeline_rules.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

namespace {

bool synchronousOut(const PipelineFrame& frame, const PipelineOperand& operand)
{
    return operand.plan->facts.outCount == 1 || frame.params->noPipelining;
}

// Moves on to the next phase, which begins with its first operand.
void go(PipelineFrame& frame, PipelineFrame::Next next)
{
    frame.next = next;
    frame.at = 0;
}

} // namespace

Pipelines::Pipelines(const Context& context, const std::set<std::int32_t>& aliased, Copies& copies,
                     Accesses& accesses, Scopes& scopes, Limits& limits, Findings& findings)
    : Part(context)
    , m_aliased(aliased)
    , m_copies(copies)
    , m_accesses(accesses)
    , m_scopes(scopes)
    , m_limits(limits)
    , m_findings(findings)
{}

void Pipelines::run(PipelineFrame& frame)
{
    using Next = PipelineFrame::Next;
    do {
        switch (frame.next) {
        case Next::BringTrivial:
            bringTrivial(frame);
            break;
        case Next::Prologue:
            prologue(frame);
            break;
        case Next::Begin:
            beginStep(frame);
            break;
        case Next::CopyIn:
            copyIn(frame);
            break;
        case Next::WaitIn:
            waitIn(frame);
            break;
        case Next::Body:
            enterBody(frame); // pushes the frame of the body, which may move `frame`
            return;
        case Next::Overhead:
            passOverhead(frame);
            break;
        case Next::CopyOut:
            copyOut(frame);
            break;
        case Next::WaitOut:
            waitOut(frame);
            break;
        case Next::Drain:
            drain(frame);
            break;
        case Next::TakeTrivial:
            takeTrivial(frame);
            break;
        case Next::Done:
            endPipeline(frame);
            return;
        }
    } while (!m_turn.yields());
}

void Pipelines::bringTrivial(PipelineFrame& frame)
{
    for (; frame.at < frame.operands.size() && !frame.params->noPipelining; ++frame.at) {
        const ir::OperandFacts& facts = frame.operands[frame.at].plan->facts;
        if (!facts.trivial || facts.inCount == 0) {
            continue;
        }
        const std::int64_t block = blockAt(frame, frame.at, 0);
        if (facts.prefetched >= 1) {
            fillSlot(frame, frame.at, block, 0);
            continue;
        }
        (void)startCopy(frame, frame.at, block, 0, false);
        waitFor(frame.operands[frame.at], 0, false, rowOf(frame));
        if (m_turn.yields()) {
            ++frame.at;
            return;
        }
    }
    go(frame, PipelineFrame::Next::Prologue);
}

void Pipelines::prologue(PipelineFrame& frame)
{
    for (; frame.stage + 1 < frame.stages && !frame.params->noPipelining;
         ++frame.stage, frame.at = 0) {
        while (frame.at < frame.operands.size()) {
            const std::size_t i = frame.at++;
            const std::int64_t stage = frame.stage;
            const ir::OperandFacts& facts = frame.operands[i].plan->facts;
            const bool takesPart = facts.pipelined() && stage + 1 < facts.inCount;
            const auto changes = [&](std::int64_t t) { return changesAt(frame, i, t); };
            if (takesPart && facts.lookahead && stage > 0) {
                if (stage < frame.steps || facts.wrapsPrologue) {
                    lookAhead(frame, i, 1);
                }
            } else if (takesPart && prologueFetches(facts, stage, frame.steps, changes)) {
                fetch(frame, i, blockAt(frame, i, stage), stage < facts.prefetched);
            }
            if (m_turn.halts()) {
                return;
            }
        }
    }
    frame.stage = frame.stages - 2; // the stage with which the epilogue begins
    go(frame, PipelineFrame::Next::Begin);
}

// Fetches one more block and counts it. A block that the caller has fetched already is only put in
// place.
void Pipelines::fetch(PipelineFrame& frame, std::size_t index, std::int64_t block, bool prefetched)
{
    PipelineOperand& operand = frame.operands[index];
    const std::int32_t slot = operand.slotOf(operand.copyIn);
    ++operand.copyIn;
    if (prefetched) {
        fillSlot(frame, index, block, slot);
    } else {
        (void)startCopy(frame, index, block, slot, false);
    }
}

// fetch_with_lookahead: skips steps that keep the block, until the slots are full or the run
// pauses.
void Pipelines::lookAhead(PipelineFrame& frame, std::size_t index, std::int64_t most)
{
    PipelineOperand& operand = frame.operands[index];
    const ir::OperandFacts& facts = operand.plan->facts;
    const std::int64_t limit = std::min(operand.waitIn + facts.inCount, operand.copyIn + most);
    while (operand.copyIn < limit && operand.nextFetch + 1 < frame.steps && !m_turn.halts()) {
        const std::int64_t next = blockAt(frame, index, operand.nextFetch + 1);
        if (blockAt(frame, index, operand.nextFetch) != next) {
            fetch(frame, index, next, operand.copyIn < facts.prefetched);
        }
        ++operand.nextFetch;
    }
}

// The actions of this step. An index map that loads from memory sees the memory as it is now.
StepActions Pipelines::actionsAt(PipelineFrame& frame, std::size_t operand)
{
    return frame.isLiveAt(operand) ? actionsNow(frame, operand) : frame.actions[operand];
}

StepActions Pipelines::actionsNow(PipelineFrame& frame, std::size_t operand)
{
    const ir::OperandFacts& facts = frame.operands[operand].plan->facts;
    if (!facts.pipelined()) {
        return {};
    }
    if (frame.params->noPipelining) { // makes every copy, even if the block stays the same
        const bool in = facts.inCount > 0, out = facts.outCount > 0;
        return {.startIn = in, .waitIn = false, .startOut = out};
    }
    return stepActions(facts, frame.step, frame.steps,
                       [&](std::int64_t t) { return changesAt(frame, operand, t); });
}

void Pipelines::beginStep(PipelineFrame& frame)
{
    const std::int64_t s = frame.step;
    if (!frame.outerGrid && !m_limits.passStep(s, frame.steps)) {
        return;
    }
    frame.row = m_turn.agent().step =
        m_recorder.beginStep(trace::PipelineRow{frame.traceIndex}, s, m_turn.agent().time);
    moveTo(frame.here, frame.grid, s);
    if (changesInParallel(*frame.params, frame.grid, s)) {
        for (const auto& [ref, buffers] : frame.owned.buffers) {
            for (std::int32_t i = buffers.first; i < buffers.first + buffers.count; ++i) {
                Memory::Holds& holds = m_memory[i].holds;
                holds = holds == Memory::Holds::Current ? Memory::Holds::Carried : holds;
            }
        }
    }
    // Far from the ends of the grid, an operand whose block always changes does what it did before.
    const bool isMiddle = s > frame.stages && s + frame.stages < frame.steps;
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        if (!isMiddle || frame.changes[i].every != 1) {
            frame.actions[i] = actionsNow(frame, i);
        }
    }
    go(frame, PipelineFrame::Next::CopyIn);
}

void Pipelines::copyIn(PipelineFrame& frame)
{
    const std::int64_t s = frame.step;
    for (; frame.at < frame.operands.size(); ++frame.at) {
        const std::size_t i = frame.at;
        const ir::OperandFacts& facts = frame.operands[i].plan->facts;
        if (frame.params->noPipelining) {
            if (actionsAt(frame, i).startIn) {
                (void)startCopy(frame, i, blockAt(frame, i, s), 0, false);
                waitFor(frame.operands[i], 0, false, frame.row);
                if (m_turn.isOvertaken()) {
                    ++frame.at;
                    return;
                }
            }
        } else if (facts.pipelined() && facts.inCount > 0 && facts.lookahead) {
            lookAhead(frame, i, facts.inCount);
            if (m_turn.halts()) { // the phase may not be finished
                return;
            }
        } else if (actionsAt(frame, i).startIn) {
            const std::int64_t ahead = s + facts.inCount - 1;
            fetch(frame, i, blockAt(frame, i, ahead), s + facts.inCount <= facts.prefetched);
        }
        if (m_turn.halts()) {
            ++frame.at;
            return;
        }
    }
    go(frame, PipelineFrame::Next::WaitIn);
}

void Pipelines::waitIn(PipelineFrame& frame)
{
    const std::int64_t s = frame.step;
    for (; frame.at < frame.operands.size(); ++frame.at) {
        const PipelineOperand& operand = frame.operands[frame.at];
        const ir::OperandFacts& facts = operand.plan->facts;
        const std::int64_t mine = facts.countsWaits ? operand.waitIn : s;
        if (!actionsAt(frame, frame.at).waitIn || mine < facts.prefetched) {
            continue;
        }
        const std::int32_t slot = operand.slotOf(operand.waitIn);
        if (!operand.inCopyOfSlot[static_cast<std::size_t>(slot)].row && facts.prefetched > 0
            && !facts.countsWaits) {
            // JAX 0.11 counts steps where it should count waits.
            m_ending.fail(userError(
                m_prepared.program.where(operand.plan->spec->location) + ": deadlock at step "
                + std::to_string(s) + ": it waits for a copy " + "of " + operand.plan->spec->name
                + " into a slot that the caller filled, "
                  "which nothing starts; without lookahead, or in the schedule of JAX "
                  "0.12, it does not."));
            return;
        }
        waitFor(operand, slot, false, frame.row);
        if (m_turn.yields()) {
            ++frame.at;
            return;
        }
    }
    go(frame, PipelineFrame::Next::Body);
}

void Pipelines::enterBody(PipelineFrame& frame)
{
    m_copies.land(m_turn.agent().time);
    while (frame.at < frame.operands.size()) {
        bindBlock(frame, frame.at++);
        if (m_turn.halts()) {
            return;
        }
    }
    m_recorder.beginBody(*frame.row, m_turn.agent().time);
    go(frame, PipelineFrame::Next::Overhead);
    m_turn.agent().gridFrame = m_turn.agent().frames.size() - 1;
    m_turn.agent().frames.emplace_back(std::in_place_type<BlockFrame>, frame.item->regions[0]);
}

void Pipelines::passOverhead(PipelineFrame& frame)
{
    m_recorder.endBody(*frame.row, m_turn.agent().time);
    m_turn.agent().step = frame.row;
    // The step's bookkeeping takes the core's own time; copies that are already issued go on.
    m_recorder.addSegment(frame.item->templateId, trace::AgentRow{m_turn.agent().id}, frame.row,
                          m_turn.agent().time);
    m_turn.agent().time += frame.item->duration;
    go(frame, PipelineFrame::Next::CopyOut);
}

void Pipelines::copyOut(PipelineFrame& frame)
{
    const std::int64_t s = frame.step;
    for (; frame.at < frame.operands.size(); ++frame.at) {
        const std::size_t i = frame.at;
        PipelineOperand& operand = frame.operands[i];
        if (!actionsAt(frame, i).startOut) {
            continue;
        }
        const std::int32_t slot = frame.params->noPipelining ? 0 : operand.slotOf(operand.copyOut);
        m_copies.land(m_turn.agent().time);
        const std::int64_t block = blockAt(frame, i, s);
        m_findings.reportNotWritten(frame, operand, block, slot);
        const trace::OptionalRow<trace::CopyRow> copy = startCopy(frame, i, block, slot, true);
        m_recorder.endVisit(trace::OperandRow{operand.traceOperand}, block, copy);
        ++operand.copyOut;
        if (synchronousOut(frame, operand)) {
            waitFor(operand, slot, true, frame.row);
        }
        if (m_turn.yields()) {
            ++frame.at;
            return;
        }
    }
    go(frame, PipelineFrame::Next::WaitOut);
}

void Pipelines::waitOut(PipelineFrame& frame)
{
    for (; frame.at < frame.operands.size(); ++frame.at) {
        if (actionsAt(frame, frame.at).waitOut) {
            awaitOut(frame, frame.operands[frame.at]);
            if (m_turn.yields()) {
                ++frame.at;
                return;
            }
        }
    }
    endStep(frame);
}

void Pipelines::endStep(PipelineFrame& frame)
{
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        frame.operands[i].waitIn += actionsAt(frame, i).advanceIn ? 1 : 0;
    }
    if (m_ending.hasStopped()) { // an index map that changed left its array: the step stays open
        return;
    }
    m_recorder.endStep(*frame.row, m_turn.agent().time);
    ++frame.step;
    if (frame.step < frame.steps) {
        go(frame, PipelineFrame::Next::Begin);
        return;
    }
    frame.lastRow = std::exchange(frame.row, std::nullopt);
    m_turn.agent().step = frame.outerStep;
    go(frame, PipelineFrame::Next::Drain);
}

void Pipelines::awaitOut(PipelineFrame& frame, PipelineOperand& operand)
{
    if (!synchronousOut(frame, operand)) {
        waitFor(operand, operand.slotOf(operand.waitOut), true, rowOf(frame));
    }
    ++operand.waitOut;
}

void Pipelines::drain(PipelineFrame& frame)
{
    for (; frame.stage >= 0 && !frame.params->noPipelining; --frame.stage, frame.at = 0) {
        for (; frame.at < frame.operands.size(); ++frame.at) {
            const std::size_t i = frame.at;
            const auto changes = [&](std::int64_t t) { return changesAt(frame, i, t); };
            const ir::OperandFacts& facts = frame.operands[i].plan->facts;
            if (facts.pipelined() && epilogueWaits(facts, frame.stage, frame.steps, changes)) {
                awaitOut(frame, frame.operands[i]);
                if (m_turn.yields()) {
                    ++frame.at;
                    return;
                }
            }
        }
    }
    go(frame, PipelineFrame::Next::TakeTrivial);
}

void Pipelines::takeTrivial(PipelineFrame& frame)
{
    for (; frame.at < frame.operands.size(); ++frame.at) {
        PipelineOperand& operand = frame.operands[frame.at];
        if (!operand.plan->facts.trivial || operand.plan->facts.outCount == 0) {
            continue;
        }
        m_findings.reportNotWritten(frame, operand, 0, 0);
        m_copies.land(m_turn.agent().time);
        const std::int64_t block = blockAt(frame, frame.at, 0);
        const trace::OptionalRow<trace::CopyRow> copy = startCopy(frame, frame.at, block, 0, true);
        m_recorder.endVisit(trace::OperandRow{operand.traceOperand}, block, copy);
        waitFor(operand, 0, true, rowOf(frame));
        if (m_turn.yields()) {
            ++frame.at;
            return;
        }
    }
    go(frame, PipelineFrame::Next::Done);
}

} // namespace pallascope::machine
