#include "core/analysis/report.h"
#include "core/trace/lookup.h"

#include <algorithm>
#include <map>

namespace pallascope::analysis {

namespace {

struct Share
{
    std::map<std::int32_t, Picoseconds> byUnit;
};

// The unit that sets a template's length; -1 if none has any work.
std::int32_t longestUnit(const trace::SegmentTemplate& segment)
{
    std::map<std::int32_t, Cycles> sums;
    for (const trace::Mark& mark : segment.marks) {
        sums[mark.unit] += mark.length;
    }
    std::int32_t longest = -1;
    for (const auto& [unit, cycles] : sums) {
        if (longest < 0 || cycles > sums[longest]) {
            longest = unit;
        }
    }
    return longest;
}

} // namespace

std::vector<LineTime> timeByLine(const trace::Trace& trace)
{
    const trace::Info& info = trace.info();
    std::vector<std::int64_t> instances(info.templates.size(), 0);
    for (const std::int32_t id : trace.segments().templateId) {
        ++instances[static_cast<std::size_t>(id)];
    }
    std::map<trace::SourceLine, Share> lines;
    Picoseconds attributed;
    for (std::size_t id = 0; id < instances.size(); ++id) {
        const trace::SegmentTemplate& segment = info.templates[id];
        const Picoseconds whole = segment.duration * instances[id];
        const std::int32_t unit = longestUnit(segment);
        if (segment.kind == trace::SegmentKind::StepOverhead || unit < 0
            || segment.cycles == Cycles(0)) {
            continue; // goes to the pipeline's line below
        }
        Picoseconds left = whole;
        const trace::Mark* last = nullptr;
        for (const trace::Mark& mark : segment.marks) {
            if (mark.unit != unit || mark.operation < 0) {
                continue;
            }
            const auto part =
                static_cast<__int128>(whole.value()) * mark.length.value() / segment.cycles.value();
            lines[info.operations[static_cast<std::size_t>(mark.operation)].source].byUnit[unit] +=
                Picoseconds(static_cast<std::int64_t>(part));
            left -= Picoseconds(static_cast<std::int64_t>(part));
            last = &mark;
        }
        if (last != nullptr) { // what rounding left over
            lines[info.operations[static_cast<std::size_t>(last->operation)].source].byUnit[unit] +=
                left;
            attributed += whole;
        }
    }
    const trace::Waits& waits = trace.waits();
    for (std::size_t row = 0; row < waits.size(); ++row) {
        const trace::SourceLine line = trace::lineOfWait(trace, static_cast<std::int32_t>(row));
        if (line.file >= 0) {
            const Picoseconds time(waits.end[row] - waits.begin[row]);
            lines[line].byUnit[-1] += time;
            attributed += time;
        }
    }
    const trace::SourceLine pipeline =
        info.pipelines.empty() ? trace::SourceLine{} : info.pipelines.front().source;
    const Picoseconds all = std::max(trace.end() * agentsUsed(info), attributed);
    lines[pipeline].byUnit[-1] += all - attributed;
    Picoseconds rest = trace.end();
    for (auto& [line, share] : lines) {
        for (auto& [unit, time] : share.byUnit) {
            const auto part = static_cast<__int128>(time.value()) * trace.end().value();
            time = Picoseconds(
                static_cast<std::int64_t>(part / std::max<std::int64_t>(1, all.value())));
            rest -= time;
        }
    }
    lines[pipeline].byUnit[-1] += rest; // what rounding left over
    std::vector<LineTime> result;
    for (const auto& [line, share] : lines) {
        LineTime entry{line, Picoseconds(0), -1};
        Picoseconds most(-1);
        for (const auto& [unit, time] : share.byUnit) {
            entry.time += time;
            if (time > most) {
                most = time;
                entry.unit = unit;
            }
        }
        result.push_back(entry);
    }
    return result;
}

} // namespace pallascope::analysis
