#include "views/navigation/stops.h"

#include "core/trace/agents.h"
#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"
#include "core/trace/pipelines.h"
#include "views/navigation/times_of_events.h"

#include <algorithm>
#include <utility>

namespace pallascope::navigation {
namespace {

std::vector<std::int64_t> realWaits(const trace::Waits& waits)
{
    std::vector<std::int64_t> times;
    for (std::size_t i = 0; i < waits.size(); ++i) {
        if (waits.end[i] > waits.begin[i]) {
            times.push_back(waits.begin[i]);
        }
    }
    return times;
}

// Those of the agents that lead: the others begin theirs a moment before or after. None where there
// are less than two: then they are nothing to go by.
std::vector<std::int64_t> stepStops(const trace::Trace& trace)
{
    const trace::LeadingSteps leading(trace);
    std::vector<std::int64_t> times;
    for (std::size_t number = 0; leading.size() > 1 && number < leading.size(); ++number) {
        times.push_back(trace.steps().begin[leading.row(number).index()]);
    }
    return times;
}

// Without a grid, or with a single step, a program goes on by copies, or by what it computes where
// it copies nothing: its next step is never just its end.
std::vector<std::int64_t> copyOrSegmentStops(const trace::Trace& trace)
{
    std::vector<std::int64_t> times =
        trace.copies().size() > 0 ? trace.copies().start : trace.segments().begin;
    times.insert(times.end(), trace.steps().begin.begin(), trace.steps().begin.end());
    return times;
}

// The same of the SM of an agent alone: a hundred others do the same beside it, each a moment
// before or after. Of a trace without SMs, all of them.
std::vector<std::int64_t> ownStops(const trace::Trace& trace, std::int32_t agent)
{
    const std::vector<std::int32_t> smOf = trace::agentsOf(trace).smOf;
    if (smOf.empty()) {
        return copyOrSegmentStops(trace);
    }
    const auto isHere = [&](std::int32_t other) {
        return smOf[trace::at(other)] == smOf[trace::at(agent)];
    };
    std::vector<std::int64_t> times;
    const trace::CopyEnds& ends = trace.copyEnds();
    for (std::size_t end = 0; end < ends.size(); ++end) {
        if (isHere(ends.agent[end])) {
            const std::size_t copy = trace::copyOf(trace, trace::EndRow::at(end)).index();
            times.push_back(trace.copies().start[copy]);
        }
    }
    const bool copies = !times.empty();
    for (std::size_t row = 0; row < trace.segments().size(); ++row) {
        if (!copies && isHere(trace.segments().agent[row])) {
            times.push_back(trace.segments().begin[row]);
        }
    }
    for (std::size_t row = 0; row < trace.steps().size(); ++row) {
        if (isHere(trace.info().pipelines[trace::at(trace.steps().pipeline[row])].agent)) {
            times.push_back(trace.steps().begin[row]);
        }
    }
    return times;
}

// Where the rounds of the chosen loops begin, where a loop ends, and outside of the loops the other
// stops, so that no part of the run is jumped over.
std::vector<std::int64_t> roundStops(const trace::Trace& trace, const trace::LoopRounds& loops,
                                     std::int32_t marked, const std::vector<std::int64_t>& outside)
{
    const trace::Rounds& rounds = trace.rounds();
    std::vector<std::int64_t> times;
    std::vector<std::pair<std::int64_t, std::int64_t>> covered; // by one entry into a loop
    for (const std::int32_t loop : loops.chosen(marked)) {
        for (std::size_t number = 0; number < loops.size(loop); ++number) {
            const std::size_t row = loops.row(loop, number).index();
            if (rounds.round[row] == 0) {
                covered.emplace_back(rounds.begin[row], rounds.end[row]);
            }
            covered.back().second = rounds.end[row];
            times.push_back(rounds.begin[row]);
        }
    }
    if (times.empty()) {
        return {};
    }
    std::sort(covered.begin(), covered.end());
    for (const auto& [begin, end] : covered) {
        times.push_back(end);
    }
    std::int64_t reached = -1; // by the entries that have begun by then
    auto entry = covered.begin();
    for (const std::int64_t time : outside) {
        for (; entry != covered.end() && entry->first <= time; ++entry) {
            reached = std::max(reached, entry->second);
        }
        if (time >= reached) {
            times.push_back(time);
        }
    }
    return times;
}

// The agent whose loops or steps lead.
std::int32_t leadingAgent(const trace::Trace& trace, const trace::LoopRounds& loops)
{
    if (const trace::LeadingSteps leading(trace); leading.size() > 0) {
        const std::int32_t pipeline = trace.steps().pipeline[leading.row(0).index()];
        return trace.info().pipelines[trace::at(pipeline)].agent;
    }
    return loops.outermost().empty() ? 0 : loops.agent(loops.outermost().front());
}

} // namespace

Stops::Stops(std::shared_ptr<const trace::Trace> trace)
    : m_trace(std::move(trace))
    , m_loops(*m_trace)
    , m_steps(sortedOnce(stepStops(*m_trace)))
    , m_copies(sortedOnce(m_trace->copies().start))
    , m_waits(sortedOnce(realWaits(m_trace->waits())))
    , m_agent(leadingAgent(*m_trace, m_loops))
{
    if (!hasSteps()) {
        m_goesOn = sortedOnce(ownStops(*m_trace, m_agent));
    }
    mark(trace::kNone);
}

bool Stops::hasSteps() const
{
    return !m_steps.empty();
}

void Stops::mark(std::int32_t loop)
{
    m_rounds = sortedOnce(roundStops(*m_trace, m_loops, loop, hasSteps() ? m_steps : m_goesOn));
}

std::vector<StepUnit> Stops::units() const
{
    std::vector<StepUnit> units;
    const auto offer = [&](StepUnit unit, bool isThere) {
        if (isThere) {
            units.push_back(unit);
        }
    };
    const auto& operations = m_trace->info().operations;
    offer(StepUnit::Step, hasSteps());
    offer(StepUnit::Round, !m_loops.outermost().empty());
    offer(StepUnit::Operation, true);
    offer(StepUnit::Copy, !m_copies.empty());
    offer(StepUnit::Event, true);
    offer(StepUnit::Wait, !m_waits.empty());
    offer(StepUnit::Line, std::any_of(operations.begin(), operations.end(),
                                      [](const auto& one) { return one.source.line > 0; }));
    return units;
}

StepUnit Stops::ownUnit() const
{
    return hasSteps()                     ? StepUnit::Step
           : !m_loops.outermost().empty() ? StepUnit::Round
           : !m_copies.empty()            ? StepUnit::Copy
                                          : StepUnit::Operation;
}

// An operation becomes current when the one before it retires, so its stop is that time.
Stops::Times Stops::operationStops(std::size_t segment) const
{
    const auto& segments = m_trace->segments();
    const std::int64_t begin = segments.begin[segment];
    const auto& of = m_trace->info().templates[trace::at(segments.templateId[segment])];
    Times stops{begin};
    for (std::size_t i = 0; i + 1 < of.retire.size(); ++i) {
        stops.push_back(begin + toPicoseconds(of.retire[i], of.clock).value());
    }
    return sortedOnce(std::move(stops));
}

std::optional<std::int64_t> Stops::nextOperation(std::int64_t t) const
{
    const auto& begins = m_trace->segments().begin;
    const auto later = std::upper_bound(begins.begin(), begins.end(), t);
    if (later != begins.begin()) {
        const auto inside = firstAfter(operationStops(trace::at(later - begins.begin()) - 1), t);
        // Another agent's segment may begin before.
        if (inside && (later == begins.end() || *inside < *later)) {
            return inside;
        }
    }
    return later == begins.end() ? std::nullopt : std::optional(*later);
}

std::optional<std::int64_t> Stops::previousOperation(std::int64_t t) const
{
    const auto& begins = m_trace->segments().begin;
    const auto at = std::lower_bound(begins.begin(), begins.end(), t);
    if (at == begins.begin()) {
        return std::nullopt;
    }
    return lastBefore(operationStops(trace::at(at - begins.begin()) - 1), t);
}

const Stops::Times& Stops::rounds() const
{
    return !m_rounds.empty() ? m_rounds : hasSteps() ? m_steps : m_goesOn;
}

const Stops::Times& Stops::events() const
{
    if (m_events.empty()) {
        m_events = timesOfEvents(*m_trace);
    }
    return m_events;
}

std::optional<std::int64_t> Stops::after(StepUnit unit, std::int64_t t) const
{
    switch (unit) {
    case StepUnit::Step:
        return firstAfter(hasSteps() ? m_steps : rounds(), t);
    case StepUnit::Round:
        return firstAfter(rounds(), t);
    case StepUnit::Operation:
        return nextOperation(t);
    case StepUnit::Copy:
        return firstAfter(m_copies, t);
    case StepUnit::Event:
        return firstAfter(events(), t);
    case StepUnit::Wait:
        return firstAfter(m_waits, t);
    case StepUnit::Line:
        return nextLine(t);
    }
    return std::nullopt;
}

std::optional<std::int64_t> Stops::before(StepUnit unit, std::int64_t t) const
{
    switch (unit) {
    case StepUnit::Step:
        return lastBefore(hasSteps() ? m_steps : rounds(), t);
    case StepUnit::Round:
        return lastBefore(rounds(), t);
    case StepUnit::Operation:
        return previousOperation(t);
    case StepUnit::Copy:
        return lastBefore(m_copies, t);
    case StepUnit::Event:
        return lastBefore(events(), t);
    case StepUnit::Wait:
        return lastBefore(m_waits, t);
    case StepUnit::Line:
        return previousLine(t);
    }
    return std::nullopt;
}

std::optional<Picoseconds> Stops::next(StepUnit unit, Picoseconds t) const
{
    if (const auto stop = after(unit, t.value())) {
        return Picoseconds(*stop);
    }
    return unit == StepUnit::Wait ? std::nullopt : std::optional(m_trace->end());
}

std::optional<Picoseconds> Stops::previous(StepUnit unit, Picoseconds t) const
{
    if (const auto stop = before(unit, t.value())) {
        return Picoseconds(*stop);
    }
    return unit == StepUnit::Wait ? std::nullopt : std::optional(Picoseconds(0));
}

} // namespace pallascope::navigation
