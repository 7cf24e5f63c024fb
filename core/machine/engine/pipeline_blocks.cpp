// Blocks of a running pipeline: which one a step needs, its copies, and what is found about it.
#include "core/base/check.h"
#include "core/base/format.h"
#include "core/machine/engine/engine.h"

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
RuntimeValue Engine::loadIndex(const ir::Operation& get, std::span<const std::int64_t> indices)
{
    for (std::size_t i = 1; i < indices.size(); ++i) {
        value(get.operands[i]).becomeScalar(DType::Int32, static_cast<double>(indices[i]));
    }
    land(m_agent->time); // copies by hand that ended by now may have brought it
    if (const std::optional<std::int64_t> element = elementOf(get)) {
        RuntimeValue loaded = buffer(binding(get.operands[0]).buffer).loadElement(*element);
        reportUndefinedUse(loaded, "undefined_index", "An index map", get.location);
        return loaded;
    }
    const std::optional<Reached> reached = reach(get);
    if (!reached) {
        const ir::Type& type = m_program.type(get.results[0]);
        return RuntimeValue::zeros(type.dtype, type.shape);
    }
    RuntimeValue loaded = loadAt(*reached, buffer(reached->where.buffer));
    reportUndefinedUse(loaded, "undefined_index", "An index map", get.location);
    return loaded;
}

std::int64_t Engine::lookUpBlock(PipelineFrame& frame, std::size_t operand, std::int64_t step)
{
    const bool isBefore = step < 0; // the first one: asked for only to compare
    if (step < 0 || step >= frame.steps) {
        step = (step % frame.steps + frame.steps) % frame.steps; // indices wrap around the grid
    }
    PipelineFrame::Looked& looked = frame.lookedAt(operand, step);
    if (looked.step == step) {
        return looked.block;
    }
    const BlockMap& map = frame.operands[operand].plan->map;
    moveTo(frame.points[operand], frame.grid, step);
    const auto load = [this](const ir::Operation& get, auto indices) {
        return loadIndex(get, indices);
    };
    const auto around = [this](ir::ValueId id) -> const RuntimeValue& { return value(id); };
    const auto blockOf = [&](std::span<const std::int64_t> point) {
        return map.isPlain() ? map.plainBlock(point) : map.block(point, load, around, m_mapScratch);
    };
    const auto pointAt = [&](std::int64_t at) {
        moveTo(frame.points[operand], frame.grid, at);
        Extents point(frame.points[operand].point);
        for (std::size_t axis = 0; axis < frame.offset.size(); ++axis) {
            point[axis] += frame.offset[axis];
        }
        return point;
    };
    std::int64_t block =
        frame.offset.empty() ? blockOf(frame.points[operand].point) : blockOf(pointAt(step));
    if (block < 0 && map.isOverfull()) {
        const OperandPlan& which = *frame.operands[operand].plan;
        fail(limitError(which.spec->name + " is gathered or scattered by lists of more than "
                        + countText(ir::kMostIndices)
                        + " different indices in all, the most that a run keeps."));
        block = 0;
    } else if (block < 0 && isBefore) {
        return block;
    } else if (block < 0) {
        // Steps are not asked for in order: the first that leaves it is what an author looks for.
        std::int64_t first = map.isPlain() ? 0 : step;
        while (first < step && map.plainBlock(pointAt(first)) >= 0) {
            ++first;
        }
        reportLeaving(frame, *frame.operands[operand].plan,
                      map.yielded(pointAt(first), around, m_mapScratch), first);
        block = 0;
    }
    if (!isBefore && !m_state.stopped) {
        checkCut(frame, frame.operands[operand], block);
    }
    if (!frame.isLiveAt(operand)) { // what a body stores shows at the next look
        looked = {step, block};
    }
    return block;
}

// An array that is itself a block, in the memory of the array around it, ends where that one does:
// what lies behind is no memory of either.
void Engine::checkCut(const PipelineFrame& frame, const PipelineOperand& operand,
                      std::int64_t block)
{
    const OperandPlan& plan = *operand.plan;
    if (operand.array.whole || !operand.array.recasts.empty()
        || operand.array.view.shape == plan.array) {
        return;
    }
    const Shape& extents = operand.array.view.shape;
    const Reach reach = plan.reach(block);
    for (std::size_t axis = 0; axis < extents.rank(); ++axis) {
        if (reach.stop[axis] <= extents[axis]) {
            continue;
        }
        stop({"out_of_bounds",
              trace::FindingClass::Structural,
              plan.blockName(block) + " reaches elements up to "
                  + std::to_string(reach.stop[axis] - 1) + " on axis " + std::to_string(axis)
                  + " of a block that has " + std::to_string(extents[axis])
                  + " in the array around it: the run stops there.",
              plan.spec->name,
              rowOf(frame),
              {},
              m_recorder.sourceLine(m_program, plan.spec->location),
              1});
        return;
    }
}

std::int32_t Engine::startCopy(PipelineFrame& frame, std::size_t index, std::int64_t block,
                               std::int32_t slot, bool out)
{
    PipelineOperand& operand = frame.operands[index];
    const OperandPlan& plan = *operand.plan;
    if (m_state.stopped) { // its block does not exist
        return -1;
    }
    if (plan.facts.isIndirect()) {
        reportOutside(frame, plan, block, out);
    }
    const Bytes bytes = plan.copyBytes(block);
    const std::int32_t link = linkHere(out ? plan.linkOut : plan.linkIn);
    const auto service = m_state.links[static_cast<std::size_t>(link)].serve(m_agent->time, bytes);
    if (!service) {
        fail(limitError("The run takes longer than 53 days on this chip; more bandwidth or less "
                        "work is right."));
        return -1;
    }
    const std::int32_t copy =
        m_recorder.addCopy(operand.traceOperand, block, slot, out, link, rowOf(frame), bytes,
                           m_agent->time, service->start, service->end);
    (out ? operand.outCopyOfSlot
         : operand.inCopyOfSlot)[static_cast<std::size_t>(slot)] = {copy, service->end, block};
    if (m_detects) {
        checkOverlap(operand, block, slot, out, copy, rowOf(frame));
    }
    if (operand.contents) {
        Flight& flight = newFlight(link);
        flight.start = service->start;
        flight.end = service->end;
        flight.out = out;
        flight.step = rowOf(frame);
        flight.copy = copy;
        flight.operand = &plan;
        flight.slotBuffer = operand.firstSlot + slot;
        flight.block = block;
        flight.array = operand.array;
        if (const Memory& slotMemory = m_state.memory[flight.slotBuffer]; out) {
            flight.explained = slotMemory.explained;
            flight.location = slotMemory.undefinedBy;
        }
        launch(flight);
    }
    return copy;
}

// Another copy that nobody has waited for may hold the slot or this part of the array.
void Engine::checkOverlap(const PipelineOperand& operand, std::int64_t block, std::int32_t slot,
                          bool out, std::int32_t copy, std::int32_t row)
{
    const OperandPlan& plan = *operand.plan;
    Access near{operand.firstSlot + slot, true, !out, row, plan.spec->location, {}};
    const Memory& array = m_state.memory[operand.array.buffer];
    Access far{array.isConstant ? -1 : operand.array.buffer,
               array.isUncontested,
               out,
               row,
               plan.spec->location,
               {}};
    far.place.operand = &plan;
    far.place.block = block;
    if (!operand.array.whole) {
        far.place.located = std::make_shared<Place::Located>(
            Place::Located{operand.array, buffer(operand.array.buffer).shape(), {}});
    }
    near.byPipeline = far.byPipeline = true;
    const std::optional<Race> race =
        out ? m_state.races.start(m_agent->id, copy, std::move(near), std::move(far))
            : m_state.races.start(m_agent->id, copy, std::move(far), std::move(near));
    if (race) {
        reportRace(*race, plan.spec->name, copy, row, plan.spec->location);
    }
}

// A block that the caller brought before the pipeline began.
void Engine::fillSlot(PipelineFrame& frame, std::size_t index, std::int64_t block,
                      std::int32_t slot)
{
    const PipelineOperand& operand = frame.operands[index];
    if (operand.plan->facts.isIndirect()) {
        reportOutside(frame, *operand.plan, block, false);
    }
    if (operand.contents) {
        land(m_agent->time); // copies to its array that have ended by now are in the block
        buffer(operand.firstSlot + slot) = cutBlock(*operand.plan, operand.array, block);
    }
}

void Engine::waitFor(const PipelineOperand& operand, std::int32_t slot, bool out, std::int32_t row)
{
    const auto [copy, landed, block] =
        (out ? operand.outCopyOfSlot : operand.inCopyOfSlot)[static_cast<std::size_t>(slot)];
    if (copy < 0) { // the run ends
        if (!m_error && !m_state.stopped) {
            stopWaiting(operand, out, row);
        }
        return;
    }
    const Picoseconds end = std::max(m_agent->time, landed);
    m_recorder.addWait({.copy = copy}, m_agent->id, row, m_agent->time, end);
    m_agent->time = end;
    if (!m_state.held.empty()) {
        landHeld(copy);
    }
    if (!m_detects) {
        return;
    }
    const std::int32_t near = operand.firstSlot + slot, far = operand.array.buffer;
    m_state.races.await(m_agent->id, {copy, out ? near : far, out ? far : near});
}

// An index map that yields something else than before asks for a wait where no copy was started.
void Engine::stopWaiting(const PipelineOperand& operand, bool out, std::int32_t row)
{
    const ir::BlockSpec& spec = *operand.plan->spec;
    stop({"deadlock",
          trace::FindingClass::Structural,
          m_recorder.agentName(m_agent->id) + " waits for a copy of " + spec.name
              + (out ? " back to its array" : " into its slot")
              + ", which nothing started: its index map yields another block than when copies were "
                "started, because what it loads is changed meanwhile.",
          spec.name,
          row,
          {},
          m_recorder.sourceLine(m_program, spec.location),
          1});
}

// Points the block ref at this step's slot; an output block that is new starts undefined.
void Engine::bindBlock(PipelineFrame& frame, std::size_t index)
{
    const std::int64_t s = frame.step;
    PipelineOperand& operand = frame.operands[index];
    const ir::OperandFacts& facts = operand.plan->facts;
    const std::int64_t block = blockAt(frame, index, s);
    if (facts.unbuffered) {
        const Box box = operand.plan->box(block);
        std::vector<Window> windows;
        for (std::size_t axis = 0; axis < box.start.size(); ++axis) {
            windows.push_back({box.start[axis], box.size[axis], 1, !box.squeezed[axis]});
        }
        binding(operand.plan->blockRef) =
            narrowed(operand.array, buffer(operand.array.buffer).shape(), windows);
        return;
    }
    const bool out = facts.outCount > 0;
    const std::int32_t slot = facts.trivial || frame.params->noPipelining
                                  ? 0
                                  : operand.slotOf(out ? operand.copyOut : operand.waitIn);
    const bool changed =
        s == 0 || (!facts.trivial && (facts.isIndirect() || block != blockAt(frame, index, s - 1)));
    binding(operand.plan->blockRef).buffer = operand.firstSlot + slot; // never a view
    if (changed || (frame.params->noPipelining && !out)) {
        visit(frame, index, block, slot);
    }
    m_recorder.continueVisit(operand.traceOperand, frame.row, block, slot);
    if (out && !facts.isIndirect()) {
        operand.lastVisitOfBlock[static_cast<std::size_t>(block)] = frame.row;
    }
}

void Engine::visit(PipelineFrame& frame, std::size_t index, std::int64_t block, std::int32_t slot)
{
    PipelineOperand& operand = frame.operands[index];
    const bool in = operand.plan->facts.inCount > 0;
    std::int32_t brought = trace::kNone;
    if (in) {
        // The map may say something else by now, or have asked for no wait.
        const SlotCopy& copy = operand.inCopyOfSlot[static_cast<std::size_t>(slot)];
        if (copy.row >= 0 && copy.end <= m_agent->time) {
            brought = copy.row;
            block = copy.block;
        }
    }
    if (operand.plan->facts.outCount > 0 && !in) {
        Memory& memory = m_state.memory[operand.firstSlot + slot];
        memory.contents.makeUndefined();
        memory.written = memory.explained = false;
        memory.undefinedBy = {};
        if (operand.plan->spec->restores) {
            brought = startCopy(frame, index, block, slot, false);
            waitFor(operand, slot, false, frame.row);
            land(m_agent->time);
        } else if (!operand.plan->facts.isIndirect()) { // scattered again: the last one counts
            reportRevisit(frame, operand, block, slot);
        }
    }
    m_recorder.beginVisit(operand.traceOperand, frame.row, block, slot, brought);
}

} // namespace pallascope::machine
