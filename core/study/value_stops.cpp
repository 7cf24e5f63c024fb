#include "core/study/value_stops.h"

#include "core/base/check.h"
#include "core/study/element_choice.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pallascope::study {

namespace {

namespace breaks = trace::breaks;
using machine::Replay;
using machine::Touch;
using Stops = std::vector<ValueStop>;

Result<machine::Watched> watchedOf(const ir::Program& program, const breaks::When& wanted)
{
    return watchedOf(program, ElementChoice{wanted.ref, wanted.index, ""});
}

bool isFulfilled(const breaks::When& wanted, const machine::Held& held)
{
    if (!held.isDefined) {
        return false;
    }
    // Two NaNs count as equal, so that a condition can ask for them.
    const bool areNan = std::isnan(held.value) && std::isnan(wanted.value);
    return areNan ? compared(0, wanted.comparator, 0)
                  : compared(held.value, wanted.comparator, wanted.value);
}

bool changes(Touch::Kind kind)
{
    switch (kind) {
    case Touch::Kind::Given:
    case Touch::Kind::Created:
    case Touch::Kind::Written:
    case Touch::Kind::CopyWritten:
    case Touch::Kind::Cleared:
    case Touch::Kind::Released:
    case Touch::Kind::Shown:
        return true;
    case Touch::Kind::Read:
    case Touch::Kind::CopyRead:
        return false;
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

Stops whereItComesToHold(const breaks::When& wanted, const std::vector<Touch>& touches)
{
    Stops stops;
    std::map<machine::Cell, bool> holds; // now
    for (const Touch& touch : touches) {
        if (!changes(touch.kind)) {
            continue;
        }
        bool& before = holds[touch.cell];
        const bool now = touch.kind != Touch::Kind::Released && isFulfilled(wanted, touch.after);
        if (now && !before) {
            stops.push_back(touch.kind == Touch::Kind::Written
                                ? ValueStop{touch.time, touch.event, touch.agent}
                                : ValueStop{touch.time, std::nullopt});
        }
        before = now;
    }
    return stops;
}

// The first one that an operation makes of operands without any, or that one loads.
Result<std::optional<Stops>> firstNan(Replay& replay, const Replay::Proceed& proceed)
{
    const Result<std::optional<machine::Touches>> found = replay.watch({.nans = true}, proceed);
    if (!found) {
        return found.error();
    }
    if (!*found) {
        return std::optional<Stops>();
    }
    const auto& births = (*found)->births;
    const auto& loads = (*found)->loads;
    const bool isBornFirst =
        !births.empty() && (loads.empty() || births.front().event <= loads.front().event);
    if (isBornFirst) {
        return std::optional(
            Stops{{births.front().time, births.front().event, births.front().agent}});
    }
    return std::optional(
        loads.empty() ? Stops{}
                      : Stops{{loads.front().time, loads.front().event, loads.front().agent}});
}

Error notKnown(const std::string& what)
{
    return userError(what
                     + " is not known: the run computes only the values that decide its time; "
                       "expected a run with full values.");
}

} // namespace

Status checkValues(const Replay& replay, bool fullValues, const trace::Breakpoint& breakpoint)
{
    const auto* wanted = std::get_if<breaks::When>(&breakpoint);
    if (wanted == nullptr) {
        return fullValues ? Status(Done{}) : notKnown("The first NaN");
    }
    const Result<machine::Watched> watched = watchedOf(replay.program(), *wanted);
    if (!watched) {
        return watched.error();
    }
    const bool isKnown =
        std::all_of(watched->elements.begin(), watched->elements.end(),
                    [&](const auto& element) { return replay.computes(element.ref); });
    return isKnown ? Status(Done{}) : notKnown("What " + wanted->ref + " holds");
}

Result<std::optional<Stops>> valueStops(Replay& replay, bool fullValues,
                                        const trace::Breakpoint& breakpoint,
                                        const Replay::Proceed& proceed)
{
    PALLASCOPE_CHECK(trace::needsValues(breakpoint));
    if (const Status known = checkValues(replay, fullValues, breakpoint); !known) {
        return known.error();
    }
    const auto* wanted = std::get_if<breaks::When>(&breakpoint);
    if (wanted == nullptr) {
        return firstNan(replay, proceed);
    }
    Result<machine::Watched> watched = watchedOf(replay.program(), *wanted);
    PALLASCOPE_CHECK(watched.has_value()); // checkValues has found it
    const Result<std::optional<machine::Touches>> found =
        replay.watch(std::move(*watched), proceed);
    if (!found) {
        return found.error();
    }
    if (!*found) {
        return std::optional<Stops>();
    }
    Stops stops = whereItComesToHold(*wanted, (*found)->all); // in the order of their events
    std::stable_sort(stops.begin(), stops.end(),
                     [](const ValueStop& a, const ValueStop& b) { return a.time < b.time; });
    const auto end =
        std::unique(stops.begin(), stops.end(),
                    [](const ValueStop& a, const ValueStop& b) { return a.time == b.time; });
    stops.erase(end, stops.end());
    return std::optional(std::move(stops));
}

std::vector<std::int64_t> timesOf(const std::vector<ValueStop>& stops)
{
    std::vector<std::int64_t> times;
    for (const ValueStop& stop : stops) {
        times.push_back(stop.time.value());
    }
    return times;
}

} // namespace pallascope::study
