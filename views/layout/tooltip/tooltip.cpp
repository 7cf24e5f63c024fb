// Writes what a tooltip says: name, size and rate, when and why. The last line is exact.
#include "views/layout/tooltip/tooltip.h"

#include "core/analysis/band.h"
#include "core/analysis/fresh_waits.h"
#include "core/analysis/speedup.h"
#include "core/base/format.h"
#include "core/trace/manual_arrays.h"
#include "core/trace/pieces.h"
#include "views/layout/memory/scratch_words.h"
#include "views/layout/run/break_marks.h"
#include "views/layout/run/finding_text.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/timeline/timeline.h"
#include "views/layout/tooltip/parts.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace {

using namespace tips;

std::string elementRange(const trace::Operand& operand, std::int64_t block)
{
    std::string text = std::string(trace::arrayName(operand)) + "[";
    for (std::size_t axis = 0; axis < operand.blockCounts.size(); ++axis) {
        if (static_cast<std::int32_t>(axis) == operand.indirectAxis) {
            text += (axis == 0 ? "" : ", ") + listText(trace::indicesOf(operand, block));
            continue;
        }
        const auto [from, to] = trace::rangeOf(operand, block, axis);
        text += (axis == 0 ? "" : ", ") + std::to_string(from) + ":" + std::to_string(to);
    }
    return text + "]";
}

std::string phaseText(const trace::BlockState& state, const trace::Operand& operand)
{
    const std::string share = percentText(state.fraction, 0);
    switch (state.phase) {
    case trace::BlockPhase::Never:
        return parts::writes(operand) ? "not written yet" : "not read yet";
    case trace::BlockPhase::Before:
        return "read before";
    case trace::BlockPhase::Queued:
        return "queued";
    case trace::BlockPhase::Arriving:
        return "arriving, " + share;
    case trace::BlockPhase::Ready:
        return "ready";
    case trace::BlockPhase::InUse:
        return parts::writes(operand) ? "in use, " + share + " of its steps done" : "in use";
    case trace::BlockPhase::Leaving:
        return "leaving, " + share;
    case trace::BlockPhase::Written:
        return "written back";
    }
    return {};
}

// When a block of manual DMA is copied: the copy under way or queued, else the last one, else the
// first one; and from where it was started.
std::string whenOfManual(const RunView& run, Picoseconds now, std::span<const std::uint32_t> rows)
{
    const trace::Copies& copies = run.trace->copies();
    const auto next = std::partition_point(rows.begin(), rows.end(), [&](std::uint32_t row) {
        return copies.issue[row] <= now.value();
    });
    const std::uint32_t copy = next == rows.begin() ? *next : *(next - 1);
    const auto time = [](std::int64_t t) { return timeText(Picoseconds(t)); };
    const bool isOver = copies.end[copy] <= now.value();
    std::string text =
        next == rows.begin() ? "first copied at " + time(copies.issue[copy])
        : isOver ? "last copied " + time(copies.start[copy]) + " – " + time(copies.end[copy])
                 : "issued " + time(copies.issue[copy]) + ", lands at " + time(copies.end[copy]);
    const std::string line =
        sourceText(run.trace->info(), run.trace->info().operands[row(copies.operand[copy])].source);
    return line.empty() ? text : text + ", from " + line;
}

// Of what manual DMA has brought, whether it is still in its slot.
std::string stayText(const RunView& run, const ViewState& state,
                     std::span<const std::uint32_t> rows)
{
    const auto next = std::partition_point(rows.begin(), rows.end(), [&](std::uint32_t row) {
        return run.trace->copies().issue[row] <= state.now.value();
    });
    const trace::ManualArrays::Stay stay =
        next == rows.begin() ? trace::ManualArrays::Stay{}
                             : run.index->manualArrays(state.device).stayOf(*(next - 1));
    return stay.kept <= state.now.value()     ? ""
           : stay.waited <= state.now.value() ? " · in its slot, and waited for"
                                              : " · in its slot, not waited for so far";
}

// "one index map with m(0,3), di(0,3) of 8 192 bytes": blocks that come and go with it. The bytes
// are said where they are others.
std::string alikeText(const RunView& run, const target::Block& target)
{
    const auto& operands = run.trace->info().operands;
    const auto own = operands[row(target.operand)].blockBytes;
    std::string text;
    for (const std::int32_t other : run.index->alike(trace::OperandRow::at(row(target.operand)))) {
        if (other != target.operand) {
            const trace::Operand& of = operands[row(other)];
            text +=
                (text.empty() ? "one index map with " : ", ") + trace::blockName(of, target.block);
            text +=
                of.blockBytes == own ? "" : " of " + countText(of.blockBytes.value()) + " bytes";
        }
    }
    return text;
}

Lines blockLines(const RunView& run, const ViewState& state, const target::Block& target)
{
    const auto id = trace::OperandRow::at(row(target.operand));
    const trace::Operand& operand = run.trace->info().operands[row(target.operand)];
    const trace::BlockState now = run.index->blockStateAt(id, target.block, state.now);
    const std::string copies =
        countText(now.copies)
        + (parts::writes(operand) ? (now.copies == 1 ? " write-back" : " write-backs")
                                  : (now.copies == 1 ? " fetch" : " fetches"))
        + " so far";
    const auto rows = run.index->manualArrays(state.device).copiesOf(*run.trace, id, target.block);
    if (!rows.empty()) {
        const bool isHere = now.phase == trace::BlockPhase::Before;
        return {
            trace::blockName(operand, target.block), elementRange(operand, target.block),
            phaseText(now, operand) + " · " + copies + (isHere ? stayText(run, state, rows) : ""),
            whenOfManual(run, state.now, rows), countText(operand.blockBytes.value()) + " bytes"};
    }
    Lines lines = {trace::blockName(operand, target.block), elementRange(operand, target.block),
                   phaseText(now, operand) + " · " + copies};
    if (std::string alike = alikeText(run, target); !alike.empty()) {
        lines.push_back(std::move(alike));
    }
    lines.push_back("block " + countText(target.block) + " of "
                    + countText(parts::blockTotal(operand)) + ", "
                    + countText(operand.blockBytes.value()) + " bytes");
    return lines;
}

std::string phaseText(const trace::SlotState& state)
{
    switch (state.phase) {
    case trace::SlotPhase::Empty:
        return "undefined: never used so far";
    case trace::SlotPhase::Queued:
        return "a copy into it is queued";
    case trace::SlotPhase::Arriving:
        return "arriving, " + percentText(state.fraction, 0);
    case trace::SlotPhase::Ready:
        return "ready";
    case trace::SlotPhase::InUse:
        return state.stepsInStay > 1 ? "in use, " + countText(state.stepsDone) + " of "
                                           + countText(state.stepsInStay) + " steps done"
                                     : "in use";
    case trace::SlotPhase::LeavingQueued:
        return "its write-back is queued";
    case trace::SlotPhase::Leaving:
        return "leaving, " + percentText(state.fraction, 0);
    case trace::SlotPhase::Free:
        return "free: holds an old block";
    }
    return {};
}

Lines bufferLines(const RunView& run, const ViewState& state, std::int64_t id)
{
    const trace::Trace& trace = *run.trace;
    const trace::Buffer& buffer = trace.info().buffers[row(id)];
    Lines lines = {buffer.name + "  " + parts::arrayText(buffer.shape, buffer.dtype),
                   bytesText(buffer.bytes) + " in " + trace.info().memories[row(buffer.memory)].name
                       + " at " + bytesText(buffer.address)};
    if (buffer.operand >= 0) {
        const auto now = trace::slotStateAt(trace, trace::BufferRow::at(row(id)), state.now);
        const trace::Operand& operand = trace.info().operands[row(buffer.operand)];
        lines.push_back((now.block ? trace::blockName(operand, *now.block) + ": " : "")
                        + phaseText(now));
    } else {
        lines.emplace_back("scratch");
        const Lines slots = scratchLines(run, state, static_cast<std::int32_t>(id));
        lines.insert(lines.end(), slots.begin(), slots.end());
    }
    lines.push_back("address " + countText(buffer.address.value()) + ", "
                    + countText(buffer.bytes.value()) + " bytes, tile padding included");
    return lines;
}

Lines sourceLines(const RunView& run, const target::SourceLine& target)
{
    const trace::Info& info = run.trace->info();
    const trace::SourceLine line = {static_cast<std::int32_t>(target.file),
                                    static_cast<std::int32_t>(target.line)};
    Lines lines = {sourceText(info, line)};
    for (const analysis::LineTime& time : run.lineTimes) {
        if (time.line == line && run.report.time.value() > 0) {
            lines.push_back(timeText(time.time) + " of the run, "
                            + percentText(ratio(time.time, run.report.time), 1));
            lines.push_back(countText(time.time.value()) + " ps");
        }
    }
    return lines;
}

Lines alternativeLines(const RunView& run, const analysis::Alternative& other)
{
    std::string changed;
    for (const auto& [name, value] : other.changed) {
        changed += (changed.empty() ? "" : ", ") + name + " = " + value;
    }
    if (!other.fits) {
        return {other.name, changed, "does not fit: needs " + bytesText(other.vmem),
                countText(other.vmem.value()) + " bytes"};
    }
    const double gain = run.report.time.value() > 0 ? 1 - ratio(other.time, run.report.time) : 0;
    const std::string change =
        gain >= 0 ? percentText(gain, 1) + " less" : percentText(-gain, 1) + " more";
    Lines lines = {other.name + ": " + timeText(other.time) + ", " + change, changed};
    if (other.band) {
        const std::string certainty = analysis::certaintyText(other, run.report);
        lines.push_back(analysis::bandText(*other.band)
                        + (certainty.empty() ? "" : ", " + certainty));
    }
    lines.insert(
        lines.end(),
        {flopRateText(other.flopsPerSecond) + " at " + intensityText(other.arithmeticIntensity)
             + " FLOP/B, bound by " + toString(other.boundBy),
         bytesText(other.vmem) + (other.overScopedLimit ? ", over the scoped limit" : ", fits"),
         countText(other.time.value()) + " ps, " + countText(other.vmem.value()) + " bytes"});
    return lines;
}

Lines findingLines(const RunView& run, const trace::Finding& finding)
{
    const trace::Info& info = run.trace->info();
    Lines lines = {finding.message};
    lines.push_back(finding.count == 1 ? "once" : countText(finding.count) + " times");
    if (const trace::OptionalRow<trace::StepRow> step = stepRow(*run.trace, finding.step)) {
        lines.back() += ", first in step " + stepOfKernel(run, *step);
    }
    if (const std::string source = sourceText(info, finding.source); !source.empty()) {
        lines.push_back(source);
    }
    lines.push_back(finding.kind);
    return lines;
}

Lines printLines(const trace::Info& info, const trace::Print& print, const trace::Trace& trace)
{
    std::string when = "printed at " + timeText(print.time);
    if (print.step >= 0) {
        when += " in step " + countText(trace.steps().ordinal[row(print.step)]);
    }
    Lines lines = {print.text, when};
    if (info.agents.size() > 1) {
        lines.back() += " by " + info.agents[row(print.agent)];
    }
    if (const std::string source = sourceText(info, print.source); !source.empty()) {
        lines.push_back(source);
    }
    lines.push_back(countText(print.time.value()) + " ps");
    return lines;
}

// Of copies over several links, which overlap, what each of them is busy.
void addLinks(Lines& lines, const RunView& run, const timeline::Lane& lane)
{
    const bool isOut = lane.kind == timeline::LaneKind::CopyOut;
    constexpr std::size_t kMost = 4;
    if ((!isOut && lane.kind != timeline::LaneKind::CopyIn) || lane.links.size() < 2
        || lane.links.size() > kMost) {
        return;
    }
    const Picoseconds end = run.trace->end();
    for (const std::int32_t link : lane.links) {
        const Picoseconds time = run.index->linkBusy(trace::LinkRow{link}, isOut, end);
        lines.push_back(run.trace->info().links[row(link)].name + " " + timeText(time) + ", "
                        + percentText(ratio(time, end), 1));
    }
}

Lines laneLines(const RunView& run, const ViewState& state, const LaneId& id)
{
    const std::optional<timeline::Lane> lane = timeline::laneOf(run, id);
    if (!lane) {
        return {};
    }
    const Picoseconds end = run.trace->end();
    const Picoseconds from = std::clamp(state.visible.begin, Picoseconds(0), end);
    const Picoseconds to = std::clamp(state.visible.end, from, end);
    const std::vector<Picoseconds> by = timeline::busyBy(run, *lane, {from, to, end});
    const Picoseconds seen = by[1] - by[0];
    const Picoseconds all = by[2];
    const std::string verb = lane->role == Role::Wait ? "" : "busy ";
    Lines lines = {lane->name};
    if (to > from) {
        lines.push_back(verb + timeText(seen) + " of the " + timeText(to - from) + " in view, "
                        + percentText(ratio(seen, to - from), 1));
    }
    if (end.value() > 0) {
        lines.push_back(verb + timeText(all) + " of the run, " + percentText(ratio(all, end), 1));
    }
    addLinks(lines, run, *lane);
    if (!lane->agents.empty()) {
        lines.push_back((lane->agents.size() > 1 ? "on average of " : "of ")
                        + trace::agentNames(run.trace->info(), lane->agents));
    }
    lines.push_back(countText(seen.value()) + " ps of " + countText((to - from).value()) + " ps");
    return lines;
}

Lines timeLines(const RunView& run, Picoseconds t)
{
    Lines lines = {timeText(t)};
    if (const auto point = analysis::runPoint(*run.index, t)) {
        lines.push_back("so far " + flopRateText(point->flopsPerSecond) + " at "
                        + intensityText(point->intensity) + " FLOP/B");
        lines.push_back(countText(std::llround(run.index->flops(t))) + " FLOPs, "
                        + countText(std::llround(run.index->bytes(t))) + " bytes");
        if (const auto& roof = run.report.roofline; roof.peak) {
            const auto share = [&](BytesPerSecond bandwidth) {
                const double limit =
                    std::min(roof.peak->flopsPerSecond, point->intensity * bandwidth.value());
                return percentText(point->flopsPerSecond / limit, 1);
            };
            lines.push_back(share(roof.memory.datasheet) + " of the datasheet roof, "
                            + share(roof.memory.achieved) + " of the achieved one");
        }
    }
    if (t == run.trace->end() && run.report.band) {
        lines.push_back(analysis::bandText(*run.report.band) + ": "
                        + analysis::supportText(*run.report.band, run.trace->info().chipName));
        if (const std::string latency = analysis::freshWaitsText(run.report); !latency.empty()) {
            lines.push_back(latency);
        }
    }
    lines.push_back(countText(t.value()) + " ps");
    return lines;
}

// Makes the lines for each kind of target; none for a target that is not in this run.
struct LinesOf
{
    const RunView& run;
    const ViewState& state;
    const trace::Trace& trace = *run.trace;
    const trace::Info& info = run.trace->info();

    Lines operator()(const std::monostate&) const { return {}; }

    Lines operator()(const target::Copy& copy) const
    {
        return isRow(copy.row, trace.copies().size()) ? copyLines(run, row(copy.row)) : Lines{};
    }

    Lines operator()(const target::Steps& steps) const
    {
        if (!isRow(steps.first, trace.steps().size())) {
            return {};
        }
        const bool several = isRow(steps.last, trace.steps().size());
        return stepLines(run, steps.first,
                         several ? std::max(steps.first, steps.last) : steps.first);
    }

    Lines operator()(const target::Round& round) const
    {
        return isRow(round.row, trace.rounds().size()) ? roundLines(run, row(round.row)) : Lines{};
    }

    Lines operator()(const target::Segment& segment) const
    {
        return isRow(segment.row, trace.segments().size()) ? segmentLines(run, row(segment.row))
                                                           : Lines{};
    }

    Lines operator()(const target::Operation& of) const
    {
        return isRow(of.operation, info.operations.size())
                   ? operationLines(run, of.operation, of.segment)
                   : Lines{};
    }

    Lines operator()(const target::Block& block) const
    {
        if (!isRow(block.operand, info.operands.size())) {
            return {};
        }
        const std::int64_t blocks = parts::blockTotal(info.operands[row(block.operand)]);
        return isRow(block.block, row(blocks)) ? blockLines(run, state, block) : Lines{};
    }

    Lines operator()(const target::Buffer& buffer) const
    {
        return isRow(buffer.buffer, info.buffers.size()) ? bufferLines(run, state, buffer.buffer)
                                                         : Lines{};
    }

    Lines operator()(const target::Wait& wait) const
    {
        return isRow(wait.row, trace.waits().size()) ? waitLines(run, row(wait.row)) : Lines{};
    }

    Lines operator()(const target::SourceLine& line) const
    {
        return isRow(line.file, info.sources.size()) ? sourceLines(run, line) : Lines{};
    }

    Lines operator()(const target::ListingLine& line) const
    {
        const bool known =
            isRow(line.line, info.listing.size()) && info.listing[row(line.line)].operation >= 0;
        return known ? operationLines(run, info.listing[row(line.line)].operation, {}) : Lines{};
    }

    Lines operator()(const target::Alternative& other) const
    {
        return isRow(other.index, run.alternatives.size())
                   ? alternativeLines(run, run.alternatives[row(other.index)])
                   : Lines{};
    }

    Lines operator()(const target::Finding& finding) const
    {
        if (finding.index && isRow(*finding.index, info.findings.size())) {
            return findingLines(run, info.findings[row(*finding.index)]);
        }
        return info.findings.empty() && info.values != "full"
                   ? Lines{"values not checked",
                           "Not all values were computed, so nothing is known of NaN, Inf and "
                           "undefined elements."}
                   : Lines{};
    }

    Lines operator()(const target::Print& print) const
    {
        return isRow(print.index, info.prints.size())
                   ? printLines(info, info.prints[row(print.index)], trace)
                   : Lines{};
    }

    Lines operator()(const target::Lane& lane) const { return laneLines(run, state, lane.lane); }

    Lines operator()(const target::Moment& moment) const { return momentLines(run, moment); }

    Lines operator()(const target::Time& at) const
    {
        if (!at.time) {
            return {};
        }
        Lines lines;
        for (const std::string& name : breaksAt(state, *at.time)) {
            lines.push_back("breakpoint " + name);
        }
        const Lines about = timeLines(run, std::min(*at.time, trace.end()));
        lines.insert(lines.end(), about.begin(), about.end());
        return lines;
    }

    Lines operator()(const target::Piece& piece) const
    {
        const bool exists = piece.device >= 0 && piece.device < info.deviceCount()
                            && isRow(piece.row, run.index->pieces(piece.device).all.size());
        return exists ? pieceLines(run, piece.device, row(piece.row)) : Lines{};
    }

    Lines operator()(const target::Kept& kept) const { return keptLines(state, kept); }

    Lines operator()(const target::Device& of) const
    {
        return of.device >= 0 && of.device < info.deviceCount() ? deviceLines(run, state, of.device)
                                                                : Lines{};
    }

    Lines operator()(const target::Sm& of) const { return smLines(run, of.sm); }

    Lines operator()(const target::GridBlock& block) const
    {
        return isRow(block.row, trace.gridBlocks().size()) ? gridBlockLines(run, state, block.row)
                                                           : Lines{};
    }

    Lines operator()(const target::Semaphore& of) const
    {
        return isRow(of.row, info.semaphores.size()) ? semaphoreLines(run, state, of.row) : Lines{};
    }

    Lines operator()(const target::Cached& of) const
    {
        return isRow(of.device, row(info.deviceCount())) && isRow(of.operand, info.operands.size())
                   ? cachedLines(run, state, of)
                   : Lines{};
    }

    Lines operator()(const target::Ceiling& of) const
    {
        return isRow(of.row, run.report.roofline.ceilings.size())
                   ? ceilingLines(run, run.report.roofline.ceilings[row(of.row)], state.now)
                   : Lines{};
    }

    Lines operator()(const target::SweepRow& /*row*/) const { return {}; } // the sweep has them
};

} // namespace

std::vector<std::string> tooltip(const RunView& run, const ViewState& state, const Target& target)
{
    return std::visit(LinesOf{run, state}, target);
}

} // namespace pallascope::layout
