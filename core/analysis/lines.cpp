#include "core/analysis/report.h"
#include "core/trace/lookup.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace pallascope::analysis {

namespace {

// Time by line and unit; without a unit: bookkeeping and waits.
using LineShares = std::map<trace::SourceLine, std::map<std::optional<std::int32_t>, Picoseconds>>;

// The unit that decides how long the segment lasts; none if no unit has any work.
std::optional<std::int32_t> longestUnit(const trace::SegmentTemplate& segment)
{
    std::map<std::int32_t, Cycles> sums;
    for (const trace::Mark& mark : segment.marks) {
        sums[mark.unit] += mark.length;
    }
    std::optional<std::int32_t> longest;
    for (const auto& [unit, cycles] : sums) {
        if (!longest || cycles > sums[*longest]) {
            longest = unit;
        }
    }
    return longest;
}

void addSegments(const trace::Trace& trace, LineShares& lines)
{
    const trace::Info& info = trace.info();
    std::vector<std::int64_t> instances(info.templates.size(), 0);
    for (const std::int32_t id : trace.segments().templateId) {
        ++instances[static_cast<std::size_t>(id)];
    }
    for (std::size_t id = 0; id < instances.size(); ++id) {
        const trace::SegmentTemplate& segment = info.templates[id];
        const Picoseconds whole = segment.duration * instances[id];
        const std::optional<std::int32_t> unit = longestUnit(segment);
        if (segment.isBookkeeping() || !unit || segment.cycles == Cycles(0)) {
            continue; // see addBookkeeping; the first pipeline's line has the rest
        }
        Picoseconds left = whole;
        Picoseconds* last = nullptr;
        for (const trace::Mark& mark : segment.marks) {
            if (mark.unit != unit || mark.operation < 0) {
                continue;
            }
            const auto part =
                static_cast<__int128>(whole.value()) * mark.length.value() / segment.cycles.value();
            last = &lines[info.operations[static_cast<std::size_t>(mark.operation)].source][unit];
            *last += Picoseconds(static_cast<std::int64_t>(part));
            left -= Picoseconds(static_cast<std::int64_t>(part));
        }
        if (last != nullptr) {
            *last += left; // what rounding left
        }
    }
}

// The line of the pipeline of a step.
std::optional<trace::SourceLine> lineOfStep(const trace::Trace& trace, std::int32_t step)
{
    if (step < 0) {
        return std::nullopt;
    }
    const std::int32_t pipeline = trace.steps().pipeline[static_cast<std::size_t>(step)];
    return trace.info().pipelines[static_cast<std::size_t>(pipeline)].source;
}

// What an agent does in steps besides operations belongs to the line of their pipeline, a launch to
// the line of what comes after it.
void addBookkeeping(const trace::Trace& trace, LineShares& lines)
{
    const trace::Info& info = trace.info();
    const trace::Segments& segments = trace.segments();
    std::vector<Picoseconds> launches(info.agents.size()); // whose line is not known yet
    for (std::size_t row = 0; row < segments.size(); ++row) {
        const auto& segment = info.templates[static_cast<std::size_t>(segments.templateId[row])];
        Picoseconds& launched = launches[static_cast<std::size_t>(segments.agent[row])];
        std::optional<trace::SourceLine> line = lineOfStep(trace, segments.step[row]);
        if (!line && !segment.operations.empty()) {
            line = info.operations[static_cast<std::size_t>(segment.operations.front())].source;
        }
        if (segment.isBookkeeping()) {
            launched += segment.duration;
        }
        if (line && launched > Picoseconds(0)) {
            lines[*line][std::nullopt] += std::exchange(launched, Picoseconds(0));
        }
    }
}

void addWaits(const trace::Trace& trace, LineShares& lines)
{
    const trace::Waits& waits = trace.waits();
    for (std::size_t row = 0; row < waits.size(); ++row) {
        const trace::SourceLine own = trace::lineOfWait(trace, trace::WaitRow::at(row));
        const auto line = own.file >= 0 ? std::optional(own) : lineOfStep(trace, waits.step[row]);
        if (line) {
            lines[*line][std::nullopt] += Picoseconds(waits.end[row] - waits.begin[row]);
        }
    }
}

// Turns the sum over all agents into their average, and gives the rest of the run to the line of
// the first pipeline.
void average(const trace::Trace& trace, LineShares& lines)
{
    const trace::Info& info = trace.info();
    Picoseconds taken;
    for (const auto& [line, share] : lines) {
        for (const auto& [unit, time] : share) {
            taken += time;
        }
    }
    const Picoseconds all = std::max({trace.end() * agentsUsed(info), taken, Picoseconds(1)});
    Picoseconds rest = trace.end();
    for (auto& [line, share] : lines) {
        for (auto& [unit, time] : share) {
            const auto part = static_cast<__int128>(time.value()) * trace.end().value();
            time = Picoseconds(static_cast<std::int64_t>(part / all.value()));
            rest -= time;
        }
    }
    lines[info.pipelines.empty() ? trace::SourceLine{} : info.pipelines.front().source]
         [std::nullopt] += rest;
}

} // namespace

std::vector<LineTime> timeByLine(const trace::Trace& trace)
{
    LineShares lines;
    addSegments(trace, lines);
    addBookkeeping(trace, lines);
    addWaits(trace, lines);
    average(trace, lines);
    std::vector<LineTime> result;
    for (const auto& [line, share] : lines) {
        LineTime entry{line, Picoseconds(0), {}};
        Picoseconds most(-1);
        for (const auto& [unit, time] : share) {
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
