// The software pipeline: prologue, one turn per step, epilogue, by the rules of pipeline_rules.h.
#include "core/base/check.h"
#include "core/base/format.h"
#include "core/machine/engine.h"
#include "core/machine/pipeline_rules.h"

#include <algorithm>
#include <bit>

namespace pallascope::machine {

namespace {

// Moves a grid point to a step: mostly the next one.
void moveTo(GridPoint& at, const std::vector<Extent>& grid, std::int64_t step)
{
    if (step == at.step + 1) {
        std::size_t axis = grid.size();
        while (axis > 0 && ++at.point[axis - 1] == grid[axis - 1]) {
            at.point[--axis] = 0;
        }
    } else if (step != at.step) {
        std::int64_t rest = step;
        for (std::size_t axis = grid.size(); axis-- > 0;) {
            at.point[axis] = rest % grid[axis];
            rest /= grid[axis];
        }
    }
    at.step = step;
}

std::int32_t slotOf(std::int64_t counter, const PipelineOperand& operand)
{
    return static_cast<std::int32_t>(counter % operand.facts.slots);
}

} // namespace

void Engine::enterPipeline(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    PipelineFrame frame;
    frame.item = &item;
    frame.params = &std::get<ir::PipelineParams>(operation.params);
    frame.traceIndex = m_recorder.pipelineIndex(operation);
    frame.steps = ir::stepCount(*frame.params);
    const auto firstOperand =
        m_recorder.builder.info.pipelines[static_cast<std::size_t>(frame.traceIndex)].firstOperand;
    for (std::size_t i = 0; i < frame.params->specs.size(); ++i) {
        Result<PipelineOperand> operand = makeOperand(m_program, operation, i, m_chip);
        if (!operand) {
            fail(operand.error());
            return;
        }
        operand->traceOperand = firstOperand + static_cast<std::int32_t>(i);
        operand->arrayBuffer = m_refs[static_cast<std::size_t>(operation.operands[i].index)];
        operand->contents = m_needed.needsContents(operation.operands[i]);
        operand->firstSlot = static_cast<std::int32_t>(m_buffers.size());
        for (std::int32_t slot = 0; slot < operand->facts.slots; ++slot) {
            m_buffers.emplace_back(operand->dtype, operand->blockShape);
        }
        frame.maps.emplace_back(m_program, operation, i);
        frame.facts.push_back(operand->facts);
        frame.operands.push_back(std::move(*operand));
    }
    for (std::size_t i = frame.params->specs.size(); i < operation.regions[0].arguments.size();
         ++i) {
        const ir::ValueId scratch = operation.regions[0].arguments[i];
        m_refs[static_cast<std::size_t>(scratch.index)] =
            static_cast<std::int32_t>(m_buffers.size());
        m_buffers.emplace_back(m_program.type(scratch).dtype, m_program.type(scratch).shape);
    }
    m_written.resize(m_buffers.size(), 0);
    frame.stages = stageCount(frame.facts);
    frame.window =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * frame.stages + 4)));
    const GridPoint origin{0, std::vector<std::int64_t>(frame.params->grid.size())};
    frame.here = origin;
    frame.points.assign(frame.operands.size(), origin);
    frame.actions.resize(frame.operands.size());
    frame.looked.resize(static_cast<std::size_t>(frame.window) * frame.operands.size());
    m_recorder.reserve(frame.steps);
    m_agent.frames.emplace_back(std::move(frame));
}

std::int64_t Engine::lookUpBlock(PipelineFrame& frame, std::size_t operand, std::int64_t step)
{
    if (step < 0 || step >= frame.steps) {
        step = (step % frame.steps + frame.steps) % frame.steps; // indices wrap around the grid
    }
    PipelineFrame::Looked& looked = frame.lookedAt(operand, step);
    if (looked.step != step) {
        moveTo(frame.points[operand], frame.params->grid, step);
        looked = {step, frame.maps[operand].block(frame.points[operand].point)};
        if (looked.block < 0) {
            const PipelineOperand& which = frame.operands[operand];
            fail(userError(m_program.where(which.spec->location) + ": the index map of "
                           + which.spec->name + " leaves its array of "
                           + join(which.facts.blockCounts, " \u00d7 ") + " blocks at step "
                           + std::to_string(step) + "."));
            looked.block = 0;
        }
    }
    return looked.block;
}

std::int32_t Engine::startCopy(PipelineFrame& frame, std::size_t index, std::int64_t block,
                               std::int32_t slot, bool out)
{
    PipelineOperand& operand = frame.operands[index];
    const Bytes bytes = operand.copyBytes(block);
    const auto service = m_links[static_cast<std::size_t>(operand.link)].serve(m_agent.time, bytes);
    if (!service) {
        fail(limitError("The run takes longer than 53 days on this chip; more bandwidth or less "
                        "work is right."));
        return -1;
    }
    const std::int32_t copy =
        m_recorder.addCopy(operand.traceOperand, block, slot, out, operand.link, frame.row, bytes,
                           m_agent.time, service->start, service->end);
    (out ? operand.outCopyOfSlot : operand.inCopyOfSlot)[static_cast<std::size_t>(slot)] = copy;
    if (operand.contents) {
        m_flights.push_back({service->start,
                             service->end,
                             out,
                             false,
                             operand.firstSlot + slot,
                             operand.arrayBuffer,
                             block,
                             &operand,
                             frame.row,
                             operand.box(block),
                             {}});
    }
    return copy;
}

void Engine::waitFor(std::int32_t copy, std::int32_t row)
{
    PALLASCOPE_CHECK(copy >= 0);
    const Picoseconds end(std::max(m_agent.time.value(),
                                   m_recorder.builder.copies.end[static_cast<std::size_t>(copy)]));
    m_recorder.addWait(copy, m_agent.id, row, m_agent.time, end);
    m_agent.time = end;
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
        m_gridFrame.reset();
        m_agent.step = -1;
        m_agent.frames.pop_back();
    }
}

void Engine::prologue(PipelineFrame& frame)
{
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        if (frame.facts[i].trivial && frame.facts[i].inCount > 0) {
            waitFor(startCopy(frame, i, blockAt(frame, i, 0), 0, false), -1);
        }
    }
    for (std::int64_t stage = 0; stage + 1 < frame.stages; ++stage) {
        for (std::size_t i = 0; i < frame.operands.size(); ++i) {
            PipelineOperand& operand = frame.operands[i];
            const auto block = [&](std::int64_t t) { return blockAt(frame, i, t); };
            if (!operand.facts.trivial
                && prologueFetches(operand.facts, stage, frame.steps, block)) {
                (void)startCopy(frame, i, block(stage), slotOf(operand.copyIn, operand), false);
                ++operand.copyIn;
            }
        }
    }
    frame.step = 0;
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
    moveTo(frame.here, frame.params->grid, s);
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        PipelineOperand& operand = frame.operands[i];
        if (operand.facts.trivial) {
            continue;
        }
        frame.actions[i] = stepActions(frame.facts[i], s, frame.steps,
                                       [&](std::int64_t t) { return blockAt(frame, i, t); });
        if (frame.actions[i].startIn) {
            const std::int64_t ahead = s + operand.facts.inCount - 1;
            (void)startCopy(frame, i, blockAt(frame, i, ahead), slotOf(operand.copyIn, operand),
                            false);
            ++operand.copyIn;
        }
    }
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        const PipelineOperand& operand = frame.operands[i];
        if (frame.actions[i].waitIn) {
            waitFor(operand.inCopyOfSlot[static_cast<std::size_t>(slotOf(operand.waitIn, operand))],
                    frame.row);
        }
    }
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
        const bool out = operand.facts.outCount > 0;
        const std::int32_t slot =
            operand.facts.trivial ? 0 : slotOf(out ? operand.copyOut : operand.waitIn, operand);
        const bool fresh = s == 0 || (!operand.facts.trivial && block != blockAt(frame, i, s - 1));
        m_refs[static_cast<std::size_t>(operand.blockRef.index)] = operand.firstSlot + slot;
        if (fresh) {
            visit(frame, i, block, slot);
        }
        auto& visits = m_recorder.visits(operand.traceOperand);
        visits.back().lastStep = frame.row;
        if (out) {
            operand.lastVisitOfBlock[static_cast<std::size_t>(block)] = frame.row;
        }
    }
}

void Engine::visit(PipelineFrame& frame, std::size_t index, std::int64_t block, std::int32_t slot)
{
    PipelineOperand& operand = frame.operands[index];
    const bool in = operand.facts.inCount > 0;
    m_recorder.visits(operand.traceOperand)
        .push_back({frame.row, frame.row, block, slot,
                    in ? operand.inCopyOfSlot[static_cast<std::size_t>(slot)] : -1, -1});
    if (operand.facts.outCount == 0 || in) {
        return;
    }
    buffer(operand.firstSlot + slot).makeUndefined();
    m_written[static_cast<std::size_t>(operand.firstSlot + slot)] = 0;
    const std::int32_t before = operand.lastVisitOfBlock[static_cast<std::size_t>(block)];
    if (before >= 0) {
        m_recorder.addFinding({"output_revisited", trace::FindingClass::Structural,
                               operand.blockName(block) + " was left after step "
                                   + std::to_string(before) + " and is revisited at step "
                                   + std::to_string(frame.row)
                                   + ": its slot was given away in between, so the revisit starts "
                                     "undefined. Make the axes that it "
                                     "does not depend on innermost, or accumulate in scratch.",
                               operand.spec->name, frame.row, before,
                               m_recorder.sourceLine(m_program, operand.spec->location), 1});
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
        if (!frame.actions[i].startOut) {
            continue;
        }
        const std::int32_t slot = slotOf(operand.copyOut, operand);
        land(m_agent.time);
        if (m_written[static_cast<std::size_t>(operand.firstSlot + slot)] == 0) {
            m_recorder.addFinding(
                {"output_not_written",
                 trace::FindingClass::Structural,
                 operand.blockName(blockAt(frame, i, s))
                     + " is written back though no step of its stay stored to it.",
                 operand.spec->name,
                 frame.row,
                 {},
                 m_recorder.sourceLine(m_program, operand.spec->location),
                 1});
        }
        const std::int32_t copy = startCopy(frame, i, blockAt(frame, i, s), slot, true);
        m_recorder.visits(operand.traceOperand).back().copyOut = copy;
        ++operand.copyOut;
        if (operand.facts.outCount == 1 && copy >= 0) {
            waitFor(copy, frame.row);
        }
    }
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        PipelineOperand& operand = frame.operands[i];
        if (frame.actions[i].waitOut) {
            if (operand.facts.outCount > 1) {
                waitFor(
                    operand
                        .outCopyOfSlot[static_cast<std::size_t>(slotOf(operand.waitOut, operand))],
                    frame.row);
            }
            ++operand.waitOut;
        }
    }
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        PipelineOperand& operand = frame.operands[i];
        operand.waitIn += frame.actions[i].advanceIn ? 1 : 0;
    }
    m_recorder.steps().end.back() = m_agent.time.value();
    ++frame.step;
    frame.next =
        frame.step < frame.steps ? PipelineFrame::Next::Enter : PipelineFrame::Next::Epilogue;
}

void Engine::epilogue(PipelineFrame& frame)
{
    frame.row = -1; // copies and waits from here on belong to no step
    for (std::int64_t l = frame.stages - 2; l >= 0; --l) {
        for (std::size_t i = 0; i < frame.operands.size(); ++i) {
            PipelineOperand& operand = frame.operands[i];
            const auto block = [&](std::int64_t t) { return blockAt(frame, i, t); };
            if (operand.facts.trivial || !epilogueWaits(operand.facts, l, frame.steps, block)) {
                continue;
            }
            if (operand.facts.outCount > 1) {
                waitFor(
                    operand
                        .outCopyOfSlot[static_cast<std::size_t>(slotOf(operand.waitOut, operand))],
                    -1);
            }
            ++operand.waitOut;
        }
    }
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        PipelineOperand& operand = frame.operands[i];
        if (operand.facts.trivial && operand.facts.outCount > 0) {
            if (m_written[static_cast<std::size_t>(operand.firstSlot)] == 0) {
                m_recorder.addFinding(
                    {"output_not_written",
                     trace::FindingClass::Structural,
                     operand.blockName(0) + " is written back though no step stored to it.",
                     operand.spec->name,
                     m_agent.step,
                     {},
                     m_recorder.sourceLine(m_program, operand.spec->location),
                     1});
            }
            land(m_agent.time);
            const std::int32_t copy = startCopy(frame, i, blockAt(frame, i, 0), 0, true);
            m_recorder.visits(operand.traceOperand).back().copyOut = copy;
            if (copy >= 0) {
                waitFor(copy, -1);
            }
        }
    }
    reportNeverWritten(frame);
    land(m_agent.time); // flights point into this frame
}

void Engine::reportNeverWritten(const PipelineFrame& frame)
{
    for (const PipelineOperand& operand : frame.operands) {
        if (operand.facts.outCount == 0) {
            continue;
        }
        const auto& visited = operand.lastVisitOfBlock;
        const auto missing = std::count(visited.begin(), visited.end(), -1);
        if (missing > 0) {
            const auto first = std::find(visited.begin(), visited.end(), -1) - visited.begin();
            m_recorder.addFinding(
                {"output_never_written",
                 trace::FindingClass::Structural,
                 countText(missing) + " of " + countText(static_cast<std::int64_t>(visited.size()))
                     + " blocks of " + operand.spec->name + " are never visited, first "
                     + operand.blockName(first) + ": the grid does not cover the array.",
                 operand.spec->name,
                 -1,
                 {},
                 m_recorder.sourceLine(m_program, operand.spec->location),
                 missing});
        }
    }
}

} // namespace pallascope::machine
