// Going from one line of the source to the next one that is run: class Stops' part about lines.
#include "core/trace/columns.h"
#include "core/trace/lookup.h"
#include "views/navigation/stops.h"
#include "views/navigation/times_of_events.h"

#include <algorithm>

namespace pallascope::navigation {

namespace {

// A line that runs for longer than this many operations is left in their midst.
constexpr int kMostMoments = 50'000;

} // namespace

std::optional<trace::SourceLine> Stops::lineAt(std::int64_t t) const
{
    const Picoseconds time(t);
    trace::SourceLine line;
    if (const auto operation = trace::operationAt(*m_trace, trace::AgentRow{m_agent}, time)) {
        line = m_trace->info().operations[operation->index()].source;
    } else if (const auto wait = trace::waitAt(*m_trace, trace::AgentRow{m_agent}, time)) {
        line = trace::lineOfWait(*m_trace, *wait);
    }
    return line.line > 0 ? std::optional(line) : std::nullopt;
}

std::optional<std::int64_t> Stops::nextMoment(std::int64_t t) const
{
    const auto operation = nextOperation(t), wait = firstAfter(m_waits, t);
    return operation && wait ? std::min(operation, wait) : std::max(operation, wait);
}

std::optional<std::int64_t> Stops::previousMoment(std::int64_t t) const
{
    return std::max(previousOperation(t), lastBefore(m_waits, t)); // none is less than any
}

std::optional<std::int64_t> Stops::nextLine(std::int64_t t) const
{
    std::optional<trace::SourceLine> here = lineAt(t);
    for (std::optional<std::int64_t> back = t; !here && back;) { // between operations
        back = previousMoment(*back);
        here = back ? lineAt(*back) : here;
    }
    std::optional<std::int64_t> moment = nextMoment(t);
    for (int i = 0; i < kMostMoments && moment; ++i) {
        const auto line = lineAt(*moment);
        if (line && line != here) {
            return moment;
        }
        moment = nextMoment(*moment);
    }
    return moment;
}

// The last moment before t at which another line began than had run before.
std::optional<std::int64_t> Stops::previousLine(std::int64_t t) const
{
    std::optional<std::int64_t> found; // the earliest moment known of the line that runs before t
    std::optional<trace::SourceLine> line;
    std::optional<std::int64_t> moment = previousMoment(t);
    for (int i = 0; i < kMostMoments && moment; ++i) {
        const auto here = lineAt(*moment);
        if (here && line && here != line) {
            return found;
        }
        if (here) {
            line = here;
            found = moment;
        }
        moment = previousMoment(*moment);
    }
    return found;
}

} // namespace pallascope::navigation
