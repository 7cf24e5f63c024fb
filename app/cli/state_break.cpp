#include "app/cli/state_break.h"

#include "core/base/format.h"
#include "core/study/value_stops.h"
#include "views/navigation/break_stops.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <utility>

namespace pallascope::app {

namespace {

using machine::Replay;
using navigation::BreakTimes;

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

// The stops of one breakpoint, and what tells the moment of one from others at the same time.
struct Stops
{
    BreakTimes times;
    std::vector<study::ValueStop> values; // for each time, of a breakpoint that needs values
    std::set<std::int32_t> operations;    // Operation::id, of a line
    std::set<trace::StepRow> steps;       // of a grid step
};

std::set<std::int32_t> operationsOf(const trace::Info& info, const trace::Breakpoint& breakpoint)
{
    std::set<std::int32_t> found;
    if (const auto line = navigation::lineOf(info, breakpoint)) {
        for (std::size_t id = 0; id < info.operations.size(); ++id) {
            if (info.operations[id].source == *line) {
                found.insert(static_cast<std::int32_t>(id));
            }
        }
    }
    return found;
}

// The stops that the trace tells. They and the times of a run do not depend on its other values.
Status addStopsOfTrace(const RunRequest& request, const std::vector<trace::Breakpoint>& breakpoints,
                       std::vector<Stops>& stops)
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
    const trace::Trace& trace = *run->view->trace;
    for (std::size_t i = 0; i < breakpoints.size(); ++i) {
        Result<BreakTimes> times = navigation::breakTimes(trace, breakpoints[i]);
        if (!times) {
            return times.error();
        }
        const std::vector<trace::StepRow> steps = navigation::stepsOf(trace, breakpoints[i]);
        stops[i] = {std::move(*times),
                    {},
                    operationsOf(trace.info(), breakpoints[i]),
                    {steps.begin(), steps.end()}};
    }
    return Done{};
}

Status addStopsOfValues(Replay& replay, const RunRequest& request,
                        const std::vector<trace::Breakpoint>& breakpoints,
                        std::vector<Stops>& stops)
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
        auto found = study::valueStops(replay, request.fullValues, breakpoints[i],
                                       terminalProgress("searching"));
        if (!found || !*found) {
            return found ? cancelled() : found.error();
        }
        stops[i].times = study::timesOf(**found);
        stops[i].values = std::move(**found);
    }
    return Done{};
}

// The operation with which a condition comes to hold at this time or that has the first NaN; null
// if there is none.
const study::ValueStop* operationAt(const Stops& stops, Picoseconds time)
{
    const auto stop = std::find_if(stops.values.begin(), stops.values.end(),
                                   [&](const study::ValueStop& one) { return one.time == time; });
    return stop == stops.values.end() || !stop->event ? nullptr : &*stop;
}

// A step's body begins when an operation comes next; before that the pipeline works for the step.
bool isThere(const Stops& stops, const Replay::AgentPlace& place)
{
    return place.next
           && (stops.operations.count(*place.next) > 0
               || (place.step && stops.steps.count(*place.step) > 0));
}

// The first moment at which an agent has come to the line or to the grid step at this time, and has
// not gone on: operations that take no time follow at the same time, and other agents may be ahead.
// Returns false if it is cancelled; goes behind all that happens at this time if no agent is seen
// there. `agent` gets the name of the one that is.
Result<bool> moveToArrival(Replay& replay, const Stops& stops, Picoseconds time,
                           const Progress& progress, std::string& agent)
{
    // All that happens at this time is behind the last moment before it.
    Result<bool> moved = replay.seekTime(time - Picoseconds(1), progress);
    while (moved && *moved && !replay.isAtEnd()) {
        bool mayCome = false;
        for (const Replay::AgentPlace& place : replay.places()) {
            if (place.time == time && isThere(stops, place)) {
                agent = place.agent;
                return true;
            }
            mayCome = mayCome || (place.time <= time && !place.isDone && place.waits.empty());
        }
        if (!mayCome) {
            break;
        }
        moved = replay.step(Replay::Unit::Operation, true, progress);
    }
    return moved && *moved ? replay.seekTime(time, progress) : moved;
}

// The earliest moment of those that the breakpoints ask for which stop at this time.
Result<bool> moveToHit(Replay& replay, const std::vector<Stops>& stops,
                       const navigation::BreakHit& hit, const Progress& progress,
                       std::string& agent)
{
    std::optional<std::int64_t> first;
    for (const std::size_t number : hit.breakpoints) {
        Result<bool> moved = true;
        std::string here;
        if (const study::ValueStop* stop = operationAt(stops[number], hit.time)) {
            moved = replay.seek(*stop->event, progress);
            here = replay.places()[static_cast<std::size_t>(stop->agent)].agent;
        } else if (stops[number].operations.empty() && stops[number].steps.empty()) {
            moved = replay.seekTime(hit.time, progress);
        } else {
            moved = moveToArrival(replay, stops[number], hit.time, progress, here);
        }
        if (!moved || !*moved) {
            return moved;
        }
        if (!first || replay.sequence() < *first) {
            first = replay.sequence();
            agent = std::move(here);
        }
    }
    return replay.seek(*first, progress);
}

// From where the run is gone through; a stop at its very start counts.
Result<Picoseconds> beginning(Replay& replay, const StateCommand& command)
{
    if (command.from.empty() && !command.back) {
        return Picoseconds(-1);
    }
    const Result<bool> ran = replay.seek(kEnd, terminalProgress("replaying"));
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
    std::vector<Stops> stops(breakpoints.size());
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
    std::vector<BreakTimes> times;
    for (const Stops& each : stops) {
        times.push_back(each.times);
    }
    StoppedBy stopped;
    std::optional<navigation::BreakHit> hit;
    Picoseconds at = *from;
    while (stopped.stops < command.hit) {
        hit = command.back ? navigation::previousHit(times, at) : navigation::nextHit(times, at);
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
    const Result<bool> moved = hit ? moveToHit(replay, stops, *hit, progress, stopped.agent)
                               : command.back ? replay.seek(0, progress)
                                              : replay.seek(kEnd, progress);
    return !moved ? moved.error() : *moved ? Result<StoppedBy>(std::move(stopped)) : cancelled();
}

std::string stoppedText(const StoppedBy& stopped, const StateCommand& command,
                        bool hasSeveralAgents)
{
    if (!stopped.breakpoints.empty()) {
        const std::string number =
            command.hit == 1 ? "" : fmt::format(", stop {}", countText(stopped.stops));
        const std::string on =
            hasSeveralAgents && !stopped.agent.empty() ? " on " + stopped.agent : "";
        return fmt::format("stopped by {}{}{}", fmt::join(stopped.breakpoints, " and "), on,
                           number);
    }
    const std::string place = command.back ? "start" : "end";
    return stopped.stops == 0
               ? fmt::format("no breakpoint stops the run on the way to its {}", place)
               : fmt::format("there {} only {} on the way to the {} of the run",
                             stopped.stops == 1 ? "is" : "are",
                             counted(stopped.stops, "stop", "stops"), place);
}

} // namespace pallascope::app
