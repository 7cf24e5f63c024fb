// Blocks of a running pipeline: which one a step needs, its copies, and what is found about it.
#include "core/base/check.h"
#include "core/base/format.h"
#include "core/machine/engine.h"

#include <algorithm>

namespace pallascope::machine {

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

// What an index map loads now; the map of a later step may see what bodies store until then.
std::int64_t Engine::loadIndex(const ir::Operation& get, std::span<const std::int64_t> indices)
{
    for (std::size_t i = 1; i < indices.size(); ++i) {
        value(get.operands[i]) =
            RuntimeValue::scalarOf(DType::Int32, static_cast<double>(indices[i]));
    }
    const std::optional<Reach> reach = reachOf(get);
    if (!reach) {
        return 0;
    }
    const RuntimeValue loaded = loadAt(*reach, buffer(binding(get.operands[0]).buffer));
    reportUndefinedUse(loaded, "undefined_index", "An index map", get.location);
    return static_cast<std::int64_t>(loaded.scalar);
}

std::int64_t Engine::lookUpBlock(PipelineFrame& frame, std::size_t operand, std::int64_t step)
{
    if (step < 0 || step >= frame.steps) {
        step = (step % frame.steps + frame.steps) % frame.steps; // indices wrap around the grid
    }
    PipelineFrame::Looked& looked = frame.lookedAt(operand, step);
    if (looked.step == step) {
        return looked.block;
    }
    BlockMap& map = frame.maps[operand];
    moveTo(frame.points[operand], frame.grid, step);
    std::int64_t block =
        map.block(frame.points[operand].point, [this](const ir::Operation& get, auto indices) {
            return loadIndex(get, indices);
        });
    if (block < 0) {
        const PipelineOperand& which = frame.operands[operand];
        fail(userError(m_program.where(which.spec->location) + ": the index map of "
                       + which.spec->name + " leaves its array of "
                       + join(which.facts.blockCounts, " \u00d7 ") + " blocks at step "
                       + std::to_string(step) + "."));
        block = 0;
    }
    if (!map.isLive()) { // what a body stores shows at the next look
        looked = {step, block};
    }
    return block;
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

// A block that the caller brought before the pipeline began.
void Engine::fillSlot(PipelineFrame& frame, std::size_t index, std::int64_t block,
                      std::int32_t slot)
{
    const PipelineOperand& operand = frame.operands[index];
    if (operand.contents) {
        buffer(operand.firstSlot + slot) =
            buffer(operand.arrayBuffer).cut(operand.box(block), operand.blockShape);
    }
}

void Engine::waitFor(std::int32_t copy, std::int32_t row)
{
    if (copy < 0) { // the run is over its limits and ends
        PALLASCOPE_CHECK(m_error.has_value());
        return;
    }
    const Picoseconds end(std::max(m_agent.time.value(),
                                   m_recorder.builder.copies.end[static_cast<std::size_t>(copy)]));
    m_recorder.addWait(copy, m_agent.id, row, m_agent.time, end);
    m_agent.time = end;
}

void Engine::reportOperand(const PipelineOperand& operand, std::string kind, std::string sentence,
                           std::int32_t step, std::optional<std::int64_t> related,
                           std::int64_t count)
{
    m_recorder.addFinding({std::move(kind), trace::FindingClass::Structural, std::move(sentence),
                           operand.spec->name, step, related,
                           m_recorder.sourceLine(m_program, operand.spec->location), count});
}

void Engine::reportRevisit(const PipelineFrame& frame, const PipelineOperand& operand,
                           std::int64_t block)
{
    const std::int32_t before = operand.lastVisitOfBlock[static_cast<std::size_t>(block)];
    if (before >= 0) {
        reportOperand(operand, "output_revisited",
                      operand.blockName(block) + " was left after step " + std::to_string(before)
                          + " and is revisited at step " + std::to_string(frame.row)
                          + ": its slot was given away in between, so the revisit starts "
                            "undefined. Make the axes that it "
                            "does not depend on innermost, or accumulate in scratch.",
                      frame.row, before, 1);
    }
}

void Engine::reportNotWritten(const PipelineFrame& frame, const PipelineOperand& operand,
                              std::int64_t block, std::int32_t slot)
{
    if (operand.facts.inCount == 0 && !operand.spec->restores
        && m_written[static_cast<std::size_t>(operand.firstSlot + slot)] == 0) {
        reportOperand(operand, "output_not_written",
                      operand.blockName(block)
                          + (operand.facts.trivial
                                 ? " is written back though no step stored to it."
                                 : " is written back though no step of its stay stored to it."),
                      operand.facts.trivial ? m_agent.step : frame.row, {}, 1);
    }
}

void Engine::reportNeverWritten(const PipelineFrame& frame)
{
    for (const PipelineOperand& operand : frame.operands) {
        const auto& visited = operand.lastVisitOfBlock;
        const bool tiles = std::all_of(
            operand.facts.dims.begin(), operand.facts.dims.end(), [](const ir::BlockDim& dim) {
                return dim.kind == ir::BlockKind::Blocked || dim.kind == ir::BlockKind::Squeezed;
            });
        const auto missing = std::count(visited.begin(), visited.end(), -1);
        if (missing == 0 || !tiles || operand.facts.inCount > 0
            || m_aliased.contains(operand.arrayBuffer)) {
            continue;
        }
        const auto first = std::find(visited.begin(), visited.end(), -1) - visited.begin();
        reportOperand(operand, "output_never_written",
                      countText(missing) + " of "
                          + countText(static_cast<std::int64_t>(visited.size())) + " blocks of "
                          + operand.spec->name + " are never visited, first "
                          + operand.blockName(first) + ": the grid does not cover the array.",
                      -1, {}, missing);
    }
}

void Engine::reportNeverAwaited(const PipelineFrame& frame)
{
    for (const PipelineOperand& operand : frame.operands) {
        const std::int64_t left = operand.copyIn - operand.waitIn;
        if (left > 0) {
            reportOperand(
                operand, "copy_never_awaited",
                countText(left) + (left == 1 ? " copy of " : " copies of ") + operand.spec->name
                    + " into its slots is started and never waited for: its semaphore "
                      "is left over. A grid of "
                    + countText(frame.steps) + " steps is too short for "
                    + std::to_string(operand.facts.inCount) + " buffers in this schedule.",
                -1, {}, left);
        }
    }
}

} // namespace pallascope::machine
