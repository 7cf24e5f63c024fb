// What a tooltip says: name, size and rate, when, why; the last line is exact.
#include "core/base/format.h"
#include "core/trace/mark_time.h"
#include "views/layout/layouts.h"
#include "views/layout/timeline.h"
#include "views/layout/view_parts.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace {

using Lines = std::vector<std::string>;

std::size_t row(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

bool isRow(std::int64_t index, std::size_t size)
{
    return index >= 0 && row(index) < size;
}

std::string span(std::int64_t begin, std::int64_t end)
{
    return timeText(Picoseconds(begin)) + " – " + timeText(Picoseconds(end));
}

std::string exactSpan(std::int64_t begin, std::int64_t end)
{
    return countText(begin) + " – " + countText(end) + " ps, " + countText(end - begin)
           + " ps long";
}

std::string copyName(const trace::Trace& trace, std::size_t copy)
{
    return trace::blockName(trace.info().operands[row(trace.copies().operand[copy])],
                            trace.copies().block[copy]);
}

std::string stepName(const trace::Trace& trace, std::int32_t step)
{
    return step == trace::kNone ? "the run" : "step " + countText(parts::stepOrdinal(trace, step));
}

// The copy in front of it in the link's queue, when it waited for that one to end.
std::string queuedBehind(const trace::Trace& trace, std::size_t copy)
{
    const trace::Copies& copies = trace.copies();
    for (std::size_t before = copy; before-- > 0;) {
        if (copies.link[before] == copies.link[copy]) {
            const bool blocked =
                copies.end[before] == copies.start[copy] && copies.start[copy] > copies.issue[copy];
            return blocked ? copyName(trace, before) : "";
        }
    }
    return {};
}

// "step 9 waits 1.00 µs for it: it queued behind out(0,0)"
std::string whyOfCopy(const trace::Trace& trace, std::size_t copy)
{
    const trace::Waits& waits = trace.waits();
    const trace::Copies& copies = trace.copies();
    const auto first = std::lower_bound(waits.begin.begin(), waits.begin.end(), copies.issue[copy]);
    for (auto it = first; it != waits.begin.end() && *it <= copies.end[copy]; ++it) {
        const auto wait = static_cast<std::size_t>(it - waits.begin.begin());
        if (waits.copy[wait] == static_cast<std::int64_t>(copy) && waits.end[wait] > *it) {
            const std::string behind = queuedBehind(trace, copy);
            return stepName(trace, waits.step[wait]) + " waits "
                   + timeText(Picoseconds(waits.end[wait] - *it)) + " for it"
                   + (behind.empty() ? "" : ": it queued behind " + behind);
        }
    }
    return "no step waits for it: it hides behind the steps before";
}

Lines copyLines(const RunView& run, std::size_t copy)
{
    const trace::Trace& trace = *run.trace;
    const trace::Info& info = trace.info();
    const trace::Copies& copies = trace.copies();
    const trace::Operand& operand = info.operands[row(copies.operand[copy])];
    const trace::Link& link = info.links[row(copies.link[copy])];
    const trace::Buffer& buffer = info.buffers[row(operand.firstBuffer + copies.slot[copy])];
    const std::string far = info.memories[row(link.from)].name;
    const std::string near = info.memories[row(buffer.memory)].name + " " + buffer.name;
    const bool out = copies.out[copy] != 0;
    const Picoseconds length(copies.end[copy] - copies.start[copy]);
    const double seconds = toSeconds(length).value();
    const std::int64_t queued = copies.start[copy] - copies.issue[copy];
    return {(out ? "write-back " : "copy ") + copyName(trace, copy) + "  " + (out ? near : far)
                + " → " + (out ? far : near),
            bytesText(Bytes(copies.bytes[copy])) + " in " + timeText(length)
                + (seconds > 0
                       ? ", " + bandwidthText(static_cast<double>(copies.bytes[copy]) / seconds)
                       : ""),
            "issued " + timeText(Picoseconds(copies.issue[copy]))
                + (queued > 0 ? ", queued " + timeText(Picoseconds(queued)) : "") + ", ran "
                + span(copies.start[copy], copies.end[copy]),
            whyOfCopy(trace, copy),
            countText(copies.bytes[copy]) + " bytes, "
                + exactSpan(copies.start[copy], copies.end[copy])};
}

Lines waitLines(const RunView& run, std::size_t wait)
{
    const trace::Trace& trace = *run.trace;
    const trace::Waits& waits = trace.waits();
    const std::int64_t length = waits.end[wait] - waits.begin[wait];
    Lines lines;
    std::string why = "nothing else is known about its cause";
    std::string what;
    if (waits.copy[wait] != trace::kNone) {
        const auto copy = row(waits.copy[wait]);
        const trace::Copies& copies = trace.copies();
        const std::string behind = queuedBehind(trace, copy);
        const Picoseconds before(waits.begin[wait] - copies.issue[copy]);
        what = " for " + copyName(trace, copy);
        why = "the copy takes " + timeText(Picoseconds(copies.end[copy] - copies.start[copy]))
              + " and was issued "
              + (before.value() > 0 ? timeText(before) + " before" : "only then")
              + (behind.empty() ? "" : "; it queued behind " + behind);
    }
    lines.push_back(stepName(trace, waits.step[wait]) + " waits" + what);
    lines.push_back(timeText(Picoseconds(length)) + ", "
                    + span(waits.begin[wait], waits.end[wait]));
    lines.push_back(why);
    lines.push_back(exactSpan(waits.begin[wait], waits.end[wait]));
    return lines;
}

// "MXU 1.37 µs, VPU 43 ns, scalar 0.33 µs": what was busy in [begin, end).
std::string busyText(const RunView& run, std::int64_t begin, std::int64_t end)
{
    std::string text;
    const auto add = [&](const std::string& name, Picoseconds time) {
        if (time.value() > 0) {
            text += (text.empty() ? "busy: " : ", ") + name + " " + timeText(time);
        }
    };
    const auto& info = run.trace->info();
    for (std::size_t unit = 0; unit < info.units.size(); ++unit) {
        const auto id = static_cast<std::int32_t>(unit);
        add(info.units[unit].name, run.index->unitBusy(id, Picoseconds(end))
                                       - run.index->unitBusy(id, Picoseconds(begin)));
    }
    for (std::size_t link = 0; link < info.links.size(); ++link) {
        const auto id = static_cast<std::int32_t>(link);
        Picoseconds time;
        for (const bool out : {false, true}) {
            time += run.index->linkBusy(id, out, Picoseconds(end))
                    - run.index->linkBusy(id, out, Picoseconds(begin));
        }
        add(info.links[link].name + " link", time);
    }
    return text.empty() ? "nothing busy" : text;
}

Lines stepLines(const RunView& run, std::int64_t first, std::int64_t last)
{
    const trace::Trace& trace = *run.trace;
    const trace::Steps& steps = trace.steps();
    const std::int64_t begin = steps.begin[row(first)];
    const std::int64_t end = steps.end[row(last)];
    const auto& pipeline = trace.info().pipelines[row(steps.pipeline[row(first)])];
    const std::string name =
        last > first
            ? "steps " + countText(steps.ordinal[row(first)]) + "–"
                  + countText(steps.ordinal[row(last)])
            : "step " + countText(steps.ordinal[row(first)]) + " "
                  + trace::indexText(trace::gridIndices(pipeline, steps.ordinal[row(first)]));
    const Picoseconds waited =
        run.index->waiting(Picoseconds(end)) - run.index->waiting(Picoseconds(begin));
    return {name, timeText(Picoseconds(end - begin)) + ", " + span(begin, end),
            busyText(run, begin, end),
            waited.value() > 0 ? "waits " + timeText(waited) + " for copies" : "waits for no copy",
            exactSpan(begin, end)};
}

std::string sourceText(const trace::Info& info, trace::SourceLine line)
{
    if (line.file < 0 || row(line.file) >= info.sources.size()) {
        return {};
    }
    return parts::baseName(info.sources[row(line.file)].path) + " line " + countText(line.line);
}

Lines segmentLines(const RunView& run, std::size_t segment)
{
    const trace::Trace& trace = *run.trace;
    const trace::Info& info = trace.info();
    const trace::SegmentTemplate& of = info.templates[row(trace.segments().templateId[segment])];
    const std::int64_t begin = trace.segments().begin[segment];
    const std::int64_t end = begin + of.duration.value();
    const bool overhead = of.kind == trace::SegmentKind::StepOverhead;
    std::string operations;
    constexpr std::size_t kMost = 6;
    for (std::size_t i = 0; i < std::min(kMost, of.operations.size()); ++i) {
        operations += (i == 0 ? "" : ", ") + info.operations[row(of.operations[i])].label;
    }
    operations += of.operations.size() > kMost ? ", …" : "";
    return {overhead ? "step overhead" : operations,
            timeText(of.duration) + ", " + span(begin, end),
            overhead ? "bookkeeping of the pipeline after the body of "
                           + stepName(trace, trace.segments().step[segment])
                     : countText(static_cast<std::int64_t>(of.operations.size()))
                           + " operations of " + stepName(trace, trace.segments().step[segment]),
            busyText(run, begin, end),
            countText(of.cycles.value()) + " cycles, " + exactSpan(begin, end)};
}

Lines operationLines(const RunView& run, std::int64_t operation, std::int64_t segment)
{
    const trace::Trace& trace = *run.trace;
    const trace::Info& info = trace.info();
    const trace::Operation& of = info.operations[row(operation)];
    Lines lines = {of.label + "  " + of.name};
    if (const std::string source = sourceText(info, of.source); !source.empty()) {
        lines.push_back(source);
    }
    if (!isRow(segment, trace.segments().size())) {
        return lines;
    }
    const trace::SegmentTemplate& in =
        info.templates[row(trace.segments().templateId[row(segment)])];
    const std::int64_t start = trace.segments().begin[row(segment)];
    std::int64_t begin = start + in.duration.value();
    std::int64_t end = start;
    std::string units;
    std::int64_t cycles = 0;
    for (const trace::Mark& mark : in.marks) {
        if (mark.operation != operation) {
            continue;
        }
        const std::int64_t from = trace::markTime(in, mark.offset);
        const std::int64_t to = trace::markTime(in, mark.offset + mark.length);
        begin = std::min(begin, start + from);
        end = std::max(end, start + to);
        cycles += mark.length.value();
        const std::string& unit = info.units[row(mark.unit)].name;
        if (units.find(unit) == std::string::npos) {
            units += (units.empty() ? "" : ", ") + unit;
        }
    }
    if (end > begin) {
        lines.insert(lines.begin() + 1,
                     timeText(Picoseconds(end - begin)) + " on " + units + ", " + span(begin, end));
        lines.push_back("in " + stepName(trace, trace.segments().step[row(segment)]));
        lines.push_back(countText(cycles) + " cycles, " + exactSpan(begin, end));
    }
    return lines;
}

std::string elementRange(const trace::Operand& operand, std::int64_t block)
{
    const std::vector<Extent> index = trace::blockIndex(operand, block);
    std::string text = operand.name + "[";
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        const Extent from = index[axis] * operand.block[axis];
        const Extent to = std::min(from + operand.block[axis], operand.array[axis]);
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

Lines blockLines(const RunView& run, const ViewState& state, const Target& target)
{
    const auto id = static_cast<std::int32_t>(target.a);
    const trace::Operand& operand = run.trace->info().operands[row(target.a)];
    const trace::BlockState now = run.index->blockStateAt(id, target.b, state.now);
    const std::string copies =
        countText(now.copies)
        + (parts::writes(operand) ? (now.copies == 1 ? " write-back" : " write-backs")
                                  : (now.copies == 1 ? " fetch" : " fetches"))
        + " so far";
    return {trace::blockName(operand, target.b), elementRange(operand, target.b),
            phaseText(now, operand) + " · " + copies,
            "block " + countText(target.b) + " of " + countText(parts::blockTotal(operand)) + ", "
                + countText(operand.blockBytes.value()) + " bytes"};
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
        const auto now = trace::slotStateAt(trace, static_cast<std::int32_t>(id), state.now);
        const trace::Operand& operand = trace.info().operands[row(buffer.operand)];
        lines.push_back((now.block >= 0 ? trace::blockName(operand, now.block) + ": " : "")
                        + phaseText(now));
    } else {
        lines.emplace_back("scratch");
    }
    lines.push_back("address " + countText(buffer.address.value()) + ", "
                    + countText(buffer.bytes.value()) + " bytes, tile padding included");
    return lines;
}

Lines sourceLines(const RunView& run, const Target& target)
{
    const trace::Info& info = run.trace->info();
    const trace::SourceLine line = {static_cast<std::int32_t>(target.a),
                                    static_cast<std::int32_t>(target.b)};
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
    return {other.name + ": " + timeText(other.time) + ", " + change, changed,
            flopRateText(other.flopsPerSecond) + " at " + intensityText(other.arithmeticIntensity)
                + " FLOP/B, bound by " + other.boundBy,
            bytesText(other.vmem) + (other.overScopedLimit ? ", over the scoped limit" : ", fits"),
            countText(other.time.value()) + " ps, " + countText(other.vmem.value()) + " bytes"};
}

Lines findingLines(const trace::Info& info, const trace::Finding& finding)
{
    Lines lines = {finding.message};
    lines.push_back(finding.count == 1 ? "once" : countText(finding.count) + " times");
    if (finding.step >= 0) {
        lines.back() += ", first in step " + countText(finding.step);
    }
    if (const std::string source = sourceText(info, finding.source); !source.empty()) {
        lines.push_back(source);
    }
    lines.push_back(finding.kind);
    return lines;
}

Lines laneLines(const RunView& run, const ViewState& state, std::int64_t number)
{
    for (const timeline::Lane& lane : timeline::lanesOf(run, timeline::Level::Operations, 1e6)) {
        if (timeline::laneNumber(lane) != number) {
            continue;
        }
        const Picoseconds end = run.trace->end();
        const Picoseconds from = std::clamp(state.visible.begin, Picoseconds(0), end);
        const Picoseconds to = std::clamp(state.visible.end, from, end);
        const Picoseconds seen = timeline::busy(run, lane, to) - timeline::busy(run, lane, from);
        const Picoseconds all = timeline::busy(run, lane, end);
        const std::string verb = lane.kind == timeline::LaneKind::Wait ? "" : "busy ";
        Lines lines = {lane.name};
        if (to > from) {
            lines.push_back(verb + timeText(seen) + " of the " + timeText(to - from) + " in view, "
                            + percentText(ratio(seen, to - from), 1));
        }
        if (end.value() > 0) {
            lines.push_back(verb + timeText(all) + " of the run, "
                            + percentText(ratio(all, end), 1));
        }
        lines.push_back(countText(seen.value()) + " ps of " + countText((to - from).value())
                        + " ps");
        return lines;
    }
    return {};
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
    lines.push_back(countText(t.value()) + " ps");
    return lines;
}

} // namespace

std::vector<std::string> tooltip(const RunView& run, const ViewState& state, const Target& target)
{
    const trace::Trace& trace = *run.trace;
    const trace::Info& info = trace.info();
    switch (target.kind) {
    case TargetKind::None:
        return {};
    case TargetKind::Copy:
        return isRow(target.a, trace.copies().size()) ? copyLines(run, row(target.a)) : Lines{};
    case TargetKind::Step:
        return isRow(target.a, trace.steps().size()) ? stepLines(
                   run, target.a,
                   isRow(target.b, trace.steps().size()) ? std::max(target.a, target.b) : target.a)
                                                     : Lines{};
    case TargetKind::Segment:
        return isRow(target.a, trace.segments().size()) ? segmentLines(run, row(target.a))
                                                        : Lines{};
    case TargetKind::Operation:
        return isRow(target.a, info.operations.size()) ? operationLines(run, target.a, target.b)
                                                       : Lines{};
    case TargetKind::Block:
        return isRow(target.a, info.operands.size())
                       && isRow(target.b, static_cast<std::size_t>(
                                              parts::blockTotal(info.operands[row(target.a)])))
                   ? blockLines(run, state, target)
                   : Lines{};
    case TargetKind::Buffer:
        return isRow(target.a, info.buffers.size()) ? bufferLines(run, state, target.a) : Lines{};
    case TargetKind::Wait:
        return isRow(target.a, trace.waits().size()) ? waitLines(run, row(target.a)) : Lines{};
    case TargetKind::SourceLine:
        return isRow(target.a, info.sources.size()) ? sourceLines(run, target) : Lines{};
    case TargetKind::ListingLine: {
        const bool known =
            isRow(target.a, info.listing.size()) && info.listing[row(target.a)].operation >= 0;
        return known ? operationLines(run, info.listing[row(target.a)].operation, -1) : Lines{};
    }
    case TargetKind::Alternative:
        return isRow(target.a, run.alternatives.size())
                   ? alternativeLines(run, run.alternatives[row(target.a)])
                   : Lines{};
    case TargetKind::Finding:
        return isRow(target.a, info.findings.size())
                   ? findingLines(info, info.findings[row(target.a)])
                   : Lines{};
    case TargetKind::Lane:
        return laneLines(run, state, target.a);
    case TargetKind::Time:
        return target.a >= 0 ? timeLines(run, Picoseconds(std::min(target.a, trace.end().value())))
                             : Lines{};
    }
    return {};
}

} // namespace pallascope::layout
