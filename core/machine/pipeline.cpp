// The software pipeline: prologue, one turn per step, epilogue, by the rules of pipeline_rules.h.
#include "core/base/format.h"
#include "core/machine/engine.h"
#include "core/machine/pipeline_rules.h"

#include <algorithm>
#include <bit>

namespace pallascope::machine {

namespace {

std::int32_t slotOf(std::int64_t counter, const PipelineOperand& operand)
{
    return static_cast<std::int32_t>(counter % operand.facts.slots);
}

bool synchronousOut(const PipelineFrame& frame, const PipelineOperand& operand)
{
    return operand.facts.outCount == 1 || frame.params->noPipelining;
}

} // namespace

void Engine::enterPipeline(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    PipelineFrame frame;
    frame.item = &item;
    frame.params = &std::get<ir::PipelineParams>(operation.params);
    if (!takeGrid(frame, operation)) {
        return;
    }
    frame.firstBuffer = m_buffers.size();
    for (std::size_t i = 0; i < frame.params->specs.size(); ++i) {
        Result<PipelineOperand> operand = makeOperand(m_program, operation, i, m_chip);
        if (!operand) {
            fail(operand.error());
            return;
        }
        operand->traceOperand = m_recorder.operandIndex(operation, frame.traceIndex, i);
        operand->arrayBuffer = binding(operation.operands[i]).buffer;
        operand->contents = m_needed.needsContents(operation.operands[i]);
        operand->firstSlot = static_cast<std::int32_t>(m_buffers.size());
        for (std::int32_t slot = 0; slot < operand->facts.slots; ++slot) {
            m_buffers.emplace_back(operand->dtype, operand->blockShape);
        }
        frame.maps.emplace_back(m_program, operation, i, [this](ir::ValueId id) {
            return static_cast<std::int64_t>(value(id).scalar);
        });
        frame.facts.push_back(operand->facts);
        frame.operands.push_back(std::move(*operand));
    }
    const auto& arguments = operation.regions[0].arguments;
    allocate({arguments.begin() + static_cast<std::ptrdiff_t>(frame.params->specs.size()),
              arguments.end()});
    frame.stages = stageCount(frame.facts);
    frame.window =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * frame.stages + 4)));
    const GridPoint origin{0, std::vector<std::int64_t>(frame.grid.size())};
    frame.here = origin;
    frame.points.assign(frame.operands.size(), origin);
    frame.actions.resize(frame.operands.size());
    frame.looked.resize(static_cast<std::size_t>(frame.window) * frame.operands.size());
    m_recorder.reserve(frame.traceIndex, frame.steps);
    m_agent.frames.emplace_back(std::move(frame));
}

// The grid of this execution; false when there is nothing to run.
bool Engine::takeGrid(PipelineFrame& frame, const ir::Operation& operation)
{
    frame.grid = frame.params->grid;
    std::size_t operand = frame.params->specs.size();
    __int128 steps = 1;
    for (Extent& extent : frame.grid) {
        if (extent == ir::kDynamicExtent) {
            const RuntimeValue& bound = value(operation.operands[operand++]);
            reportUndefinedUse(bound, "undefined_bound", "The grid", operation.location);
            extent = static_cast<Extent>(bound.scalar);
            if (extent < 0) {
                fail(userError(m_program.where(operation.location) + ": the grid has an axis of "
                               + std::to_string(extent) + " steps; 0 or more is right."));
                return false;
            }
        }
        steps = std::min<__int128>(steps * extent, kMostSteps + 1);
    }
    frame.steps = static_cast<std::int64_t>(steps);
    if (m_recorder.stepsBegun() + frame.steps > kMostSteps) {
        fail(limitError(m_program.name + " takes more than " + countText(kMostSteps)
                        + " grid steps, the most that a run records. Larger blocks make fewer "
                          "steps."));
        return false;
    }
    if (frame.steps > 0) {
        frame.traceIndex = m_recorder.enterPipeline(operation, frame.grid);
    }
    return frame.steps > 0;
}

void Engine::runPipeline()
{
    auto& frame = std::get<PipelineFrame>(m_agent.frames.back());
    switch (frame.next) {
    case PipelineFrame::Next::Prologue:
        prologue(frame);
        frame.next = PipelineFrame::Next::Enter;
        return;
    case PipelineFrame::Next::Enter:
        enterStep(frame); // pushes the body; `frame` may move
        return;
    case PipelineFrame::Next::Leave:
        leaveStep(frame);
        return;
    case PipelineFrame::Next::Epilogue:
        epilogue(frame);
        release(frame.firstBuffer);
        m_gridFrame.reset();
        m_agent.step = -1;
        m_agent.frames.pop_back();
    }
}

void Engine::prologue(PipelineFrame& frame)
{
    if (frame.params->noPipelining) {
        frame.step = 0;
        return;
    }
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        const ir::OperandFacts& facts = frame.facts[i];
        if (facts.trivial && facts.inCount > 0 && facts.prefetched < 1) {
            waitFor(startCopy(frame, i, blockAt(frame, i, 0), 0, false), -1);
        } else if (facts.trivial && facts.inCount > 0) {
            fillSlot(frame, i, blockAt(frame, i, 0), 0);
        }
    }
    for (std::int64_t stage = 0; stage + 1 < frame.stages; ++stage) {
        for (std::size_t i = 0; i < frame.operands.size(); ++i) {
            PipelineOperand& operand = frame.operands[i];
            const bool takesPart = operand.facts.pipelined() && stage + 1 < operand.facts.inCount;
            const auto block = [&](std::int64_t t) { return blockAt(frame, i, t); };
            if (takesPart && operand.facts.lookahead && stage > 0) {
                if (stage < frame.steps || operand.facts.wrapsPrologue) {
                    lookAhead(frame, i, 1);
                }
            } else if (takesPart && prologueFetches(operand.facts, stage, frame.steps, block)) {
                fetch(frame, i, block(stage), stage < operand.facts.prefetched);
            }
        }
    }
    frame.step = 0;
}

// Counts one more fetched block; one that the caller brought is only put in place.
void Engine::fetch(PipelineFrame& frame, std::size_t index, std::int64_t block, bool prefetched)
{
    PipelineOperand& operand = frame.operands[index];
    const std::int32_t slot = slotOf(operand.copyIn, operand);
    ++operand.copyIn;
    if (prefetched) {
        fillSlot(frame, index, block, slot);
    } else {
        (void)startCopy(frame, index, block, slot, false);
    }
}

// fetch_with_lookahead: passes over steps that keep the block, until the slots are full.
void Engine::lookAhead(PipelineFrame& frame, std::size_t index, std::int64_t most)
{
    PipelineOperand& operand = frame.operands[index];
    const std::int64_t limit =
        std::min(operand.waitIn + operand.facts.inCount, operand.copyIn + most);
    while (operand.copyIn < limit && operand.nextFetch + 1 < frame.steps) {
        const std::int64_t next = blockAt(frame, index, operand.nextFetch + 1);
        if (blockAt(frame, index, operand.nextFetch) != next) {
            fetch(frame, index, next, operand.copyIn < operand.facts.prefetched);
        }
        ++operand.nextFetch;
    }
}

// What happens at this step; where the index map loads from memory, as it stands now.
StepActions Engine::actionsAt(PipelineFrame& frame, std::size_t operand)
{
    return frame.maps[operand].isLive() ? actionsNow(frame, operand) : frame.actions[operand];
}

StepActions Engine::actionsNow(PipelineFrame& frame, std::size_t operand)
{
    const ir::OperandFacts& facts = frame.facts[operand];
    if (!facts.pipelined()) {
        return {};
    }
    if (frame.params->noPipelining) { // every copy, whether or not the block changes
        const bool in = facts.inCount > 0, out = facts.outCount > 0;
        return {.startIn = in, .waitIn = false, .startOut = out};
    }
    return stepActions(facts, frame.step, frame.steps,
                       [&](std::int64_t t) { return blockAt(frame, operand, t); });
}

void Engine::copyIn(PipelineFrame& frame)
{
    const std::int64_t s = frame.step;
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        const ir::OperandFacts& facts = frame.facts[i];
        if (frame.params->noPipelining) {
            if (actionsAt(frame, i).startIn) {
                waitFor(startCopy(frame, i, blockAt(frame, i, s), 0, false), frame.row);
            }
        } else if (facts.pipelined() && facts.inCount > 0 && facts.lookahead) {
            lookAhead(frame, i, facts.inCount);
        } else if (actionsAt(frame, i).startIn) {
            const std::int64_t ahead = s + facts.inCount - 1;
            fetch(frame, i, blockAt(frame, i, ahead), s + facts.inCount <= facts.prefetched);
        }
    }
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        const PipelineOperand& operand = frame.operands[i];
        const std::int64_t mine = operand.facts.countsWaits ? operand.waitIn : s;
        if (actionsAt(frame, i).waitIn && mine >= operand.facts.prefetched) {
            const auto slot = static_cast<std::size_t>(slotOf(operand.waitIn, operand));
            if (operand.inCopyOfSlot[slot] < 0) { // 0.11: counts steps where it should count waits
                fail(userError(
                    m_program.where(operand.spec->location) + ": deadlock at step "
                    + std::to_string(s) + ": it waits for a copy " + "of " + operand.spec->name
                    + " into a slot that the caller filled, "
                      "which nothing starts; without lookahead, or in the schedule of JAX "
                      "0.12, it does not."));
                return;
            }
            waitFor(operand.inCopyOfSlot[slot], frame.row);
        }
    }
}

void Engine::enterStep(PipelineFrame& frame)
{
    const std::int64_t s = frame.step;
    if (m_options.progress && (m_options.values == ValueMode::Full || s % 1024 == 0)
        && !m_options.progress(static_cast<double>(s) / static_cast<double>(frame.steps))) {
        fail(limitError("cancelled"));
        return;
    }
    frame.row = m_agent.step = m_recorder.beginStep(frame.traceIndex, s, m_agent.time);
    moveTo(frame.here, frame.grid, s);
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        frame.actions[i] = actionsNow(frame, i);
    }
    copyIn(frame);
    if (m_error) {
        return;
    }
    land(m_agent.time);
    bindBlocks(frame);
    m_recorder.steps().bodyBegin.back() = m_agent.time.value();
    frame.next = PipelineFrame::Next::Leave;
    m_gridFrame = m_agent.frames.size() - 1;
    m_agent.frames.emplace_back(BlockFrame{frame.item->regions[0], nullptr, 0});
}

// Points the block refs at this step's slots; an output block that is new starts undefined.
void Engine::bindBlocks(PipelineFrame& frame)
{
    const std::int64_t s = frame.step;
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        PipelineOperand& operand = frame.operands[i];
        const std::int64_t block = blockAt(frame, i, s);
        if (operand.facts.unbuffered) {
            binding(operand.blockRef) = {operand.arrayBuffer, operand.box(block)};
            continue;
        }
        const bool out = operand.facts.outCount > 0;
        const std::int32_t slot = operand.facts.trivial || frame.params->noPipelining
                                      ? 0
                                      : slotOf(out ? operand.copyOut : operand.waitIn, operand);
        const bool changed =
            s == 0 || (!operand.facts.trivial && block != blockAt(frame, i, s - 1));
        binding(operand.blockRef).buffer = operand.firstSlot + slot; // its box is never set
        if (changed || (frame.params->noPipelining && !out)) {
            visit(frame, i, block, slot);
        }
        m_recorder.visits(operand.traceOperand).back().lastStep = frame.row;
        if (out) {
            operand.lastVisitOfBlock[static_cast<std::size_t>(block)] = frame.row;
        }
    }
}

void Engine::visit(PipelineFrame& frame, std::size_t index, std::int64_t block, std::int32_t slot)
{
    PipelineOperand& operand = frame.operands[index];
    const bool in = operand.facts.inCount > 0;
    const auto at = static_cast<std::size_t>(slot);
    const auto place = m_recorder.visits(operand.traceOperand).size();
    m_recorder.visits(operand.traceOperand)
        .push_back({frame.row, frame.row, block, slot, in ? operand.inCopyOfSlot[at] : -1, -1});
    if (operand.facts.outCount == 0 || in) {
        return;
    }
    buffer(operand.firstSlot + slot).makeUndefined();
    m_written[static_cast<std::size_t>(operand.firstSlot + slot)] = 0;
    if (operand.spec->restores) {
        const std::int32_t copy = startCopy(frame, index, block, slot, false);
        waitFor(copy, frame.row);
        land(m_agent.time);
        m_recorder.visits(operand.traceOperand)[place].copyIn = copy;
    } else {
        reportRevisit(frame, operand, block);
    }
}

void Engine::leaveStep(PipelineFrame& frame)
{
    const std::int64_t s = frame.step;
    m_recorder.steps().bodyEnd.back() = m_agent.time.value();
    // The step's bookkeeping: the core's own time, beside copies already issued.
    m_recorder.addSegment(m_plan.overheadTemplate, m_agent.id, frame.row, m_agent.time);
    m_agent.time += m_chip.stepOverhead;
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        PipelineOperand& operand = frame.operands[i];
        if (!actionsAt(frame, i).startOut) {
            continue;
        }
        const std::int32_t slot = frame.params->noPipelining ? 0 : slotOf(operand.copyOut, operand);
        land(m_agent.time);
        reportNotWritten(frame, operand, blockAt(frame, i, s), slot);
        const std::int32_t copy = startCopy(frame, i, blockAt(frame, i, s), slot, true);
        m_recorder.visits(operand.traceOperand).back().copyOut = copy;
        ++operand.copyOut;
        if (synchronousOut(frame, operand)) {
            waitFor(copy, frame.row);
        }
    }
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        PipelineOperand& operand = frame.operands[i];
        if (actionsAt(frame, i).waitOut) {
            waitOut(frame, operand);
        }
    }
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        frame.operands[i].waitIn += actionsAt(frame, i).advanceIn ? 1 : 0;
    }
    m_recorder.steps().end.back() = m_agent.time.value();
    ++frame.step;
    frame.next =
        frame.step < frame.steps ? PipelineFrame::Next::Enter : PipelineFrame::Next::Epilogue;
}

void Engine::waitOut(PipelineFrame& frame, PipelineOperand& operand)
{
    if (!synchronousOut(frame, operand)) {
        const auto slot = static_cast<std::size_t>(slotOf(operand.waitOut, operand));
        waitFor(operand.outCopyOfSlot[slot], frame.row);
    }
    ++operand.waitOut;
}

void Engine::epilogue(PipelineFrame& frame)
{
    frame.row = -1; // copies and waits from here on belong to no step
    for (std::int64_t l = frame.stages - 2; l >= 0 && !frame.params->noPipelining; --l) {
        for (std::size_t i = 0; i < frame.operands.size(); ++i) {
            const auto block = [&](std::int64_t t) { return blockAt(frame, i, t); };
            if (frame.facts[i].pipelined()
                && epilogueWaits(frame.facts[i], l, frame.steps, block)) {
                waitOut(frame, frame.operands[i]);
            }
        }
    }
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        PipelineOperand& operand = frame.operands[i];
        if (operand.facts.trivial && operand.facts.outCount > 0) {
            reportNotWritten(frame, operand, 0, 0);
            land(m_agent.time);
            const std::int32_t copy = startCopy(frame, i, blockAt(frame, i, 0), 0, true);
            m_recorder.visits(operand.traceOperand).back().copyOut = copy;
            waitFor(copy, -1);
        }
    }
    reportNeverWritten(frame);
    reportNeverAwaited(frame);
    land(m_agent.time);
    // A fetch that nobody waited for would land in slots that are gone.
    std::erase_if(m_flights, [&](const Flight& flight) {
        return flight.operand >= frame.operands.data()
               && flight.operand < frame.operands.data() + frame.operands.size();
    });
}

} // namespace pallascope::machine
