// Writes what a tooltip says about things that happen at a time: copies, waits, steps, segments and
// operations.
#include "core/base/format.h"
#include "core/trace/loop_rounds.h"
#include "core/trace/mark_time.h"
#include "views/layout/run/unit_state.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/timeline/timeline.h"
#include "views/layout/tooltip/parts.h"

#include <algorithm>

namespace pallascope::layout::tips {

namespace {

std::string span(std::int64_t begin, std::int64_t end)
{
    return timeText(Picoseconds(begin)) + " – " + timeText(Picoseconds(end));
}

std::string exactSpan(std::int64_t begin, std::int64_t end)
{
    return countText(begin) + " – " + countText(end) + " ps, " + countText(end - begin)
           + " ps long";
}

std::string stepName(const trace::Trace& trace, trace::OptionalRow<trace::StepRow> step)
{
    return step ? "step " + countText(parts::stepOrdinal(trace, *step)) : "the run";
}

// The name of the copy before it in the link's queue, if the copy had to wait for that one to end.
std::string queuedBehind(const trace::Trace& trace, std::size_t copy)
{
    const trace::Copies& copies = trace.copies();
    for (std::size_t before = copy; before-- > 0;) {
        if (copies.link[before] == copies.link[copy]) {
            const bool blocked =
                copies.end[before] == copies.start[copy] && copies.start[copy] > copies.issue[copy];
            return blocked ? trace::copyName(trace, trace::CopyRow::at(before)) : "";
        }
    }
    return {};
}

// Why a copy matters: "step 9 waits 1.00 µs for it: it queued behind out(0,0)".
std::string whyOfCopy(const trace::Trace& trace, std::size_t copy)
{
    const trace::Waits& waits = trace.waits();
    const std::vector<trace::WaitRow> found = trace::waitsFor(trace, trace::CopyRow::at(copy));
    if (!found.empty()) {
        const std::size_t wait = found.front().index();
        const std::string behind = queuedBehind(trace, copy);
        return stepName(trace, trace::StepRow::of(waits.step[wait])) + " waits "
               + timeText(Picoseconds(waits.end[wait] - waits.begin[wait])) + " for it"
               + (behind.empty() ? "" : ": it queued behind " + behind);
    }
    return "no step waits for it: it hides behind the steps before";
}

// What was busy in [begin, end): "busy: MXU 1.37 µs, VPU 43 ns, scalar 0.33 µs". Of several cores
// or SMs, on average.
std::string busyText(const RunView& run, std::int64_t begin, std::int64_t end)
{
    std::string text;
    const auto add = [&](const std::string& name, Picoseconds time) {
        if (time.value() > 0) {
            text += (text.empty() ? run.index->agents().sms.empty() ? "busy: " : "busy on an SM: "
                                  : ", ")
                    + name + " " + timeText(time);
        }
    };
    const auto& info = run.trace->info();
    for (std::size_t unit = 0; unit < info.units.size(); ++unit) {
        const auto id = trace::UnitRow::at(unit);
        const Picoseconds time =
            run.index->unitBusy(id, Picoseconds(end)) - run.index->unitBusy(id, Picoseconds(begin));
        add(info.units[unit].name, Picoseconds(time.value() / run.index->agents().unitCount(id)));
    }
    for (std::size_t link = 0; link < info.links.size(); ++link) {
        const auto id = trace::LinkRow::at(link);
        Picoseconds time;
        for (const bool out : {false, true}) {
            time += run.index->linkBusy(id, out, Picoseconds(end))
                    - run.index->linkBusy(id, out, Picoseconds(begin));
        }
        add(info.links[link].name + " link", time);
    }
    return text.empty() ? "nothing busy" : text;
}

} // namespace

std::string sourceText(const trace::Info& info, trace::SourceLine line)
{
    if (line.file < 0 || row(line.file) >= info.sources.size()) {
        return {};
    }
    return parts::baseName(info.sources[row(line.file)].path) + " line " + countText(line.line);
}

Lines copyLines(const RunView& run, std::size_t copy)
{
    const trace::Trace& trace = *run.trace;
    const trace::Info& info = trace.info();
    const trace::Copies& copies = trace.copies();
    const trace::Operand& operand = info.operands[row(copies.operand[copy])];
    const trace::Link& link = info.links[row(copies.link[copy])];
    const std::string far = info.memories[row(link.from)].name;
    std::string near = info.memories[row(link.to)].name;
    if (operand.slots > 0) { // a copy of a pipeline, not a manual DMA
        const trace::Buffer& buffer = info.buffers[row(operand.firstBuffer + copies.slot[copy])];
        near = info.memories[row(buffer.memory)].name + " " + buffer.name;
    }
    const bool out = copies.out[copy] != 0;
    const Picoseconds length(copies.end[copy] - copies.start[copy]);
    const double seconds = toSeconds(length).value();
    const std::int64_t queued = copies.start[copy] - copies.issue[copy];
    return {(out ? "write-back " : "copy ") + trace::copyName(trace, trace::CopyRow::at(copy))
                + "  " + (out ? near : far) + " → " + (out ? far : near),
            bytesText(Bytes(copies.bytes[copy])) + " in " + timeText(length)
                + (seconds > 0
                       ? ", " + bandwidthText(static_cast<double>(copies.bytes[copy]) / seconds)
                       : "")
                + (info.links.size() > 1 ? ", over " + link.name : ""),
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
    std::string why;
    const auto waited = trace::WaitRow::at(wait);
    const std::string name = trace::awaitedName(trace, waited);
    const std::string agent = byAgent(run, trace::AgentRow{waits.agent[wait]});
    const bool others = !agent.empty() && waitsForOthers(trace, waited);
    const std::string what = others ? " for the others" : name.empty() ? "" : " for " + name;
    if (waits.copy[wait] != trace::kNone) {
        const auto copy = row(waits.copy[wait]);
        const trace::Copies& copies = trace.copies();
        const std::string behind = queuedBehind(trace, copy);
        const Picoseconds before(waits.begin[wait] - copies.issue[copy]);
        why = "the copy takes " + timeText(Picoseconds(copies.end[copy] - copies.start[copy]))
              + " and was issued "
              + (before.value() > 0 ? timeText(before) + " before" : "only then")
              + (behind.empty() ? "" : "; it queued behind " + behind);
    }
    lines.push_back(stepName(trace, trace::StepRow::of(waits.step[wait])) + " waits" + what);
    lines.push_back(timeText(Picoseconds(length)) + ", "
                    + span(waits.begin[wait], waits.end[wait]));
    if (!others && !why.empty()) {
        lines.push_back(why);
    }
    if (!agent.empty()) {
        lines.push_back(agent);
    }
    if (const std::string source = sourceText(trace.info(), trace::lineOfWait(trace, waited));
        !source.empty()) {
        lines.push_back(source);
    }
    lines.push_back(exactSpan(waits.begin[wait], waits.end[wait]));
    return lines;
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

Lines roundLines(const RunView& run, std::size_t row)
{
    const trace::Trace& trace = *run.trace;
    const trace::Rounds& rounds = trace.rounds();
    const trace::Loop& loop = trace.info().loops[tips::row(rounds.loop[row])];
    const std::int64_t begin = rounds.begin[row], end = rounds.end[row];
    const std::int32_t agent = rounds.agent[row]; // whose round it is; others wait meanwhile
    timeline::Lane waits = {timeline::LaneKind::Wait, -1, "wait", Role::Wait};
    waits.agents = {agent};
    const std::vector<Picoseconds> waitedBy =
        timeline::busyBy(run, waits, {Picoseconds(begin), Picoseconds(end)});
    const Picoseconds waited = waitedBy[1] - waitedBy[0];
    const auto place = run.index->rounds().at(rounds.loop[row], Picoseconds(begin));
    std::string name = loop.name + ", round " + countText(rounds.round[row]);
    Lines lines;
    if (place && place->row.index() == row) { // of the agent that leads
        name += " of 0–" + countText(place->rounds - 1);
        if (static_cast<std::size_t>(place->rounds) < place->of) {
            lines.push_back("round " + countText(static_cast<std::int64_t>(place->number)) + " of "
                            + countText(static_cast<std::int64_t>(place->of)) + " in the run");
        }
    }
    lines.insert(lines.begin(), name);
    lines.push_back(timeText(Picoseconds(end - begin)) + ", " + span(begin, end));
    lines.push_back(busyText(run, begin, end));
    const std::string whose =
        run.index->agents().size() > 1 ? trace.info().agents[tips::row(agent)] + " " : "";
    lines.push_back(whose
                    + (waited.value() > 0 ? "waits " + timeText(waited) : "waits for nothing"));
    if (const std::string source = sourceText(trace.info(), loop.source); !source.empty()) {
        lines.push_back(source);
    }
    lines.push_back(exactSpan(begin, end));
    return lines;
}

Lines segmentLines(const RunView& run, std::size_t segment)
{
    const trace::Trace& trace = *run.trace;
    const trace::Info& info = trace.info();
    const trace::SegmentTemplate& of = info.templates[row(trace.segments().templateId[segment])];
    const std::int64_t begin = trace.segments().begin[segment];
    const std::int64_t end = begin + of.duration.value();
    const bool overhead = of.kind == trace::SegmentKind::StepOverhead,
               launch = of.kind == trace::SegmentKind::Launch;
    std::string operations;
    constexpr std::size_t kMost = 6;
    for (std::size_t i = 0; i < std::min(kMost, of.operations.size()); ++i) {
        operations += (i == 0 ? "" : ", ") + info.operations[row(of.operations[i])].label;
    }
    operations += of.operations.size() > kMost ? ", …" : "";
    const std::string agent = byAgent(run, trace::AgentRow{trace.segments().agent[segment]});
    return {overhead ? "step overhead"
            : launch ? "launch"
                     : operations,
            timeText(of.duration) + ", " + span(begin, end) + (agent.empty() ? "" : ", " + agent),
            launch ? "before the first operation of a kernel, or of operations around kernels"
            : overhead
                ? "bookkeeping of the pipeline after the body of "
                      + stepName(trace, trace::StepRow::of(trace.segments().step[segment]))
                : countText(static_cast<std::int64_t>(of.operations.size())) + " operations of "
                      + stepName(trace, trace::StepRow::of(trace.segments().step[segment])),
            busyText(run, begin, end),
            countText(of.cycles.value()) + " cycles, " + exactSpan(begin, end)};
}

Lines operationLines(const RunView& run, std::int64_t operation,
                     std::optional<std::int64_t> inSegment)
{
    const trace::Trace& trace = *run.trace;
    const trace::Info& info = trace.info();
    const trace::Operation& of = info.operations[row(operation)];
    Lines lines = {of.label + "  " + of.name};
    if (const std::string source = sourceText(info, of.source); !source.empty()) {
        lines.push_back(source);
    }
    if (!inSegment || !isRow(*inSegment, trace.segments().size())) {
        return lines;
    }
    const std::int64_t segment = *inSegment;
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
        const std::string agent =
            byAgent(run, trace::AgentRow{trace.segments().agent[row(segment)]});
        lines.push_back("in "
                        + stepName(trace, trace::StepRow::of(trace.segments().step[row(segment)]))
                        + (agent.empty() ? "" : ", " + agent));
        lines.push_back(countText(cycles) + " cycles, " + exactSpan(begin, end));
    }
    return lines;
}

} // namespace pallascope::layout::tips
