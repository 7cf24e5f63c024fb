#include "views/navigation/stops.h"

#include "core/trace/pipelines.h"

#include <algorithm>

namespace pallascope::navigation {
namespace {

std::vector<std::int64_t> sortedOnce(std::vector<std::int64_t> times)
{
    if (!std::is_sorted(times.begin(), times.end())) { // several links or agents mix their times
        std::sort(times.begin(), times.end());
    }
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

std::optional<std::int64_t> above(const std::vector<std::int64_t>& sorted, std::int64_t t)
{
    const auto it = std::upper_bound(sorted.begin(), sorted.end(), t);
    return it == sorted.end() ? std::nullopt : std::optional(*it);
}

std::optional<std::int64_t> below(const std::vector<std::int64_t>& sorted, std::int64_t t)
{
    const auto it = std::lower_bound(sorted.begin(), sorted.end(), t);
    return it == sorted.begin() ? std::nullopt : std::optional(*(it - 1));
}

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

// Those of the agents that lead: the others begin theirs a moment before or after. A program
// without a grid, or with a single step, goes on by copies, or by what it computes where it copies
// nothing: its next step is never just its end.
std::vector<std::int64_t> stepStops(const trace::Trace& trace)
{
    const trace::LeadingSteps leading(trace);
    if (leading.size() < 2) {
        const bool copies = trace.copies().size() > 0;
        std::vector<std::int64_t> times = copies ? trace.copies().start : trace.segments().begin;
        times.insert(times.end(), trace.steps().begin.begin(), trace.steps().begin.end());
        return times;
    }
    std::vector<std::int64_t> times;
    for (std::size_t number = 0; number < leading.size(); ++number) {
        times.push_back(trace.steps().begin[leading.row(number).index()]);
    }
    return times;
}

} // namespace

Stops::Stops(std::shared_ptr<const trace::Trace> trace)
    : m_trace(std::move(trace))
    , m_steps(sortedOnce(stepStops(*m_trace)))
    , m_copies(sortedOnce(m_trace->copies().start))
    , m_waits(sortedOnce(realWaits(m_trace->waits())))
{}

const std::vector<std::int64_t>& Stops::column(StepUnit unit) const
{
    switch (unit) {
    case StepUnit::Step:
    case StepUnit::Operation:
        return m_steps;
    case StepUnit::Copy:
        return m_copies;
    case StepUnit::Wait:
        return m_waits;
    }
    return m_steps;
}

// An operation becomes current when the one before it retires, so its stop is that time.
std::vector<std::int64_t> Stops::operationStops(std::size_t segment) const
{
    const auto& segments = m_trace->segments();
    const std::int64_t begin = segments.begin[segment];
    const auto& of =
        m_trace->info().templates[static_cast<std::size_t>(segments.templateId[segment])];
    std::vector<std::int64_t> stops{begin};
    for (std::size_t i = 0; i + 1 < of.retire.size(); ++i) {
        stops.push_back(begin + toPicoseconds(of.retire[i], of.clock).value());
    }
    return sortedOnce(std::move(stops));
}

std::optional<std::int64_t> Stops::nextOperation(std::int64_t t) const
{
    const auto& begins = m_trace->segments().begin;
    const auto after = std::upper_bound(begins.begin(), begins.end(), t);
    if (after != begins.begin()) {
        const auto inside =
            above(operationStops(static_cast<std::size_t>(after - begins.begin()) - 1), t);
        if (inside) {
            return inside;
        }
    }
    return after == begins.end() ? std::nullopt : std::optional(*after);
}

std::optional<std::int64_t> Stops::previousOperation(std::int64_t t) const
{
    const auto& begins = m_trace->segments().begin;
    const auto at = std::lower_bound(begins.begin(), begins.end(), t);
    if (at == begins.begin()) {
        return std::nullopt;
    }
    return below(operationStops(static_cast<std::size_t>(at - begins.begin()) - 1), t);
}

std::optional<Picoseconds> Stops::next(StepUnit unit, Picoseconds t) const
{
    const bool operation = unit == StepUnit::Operation;
    const auto stop = operation ? nextOperation(t.value()) : above(column(unit), t.value());
    if (stop) {
        return Picoseconds(*stop);
    }
    return unit == StepUnit::Wait ? std::nullopt : std::optional(m_trace->end());
}

std::optional<Picoseconds> Stops::previous(StepUnit unit, Picoseconds t) const
{
    const bool operation = unit == StepUnit::Operation;
    const auto stop = operation ? previousOperation(t.value()) : below(column(unit), t.value());
    if (stop) {
        return Picoseconds(*stop);
    }
    return unit == StepUnit::Wait ? std::nullopt : std::optional(Picoseconds(0));
}

} // namespace pallascope::navigation
