// Starts the copies of a running pipeline's blocks and waits for them.
#include "core/machine/parts/pipelines.h"

#include <algorithm>

namespace pallascope::machine {

trace::OptionalRow<trace::CopyRow> Pipelines::startCopy(PipelineFrame& frame, std::size_t index,
                                                        std::int64_t block, std::int32_t slot,
                                                        bool out)
{
    PipelineOperand& operand = frame.operands[index];
    const OperandPlan& plan = *operand.plan;
    if (m_ending.hasStopped()) { // the block does not exist
        return std::nullopt;
    }
    if (plan.facts.isIndirect()) {
        m_findings.reportOutside(frame, plan, block, out);
    }
    const Bytes bytes = plan.copyBytes(block);
    const std::int32_t link = m_copies.linkHere(out ? plan.linkOut : plan.linkIn);
    const auto service = m_copies.serve(link, m_turn.agent().time, bytes);
    if (!service) {
        return std::nullopt;
    }
    const trace::CopyRow copy = m_recorder.addCopy(
        trace::OperandRow{operand.traceOperand}, block, slot, out, trace::LinkRow{link},
        rowOf(frame), bytes, m_turn.agent().time, service->start, service->end);
    (out ? operand.outCopyOfSlot
         : operand.inCopyOfSlot)[static_cast<std::size_t>(slot)] = {copy, service->end, block};
    if (m_detects) {
        checkOverlap(operand, block, slot, out, copy, rowOf(frame));
    }
    if (operand.contents) {
        Flight& flight = m_copies.newFlight(link);
        flight.start = service->start;
        flight.end = service->end;
        flight.out = out;
        flight.step = rowOf(frame);
        flight.copy = copy;
        flight.operand = &plan;
        flight.slotBuffer = operand.firstSlot + slot;
        flight.block = block;
        flight.array = operand.array;
        if (const Memory& slotMemory = m_memory[flight.slotBuffer]; out) {
            flight.explained = slotMemory.explained;
            flight.location = slotMemory.undefinedBy.value_or(ir::LocationId());
        }
        m_copies.launch(flight);
    }
    return copy;
}

// Reports another copy of the slot, or of this part of the array, for which nobody has waited.
void Pipelines::checkOverlap(const PipelineOperand& operand, std::int64_t block, std::int32_t slot,
                             bool out, trace::CopyRow copy, trace::OptionalRow<trace::StepRow> row)
{
    const OperandPlan& plan = *operand.plan;
    Access near{operand.firstSlot + slot, true, !out, row, plan.spec->location, {}};
    const Memory& array = m_memory[operand.array.buffer];
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
            Place::Located{operand.array, m_turn.buffer(operand.array.buffer).shape(), {}});
    }
    near.byPipeline = far.byPipeline = true;
    const std::optional<Race> race =
        out ? m_races.start(m_turn.agent().id, copy, std::move(near), std::move(far))
            : m_races.start(m_turn.agent().id, copy, std::move(far), std::move(near));
    if (race) {
        m_findings.reportRace(*race, plan.spec->name,
                              {m_turn.agent().id, copy, row, plan.spec->location});
    }
}

// Fills a slot with a block that the caller had fetched before the pipeline began.
void Pipelines::fillSlot(PipelineFrame& frame, std::size_t index, std::int64_t block,
                         std::int32_t slot)
{
    const PipelineOperand& operand = frame.operands[index];
    if (operand.plan->facts.isIndirect()) {
        m_findings.reportOutside(frame, *operand.plan, block, false);
    }
    if (operand.contents) {
        m_copies.land(
            m_turn.agent().time); // copies to its array that have ended by now are in the block
        if (m_watch.isOn()) {
            m_watch.byPipeline(*frame.item->control);
            m_watch.read(m_watch.inBlock(*operand.plan, operand.array, block,
                                         operand.firstSlot + slot, false));
        }
        const Watch::Writing writing(m_watch, m_watch.inBlock(*operand.plan, operand.array, block,
                                                              operand.firstSlot + slot, true));
        m_turn.buffer(operand.firstSlot + slot) =
            m_copies.cutBlock(*operand.plan, operand.array, block);
    }
}

void Pipelines::waitFor(const PipelineOperand& operand, std::int32_t slot, bool out,
                        trace::OptionalRow<trace::StepRow> row)
{
    const auto [copy, landed, block] =
        (out ? operand.outCopyOfSlot : operand.inCopyOfSlot)[static_cast<std::size_t>(slot)];
    if (!copy) { // there is no copy to wait for, so the run ends
        if (!m_ending.isReached()) {
            stopWaiting(operand, out, row);
        }
        return;
    }
    const Picoseconds end = std::max(m_turn.agent().time, landed);
    m_recorder.addWait({.copy = copy}, trace::AgentRow{m_turn.agent().id}, row, m_turn.agent().time,
                       end);
    m_turn.agent().time = end;
    m_copies.landHeld(*copy);
    if (!m_detects) {
        return;
    }
    const std::int32_t near = operand.firstSlot + slot, far = operand.array.buffer;
    m_races.await(m_turn.agent().id, {copy, out ? near : far, out ? far : near});
}

// Ends the run: the index map returned another block than before, so there is no copy to wait for.
void Pipelines::stopWaiting(const PipelineOperand& operand, bool out,
                            trace::OptionalRow<trace::StepRow> row)
{
    const ir::BlockSpec& spec = *operand.plan->spec;
    m_findings.stop(trace::found(
        trace::FindingKind::Deadlock,
        m_recorder.agentName(m_turn.agent().id) + " waits for a copy of " + spec.name
            + (out ? " back to its array" : " into its slot")
            + ", which nothing started: its index map yields another block than when copies were "
              "started, because what it loads is changed meanwhile.",
        spec.name, row, {},
        m_recorder.description().sourceLine(m_prepared.program, spec.location)));
}

} // namespace pallascope::machine
