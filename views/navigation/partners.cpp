#include "views/navigation/partners.h"

#include "core/trace/lookup.h"
#include "core/trace/manual_arrays.h"
#include "views/layout/run/finding_text.h"
#include "views/layout/timeline/timeline.h"
#include "views/navigation/times.h"

#include <algorithm>

namespace pallascope::navigation {
namespace {

using layout::Target;
namespace target = layout::target;
using trace::kNone;
using trace::Trace;

std::size_t row(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

// Views differ in how precise their targets are: a place may leave the segment open, or may name
// only the first of several steps.
bool agree(const Target& one, const Target& other)
{
    if (const auto* a = std::get_if<target::Operation>(&one),
        *b = std::get_if<target::Operation>(&other);
        a != nullptr && b != nullptr) {
        return a->operation == b->operation
               && (a->segment == b->segment || !a->segment || !b->segment);
    }
    if (const auto* a = std::get_if<target::Steps>(&one), *b = std::get_if<target::Steps>(&other);
        a != nullptr && b != nullptr) {
        return a->first == b->first
               && (a->last == b->last || a->last == a->first || b->last == b->first);
    }
    return one == other;
}

} // namespace

struct Partners::Gather
{
    const layout::RunView& run;
    const layout::ViewState& state;
    Partners& partners;
    const Trace& trace = *run.trace;
    const trace::Info& info = run.trace->info();

    void add(const Target& target) const { partners.m_targets.push_back(target); }

    void addCopy(std::size_t copy) const
    {
        const auto& copies = trace.copies();
        add(target::Copy{static_cast<std::int64_t>(copy)});
        add(target::Block{copies.operand[copy], copies.block[copy]});
        const auto& operand = info.operands[row(copies.operand[copy])];
        if (operand.slots > 0) { // a copy of a pipeline, not a manual DMA
            add(target::Buffer{operand.firstBuffer + copies.slot[copy]});
        }
        for (const trace::WaitRow wait : trace::waitsFor(trace, trace::CopyRow::at(copy))) {
            add(target::Wait{wait.number});
        }
    }

    void addSource(std::int32_t operation) const
    {
        const auto& of = info.operations[row(operation)];
        if (of.source.file != kNone) {
            add(target::SourceLine{of.source.file, of.source.line});
        }
        add(target::ListingLine{of.listingLine});
    }

    void operator()(const std::monostate&) const {}

    void operator()(const target::Lane&) const {}

    void operator()(const target::Time&) const {}

    void operator()(const target::Copy& copy) const { addCopy(row(copy.row)); }

    void operator()(const target::Wait& wait) const
    {
        add(wait);
        if (const std::int32_t copy = trace.waits().copy[row(wait.row)]; copy != kNone) {
            addCopy(row(copy));
        }
        if (const trace::OptionalRow<trace::OperationRow> operation =
                trace::operationOfWait(trace, trace::WaitRow::at(row(wait.row)))) {
            addSource(operation->number);
        }
    }

    void operator()(const target::Buffer& buffer) const
    {
        add(buffer);
        const auto slot =
            trace::slotStateAt(trace, trace::BufferRow::at(row(buffer.buffer)), state.now);
        const bool moving = slot.phase == trace::SlotPhase::Queued
                            || slot.phase == trace::SlotPhase::Arriving
                            || slot.phase == trace::SlotPhase::Leaving
                            || slot.phase == trace::SlotPhase::LeavingQueued;
        if (moving && slot.copy) {
            addCopy(slot.copy->index());
        } else if (slot.block) {
            add(target::Block{info.buffers[row(buffer.buffer)].operand, *slot.block});
        }
    }

    void operator()(const target::Block& block) const
    {
        add(block);
        const auto& operand = info.operands[row(block.operand)];
        for (std::int32_t slot = 0; slot < operand.slots; ++slot) {
            const auto held =
                trace::slotStateAt(trace, trace::BufferRow{operand.firstBuffer + slot}, state.now);
            if (held.block != block.block || held.phase == trace::SlotPhase::Empty) {
                continue;
            }
            add(target::Buffer{operand.firstBuffer + slot});
            if (held.copy) {
                addCopy(held.copy->index());
            }
        }
        addManual(block);
    }

    // Of a block of manual DMA: the last copy that was issued.
    void addManual(const target::Block& block) const
    {
        const auto rows =
            run.index->manualArrays(state.device)
                .copiesOf(trace, trace::OperandRow::at(row(block.operand)), block.block);
        const auto next = std::partition_point(rows.begin(), rows.end(), [&](std::uint32_t copy) {
            return trace.copies().issue[copy] <= state.now.value();
        });
        if (next != rows.begin()) {
            addCopy(row(*(next - 1)));
        }
    }

    void operator()(const target::Operation& of) const
    {
        add(of);
        addSource(static_cast<std::int32_t>(of.operation));
    }

    void operator()(const target::ListingLine& line) const
    {
        add(line);
        if (row(line.line) < info.listing.size()
            && info.listing[row(line.line)].operation != kNone) {
            partners.m_operations.push_back(info.listing[row(line.line)].operation);
            addSource(info.listing[row(line.line)].operation);
        }
    }

    void operator()(const target::SourceLine& line) const
    {
        add(line);
        for (std::size_t i = 0; i < info.operations.size(); ++i) {
            const auto& operation = info.operations[i];
            if (operation.source.file == line.file && operation.source.line == line.line) {
                partners.m_operations.push_back(static_cast<std::int64_t>(i));
                add(target::ListingLine{operation.listingLine});
            }
        }
    }

    void operator()(const target::Steps& steps) const { add(steps); }

    void operator()(const target::Round& round) const { add(round); }

    void operator()(const target::Segment& segment) const { add(segment); }

    void operator()(const target::Alternative& other) const { add(other); }

    // Both accesses, in the step where it shows and in the other one of the pair.
    void operator()(const target::Finding& finding) const
    {
        add(finding);
        if (!finding.index || *finding.index < 0 || row(*finding.index) >= info.findings.size()) {
            return;
        }
        const trace::Finding& found = info.findings[row(*finding.index)];
        if (found.source.file != kNone) {
            add(target::SourceLine{found.source.file, found.source.line});
        }
        for (const std::int64_t number : {found.step, found.relatedStep.value_or(-1)}) {
            if (const trace::OptionalRow<trace::StepRow> step = layout::stepRow(trace, number)) {
                add(target::Steps{step->number, step->number});
                addAccesses(step->number, found.operand);
            }
        }
        if (const auto time = timeOf(trace, finding, state.now)) {
            addManualAccesses(found, *time);
        }
    }

    // The blocks and slots of the operand that a step has.
    void addAccesses(std::int32_t step, const std::string& operand) const
    {
        const auto isOf = [&](std::int32_t number) {
            return info.operands[row(number)].name == operand;
        };
        const trace::Visits& visits = trace.visits();
        for (std::size_t visit = 0; visit < visits.size(); ++visit) {
            if (visits.firstStep[visit] <= step && step <= visits.lastStep[visit]
                && isOf(visits.operand[visit])) {
                const auto& of = info.operands[row(visits.operand[visit])];
                add(target::Block{visits.operand[visit], visits.block[visit]});
                add(target::Buffer{of.firstBuffer + visits.slot[visit]});
            }
        }
    }

    // Of manual DMA, the copies that the finding is about: the one that it knows of, or else the
    // one before its time that has to do with the same array or scratch ("x → buffer" has both
    // names), and the one that its line starts then.
    void addManualAccesses(const trace::Finding& finding, Picoseconds time) const
    {
        const trace::Copies& copies = trace.copies();
        const std::string from = finding.operand + " \u2192 ", to = " \u2192 " + finding.operand;
        std::optional<std::size_t> before, about;
        for (std::size_t copy = 0; copy < copies.size() && !about; ++copy) {
            const trace::Operand& operand = info.operands[row(copies.operand[copy])];
            const Picoseconds issue(copies.issue[copy]);
            const bool isNamed = operand.name.starts_with(from) || operand.name.ends_with(to);
            if (finding.copyTime == Picoseconds(copies.start[copy])
                && (isNamed || operand.source == finding.source)) {
                addCopy(copy);
            }
            if (operand.pipeline != kNone || !isNamed) {
                continue;
            }
            if (issue < time) {
                before = finding.copyTime ? before : copy;
            } else if (operand.source == finding.source) {
                about = copy;
            }
        }
        for (const std::optional<std::size_t>& copy : {before, about}) {
            if (copy) {
                addCopy(*copy);
            }
        }
    }

    void operator()(const target::Print& print) const { add(print); }

    void operator()(const target::Piece& piece) const { add(piece); }

    void operator()(const target::Device& device) const { add(device); }

    void operator()(const target::Sm& sm) const { add(sm); }

    void operator()(const target::GridBlock& block) const { add(block); }

    void operator()(const target::Semaphore& semaphore) const { add(semaphore); }

    void operator()(const target::Cached& cached) const { add(cached); }

    void operator()(const target::Ceiling& ceiling) const { add(ceiling); }

    void operator()(const target::SweepRow& row) const { add(row); }

    void operator()(const target::Kept& kept) const { add(kept); }

    // Adds what the agents in a lane of waits wait for.
    void operator()(const target::Moment& moment) const
    {
        add(moment);
        const auto lane = layout::timeline::laneOf(run, moment.lane);
        if (!lane || lane->role != layout::Role::Wait) {
            return;
        }
        for (const layout::timeline::RowAt& found :
             layout::timeline::rowsAt(run, *lane, moment.time)) {
            const std::size_t wait = std::get<trace::WaitRow>(found).index();
            if (const std::int32_t copy = trace.waits().copy[wait]; copy != kNone) {
                addCopy(row(copy));
            }
        }
    }
};

Partners::Partners(const layout::RunView& run, const layout::ViewState& state, const Target& target)
{
    std::visit(Gather{run, state, *this}, target);
}

bool Partners::contains(const Target& candidate) const
{
    if (const auto* of = std::get_if<target::Operation>(&candidate);
        of != nullptr
        && std::find(m_operations.begin(), m_operations.end(), of->operation)
               != m_operations.end()) {
        return true;
    }
    return std::any_of(m_targets.begin(), m_targets.end(),
                       [&](const Target& target) { return agree(target, candidate); });
}

} // namespace pallascope::navigation
