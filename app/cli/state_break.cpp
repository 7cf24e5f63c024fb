#include "app/cli/state_break.h"

#include "core/base/format.h"
#include "core/study/value_stops.h"
#include "views/navigation/break_stops.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace pallascope::app {

namespace {

using machine::Replay;
using navigation::BreakTimes;

// The stops that the trace tells. They and the times of a run do not depend on its other values.
Status addStopsOfTrace(const RunRequest& request, const std::vector<trace::Breakpoint>& breakpoints,
                       std::vector<BreakTimes>& stops)
{
    if (std::all_of(breakpoints.begin(), breakpoints.end(), trace::needsValues)) {
        return Done{};
    }
    RunRequest quick = request;
    quick.check = false;
    const bool needsFindings = std::any_of(
        breakpoints.begin(), breakpoints.end(), [](const trace::Breakpoint& breakpoint) {
            const auto* first = std::get_if<trace::breaks::First>(&breakpoint);
            return first != nullptr && first->event == trace::breaks::Event::Finding;
        });
    quick.fullValues = request.fullValues && (needsFindings || !request.inputs.empty());
    const Result<FinishedRun> run = runKernel(quick, terminalProgress("running"));
    if (!run) {
        return run.error();
    }
    for (std::size_t i = 0; i < breakpoints.size(); ++i) {
        Result<BreakTimes> times = navigation::breakTimes(*run->view->trace, breakpoints[i]);
        if (!times) {
            return times.error();
        }
        stops[i] = std::move(*times);
    }
    return Done{};
}

Status addStopsOfValues(Replay& replay, const RunRequest& request,
                        const std::vector<trace::Breakpoint>& breakpoints,
                        std::vector<BreakTimes>& stops)
{
    for (const trace::Breakpoint& breakpoint : breakpoints) { // before any search
        const Status known = trace::needsValues(breakpoint)
                                 ? study::checkValues(replay, request.fullValues, breakpoint)
                                 : Status(Done{});
        if (!known) {
            return known.error();
        }
    }
    for (std::size_t i = 0; i < breakpoints.size(); ++i) {
        if (!trace::needsValues(breakpoints[i])) {
            continue;
        }
        Result<std::optional<BreakTimes>> times = study::valueStops(
            replay, request.fullValues, breakpoints[i], terminalProgress("searching"));
        if (!times || !*times) {
            return times ? cancelled() : times.error();
        }
        stops[i] = std::move(**times);
    }
    return Done{};
}

// From where the run is gone through; a stop at its very start counts.
Result<Picoseconds> beginning(Replay& replay, const StateCommand& command)
{
    if (command.from.empty() && !command.back) {
        return Picoseconds(-1);
    }
    const Result<bool> ran =
        replay.seek(std::numeric_limits<std::int64_t>::max(), terminalProgress("replaying"));
    if (!ran || !*ran) {
        return ran ? cancelled() : ran.error();
    }
    return command.from.empty() ? replay.time() + Picoseconds(1)
                                : parseTime(command.from, replay.time());
}

} // namespace

Result<std::vector<trace::Breakpoint>> parseBreaks(const StateCommand& command)
{
    if (command.hit < 1) {
        return userError(fmt::format("--hit is {}; expected 1 or more.", command.hit));
    }
    std::vector<trace::Breakpoint> breakpoints;
    for (const std::string& text : command.breaks) {
        Result<trace::Breakpoint> breakpoint = trace::parseBreakpoint(text);
        if (!breakpoint) {
            return breakpoint.error();
        }
        breakpoints.push_back(std::move(*breakpoint));
    }
    return breakpoints;
}

Result<StoppedBy> moveToBreak(Replay& replay, const RunRequest& request,
                              const StateCommand& command,
                              const std::vector<trace::Breakpoint>& breakpoints)
{
    std::vector<BreakTimes> stops(breakpoints.size());
    if (const Status found = addStopsOfTrace(request, breakpoints, stops); !found) {
        return found.error();
    }
    if (const Status found = addStopsOfValues(replay, request, breakpoints, stops); !found) {
        return found.error();
    }
    const Result<Picoseconds> from = beginning(replay, command);
    if (!from) {
        return from.error();
    }
    StoppedBy stopped;
    std::optional<navigation::BreakHit> hit;
    Picoseconds at = *from;
    while (stopped.stops < command.hit) {
        hit = command.back ? navigation::previousHit(stops, at) : navigation::nextHit(stops, at);
        if (!hit) {
            break;
        }
        at = hit->time;
        ++stopped.stops;
    }
    if (hit) {
        stopped.time = hit->time;
        for (const std::size_t number : hit->breakpoints) {
            stopped.breakpoints.push_back(trace::textOf(breakpoints[number]));
        }
    }
    const Progress progress = terminalProgress("replaying");
    const Result<bool> moved =
        hit            ? replay.seekTime(hit->time, progress)
        : command.back ? replay.seek(0, progress)
                       : replay.seek(std::numeric_limits<std::int64_t>::max(), progress);
    return !moved ? moved.error() : *moved ? Result<StoppedBy>(std::move(stopped)) : cancelled();
}

std::string stoppedText(const StoppedBy& stopped, const StateCommand& command)
{
    if (!stopped.breakpoints.empty()) {
        const std::string number =
            command.hit == 1 ? "" : fmt::format(", stop {}", countText(stopped.stops));
        return fmt::format("stopped by {}{}", fmt::join(stopped.breakpoints, " and "), number);
    }
    const std::string place = command.back ? "start" : "end";
    return stopped.stops == 0
               ? fmt::format("no breakpoint stops the run on the way to its {}", place)
               : fmt::format("there {} only {} on the way to the {} of the run",
                             stopped.stops == 1 ? "is" : "are",
                             counted(stopped.stops, "stop", "stops"), place);
}

} // namespace pallascope::app
