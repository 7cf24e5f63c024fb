#include "views/navigation/break_stops.h"

#include "core/base/format.h"
#include "core/base/indexed_name.h"
#include "core/trace/columns.h"
#include "core/trace/lookup.h"
#include "views/navigation/break_lines.h"
#include "views/navigation/times.h"
#include "views/navigation/times_of_events.h"

#include <algorithm>

namespace pallascope::navigation {

namespace {

namespace breaks = trace::breaks;
using trace::Trace;

void addOnce(std::vector<std::string>& to, std::string text)
{
    if (std::find(to.begin(), to.end(), text) == to.end()) {
        to.push_back(std::move(text));
    }
}

// For each pipeline the number of that step in its grid, if it has one.
std::vector<std::optional<std::int64_t>> ordinalsOf(const trace::Info& info,
                                                    const breaks::Grid& wanted)
{
    std::vector<std::optional<std::int64_t>> ordinals;
    for (const trace::Pipeline& pipeline : info.pipelines) {
        ordinals.push_back(rowMajorNumber(pipeline.grid, wanted.index));
    }
    return ordinals;
}

std::string expectedStep(const trace::Info& info)
{
    std::vector<std::string> grids;
    for (const trace::Pipeline& pipeline : info.pipelines) {
        addOnce(grids, trace::indexText(pipeline.grid) + " of " + pipeline.name);
    }
    if (!grids.empty()) {
        return "expected one below " + orList(grids) + ".";
    }
    return info.blockGrids.empty() ? info.program + " has no grid."
                                   : "blocks of a GPU's grid have no steps; expected a line, such "
                                     "as line:kernel.py:42.";
}

Result<BreakTimes> stepsAt(const Trace& trace, const breaks::Grid& wanted)
{
    const std::vector<std::optional<std::int64_t>> ordinals = ordinalsOf(trace.info(), wanted);
    if (std::none_of(ordinals.begin(), ordinals.end(),
                     [](const auto& ordinal) { return ordinal.has_value(); })) {
        return userError("There is no grid step " + trace::indexText(wanted.index) + "; "
                         + expectedStep(trace.info()));
    }
    BreakTimes times;
    for (const trace::StepRow row : stepsOf(trace, wanted)) {
        times.push_back(trace.steps().bodyBegin[row.index()]);
    }
    return sortedOnce(std::move(times));
}

// When it is copied, and when a body begins to use it.
Result<BreakTimes> usesOf(const Trace& trace, const breaks::Block& wanted)
{
    std::vector<std::optional<std::int64_t>> numbers; // of that block, by operand
    std::vector<std::string> names, counts;
    bool isAnywhere = false;
    for (const trace::Operand& operand : trace.info().operands) {
        const std::string name(trace::arrayName(operand));
        addOnce(names, name);
        numbers.emplace_back();
        if (name == wanted.array) {
            addOnce(counts, trace::indexText(operand.blockCounts));
            numbers.back() = rowMajorNumber(operand.blockCounts, wanted.index);
            isAnywhere = isAnywhere || numbers.back();
        }
    }
    if (counts.empty()) {
        return userError(
            "There is no array \"" + wanted.array + "\" in blocks; "
            + (names.empty() ? "there is none in this run." : "expected " + orList(names) + "."));
    }
    if (!isAnywhere) {
        return userError("There is no block " + wanted.array + trace::indexText(wanted.index) + "; "
                         + wanted.array + " has " + orList(counts)
                         + " blocks, and they are numbered from 0.");
    }
    BreakTimes times;
    const trace::Copies& copies = trace.copies();
    for (std::size_t row = 0; row < copies.size(); ++row) {
        if (numbers[trace::at(copies.operand[row])] == copies.block[row]) {
            times.push_back(copies.start[row]);
        }
    }
    const trace::Visits& visits = trace.visits();
    for (std::size_t row = 0; row < visits.size(); ++row) {
        if (numbers[trace::at(visits.operand[row])] == visits.block[row]) {
            times.push_back(trace.steps().bodyBegin[trace::at(visits.firstStep[row])]);
        }
    }
    return sortedOnce(std::move(times));
}

// Before an agent has computed anything it always waits: for the first blocks.
BreakTimes firstStall(const Trace& trace)
{
    const trace::Segments& segments = trace.segments();
    std::vector<std::optional<std::int64_t>> begun(trace.info().agents.size());
    for (std::size_t row = 0; row < segments.size(); ++row) {
        std::optional<std::int64_t>& first = begun[trace::at(segments.agent[row])];
        if (!first
            && !trace.info().templates[trace::at(segments.templateId[row])].isBookkeeping()) {
            first = segments.begin[row];
        }
    }
    const trace::Waits& waits = trace.waits();
    for (std::size_t row = 0; row < waits.size(); ++row) { // sorted by begin
        const std::optional<std::int64_t>& first = begun[trace::at(waits.agent[row])];
        if (waits.end[row] > waits.begin[row] && first && *first < waits.begin[row]) {
            return {waits.begin[row]};
        }
    }
    return {};
}

BreakTimes firstFinding(const Trace& trace)
{
    std::optional<std::int64_t> first;
    for (const layout::FindingPlace& place : placesOfFindings(trace)) {
        const auto& known = trace.info().findings[trace::at(place.finding)].time;
        const std::int64_t time = std::min(known.value_or(place.time), trace.end()).value();
        first = std::min(first.value_or(time), time);
    }
    return first ? BreakTimes{*first} : BreakTimes{};
}

struct TimesOf
{
    const Trace& trace;

    Result<BreakTimes> operator()(const breaks::Line& at) const { return runsOfLine(trace, at); }

    Result<BreakTimes> operator()(const breaks::Grid& at) const { return stepsAt(trace, at); }

    Result<BreakTimes> operator()(const breaks::Block& at) const { return usesOf(trace, at); }

    Result<BreakTimes> operator()(const breaks::First& at) const
    {
        switch (at.event) {
        case breaks::Event::Stall:
            return firstStall(trace);
        case breaks::Event::Finding:
            return firstFinding(trace);
        case breaks::Event::Nan:
            return BreakTimes{};
        }
        return BreakTimes{};
    }

    Result<BreakTimes> operator()(const breaks::When& /*at*/) const { return BreakTimes{}; }
};

// The hit at a time that some of the breakpoints have.
BreakHit hitAt(const std::vector<BreakTimes>& stops, std::int64_t time)
{
    BreakHit hit{Picoseconds(time), {}};
    for (std::size_t i = 0; i < stops.size(); ++i) {
        if (std::binary_search(stops[i].begin(), stops[i].end(), time)) {
            hit.breakpoints.push_back(i);
        }
    }
    return hit;
}

} // namespace

Result<BreakTimes> breakTimes(const Trace& trace, const trace::Breakpoint& breakpoint)
{
    return std::visit(TimesOf{trace}, breakpoint);
}

std::vector<trace::StepRow> stepsOf(const Trace& trace, const trace::Breakpoint& breakpoint)
{
    std::vector<trace::StepRow> found;
    if (const auto* wanted = std::get_if<breaks::Grid>(&breakpoint)) {
        const std::vector<std::optional<std::int64_t>> ordinals = ordinalsOf(trace.info(), *wanted);
        const trace::Steps& steps = trace.steps();
        for (std::size_t row = 0; row < steps.size(); ++row) {
            if (ordinals[trace::at(steps.pipeline[row])] == steps.ordinal[row]) {
                found.push_back(trace::StepRow::at(row));
            }
        }
    }
    return found;
}

std::optional<BreakHit> nextHit(const std::vector<BreakTimes>& stops, Picoseconds t)
{
    std::optional<std::int64_t> first;
    for (const BreakTimes& times : stops) {
        if (const auto time = firstAfter(times, t.value())) {
            first = std::min(first.value_or(*time), *time);
        }
    }
    return first ? std::optional(hitAt(stops, *first)) : std::nullopt;
}

std::optional<BreakHit> previousHit(const std::vector<BreakTimes>& stops, Picoseconds t)
{
    std::optional<std::int64_t> last; // none is less than any
    for (const BreakTimes& times : stops) {
        last = std::max(last, lastBefore(times, t.value()));
    }
    return last ? std::optional(hitAt(stops, *last)) : std::nullopt;
}

} // namespace pallascope::navigation
