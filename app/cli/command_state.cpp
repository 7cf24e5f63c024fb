// Prints the state at one moment of a run: where the cores are, what refs hold, which copies are
// under way.
#include "app/cli/commands.h"
#include "app/cli/non_finite.h"
#include "app/cli/ref_choice.h"
#include "app/cli/state_break.h"
#include "app/cli/state_moment.h"
#include "core/base/format.h"
#include "core/base/indexed_name.h"
#include "core/ir/print.h"
#include "core/trace/loop_rounds.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>

namespace pallascope::app {

namespace {

using Json = nlohmann::ordered_json;
using machine::Replay;

constexpr std::size_t kMostShown = 8; // rows and columns of a ref that are printed as text

// The refs of which a choice asks for elements. Without a choice all refs are printed, without
// their elements.
struct Asked
{
    std::optional<RefChoice> choice;
    std::vector<FoundRef> found;
};

struct Numbers
{
    std::int64_t defined = 0, nan = 0;
    double least = 0, largest = 0; // of the defined elements that are not NaN
};

Numbers numbersOf(const Replay::Contents& contents)
{
    Numbers numbers{.least = std::numeric_limits<double>::infinity(),
                    .largest = -std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < contents.defined.size(); ++i) {
        if (contents.defined[i] == 0) {
            continue;
        }
        const double value = contents.elements.at(static_cast<std::int64_t>(i));
        ++numbers.defined;
        numbers.nan += std::isnan(value) ? 1 : 0;
        numbers.least = std::min(numbers.least, value);
        numbers.largest = std::max(numbers.largest, value);
    }
    return numbers;
}

Json elementJson(const Replay::Contents& contents, std::size_t element)
{
    const double value = contents.elements.at(static_cast<std::int64_t>(element));
    if (contents.defined[element] == 0) {
        return nullptr;
    }
    return std::isfinite(value) ? Json(value) : Json(nonFiniteName(value));
}

// One ref of a core; if it was asked for, with all its elements or with the one that was asked for.
Json refJson(Replay& replay, Picoseconds time, std::size_t agent, ir::ValueId id,
             const RefChoice* asked)
{
    const ir::Value& value = replay.program().value(id);
    if (!replay.computes(id)) { // nothing that is not known is shown as a number
        return {{"name", value.name},
                {"memory", ir::memorySpaceName(*value.type.space)},
                {"dtype", dtypeName(value.type.dtype)},
                {"shape", value.type.shape.extents()},
                {"known", false}};
    }
    const Replay::Contents contents = replay.contents(agent, id, time);
    const Numbers numbers = numbersOf(contents);
    Json json = {{"name", value.name},
                 {"memory", ir::memorySpaceName(*value.type.space)},
                 {"dtype", dtypeName(value.type.dtype)},
                 {"shape", contents.elements.shape.extents()},
                 {"defined", numbers.defined},
                 {"nan", numbers.nan}};
    if (numbers.defined > numbers.nan) {
        json["least"] = numbers.least;
        json["largest"] = numbers.largest;
    }
    if (asked != nullptr && asked->element) {
        const auto number = static_cast<std::size_t>(
            rowMajorNumber(contents.elements.shape.extents(), *asked->element).value());
        json["element"] = {{"index", *asked->element}, {"value", elementJson(contents, number)}};
    } else if (asked != nullptr) {
        json["elements"] = Json::array();
        for (std::size_t i = 0; i < contents.defined.size(); ++i) {
            json["elements"].push_back(elementJson(contents, i));
        }
    }
    return json;
}

// The round of each loop that has begun last, and how many have begun so far.
Json roundsJson(const Replay& replay)
{
    Json json = Json::array();
    for (std::size_t loop = 0; loop < replay.loops().size(); ++loop) {
        const auto number = static_cast<std::int32_t>(loop);
        if (const std::int64_t begun = replay.begunRounds(number); begun > 0) {
            json.push_back(
                {{"loop", trace::loopName(replay.loops(), number)}, {"round", begun - 1}});
        }
    }
    return json;
}

// What the L2 of each device holds; empty where there is none.
Json cachesJson(const Replay& replay)
{
    Json json = Json::array();
    for (const Replay::Cache& cache : replay.caches()) {
        json.push_back({{"name", cache.name},
                        {"capacity_bytes", cache.capacity.value()},
                        {"held_bytes", cache.held.value()},
                        {"arrays", Json::array()}});
        for (const Replay::CachedArray& array : cache.arrays) {
            json.back()["arrays"].push_back({{"name", array.name},
                                             {"array_bytes", array.array.value()},
                                             {"held_bytes", array.held.value()},
                                             {"hit_bytes", array.hit.value()},
                                             {"miss_bytes", array.missed.value()}});
        }
    }
    return json;
}

// Agents whose events go beyond a time, the furthest first: what they have done until then shows.
Json aheadJson(const std::vector<Replay::AgentPlace>& places, Picoseconds time)
{
    std::vector<Replay::AgentPlace> ahead = places;
    std::erase_if(ahead, [&](const Replay::AgentPlace& place) { return place.time <= time; });
    std::stable_sort(ahead.begin(), ahead.end(),
                     [](const auto& a, const auto& b) { return a.time > b.time; });
    Json json = Json::array();
    for (const Replay::AgentPlace& place : ahead) {
        json.push_back({{"agent", place.agent}, {"time_ps", place.time.value()}});
    }
    return json;
}

// At the moment of the replay or, if that is later, at a time before the next event.
Json stateJson(Replay& replay, Picoseconds stop, const Asked& asked)
{
    const Picoseconds time = std::max(replay.time(), stop);
    std::map<std::int32_t, std::string> lines;
    for (const ir::PrintedLine& line : ir::print(replay.program())) {
        lines[line.operation] = line.text.substr(line.text.find_first_not_of(' '));
    }
    Json json = {{"event", replay.sequence()},        {"time_ps", time.value()},
                 {"at_end", replay.isAtEnd()},        {"agents", Json::array()},
                 {"copies_in_flight", Json::array()}, {"semaphores", Json::array()}};
    const std::vector<Replay::AgentPlace> places = replay.places();
    json["ahead"] = aheadJson(places, time);
    for (std::size_t agent = 0; agent < places.size(); ++agent) {
        const Replay::AgentPlace& place = places[agent];
        Json one = {{"agent", place.agent},
                    {"time_ps", place.time.value()},
                    {"step", trace::stored(place.step)},
                    {"next", place.next ? Json(lines[*place.next]) : Json(nullptr)},
                    {"waits_for", place.waits.empty() ? Json(nullptr) : Json(place.waits)},
                    {"done", place.isDone},
                    {"refs", Json::array()}};
        if (place.block) {
            one["block"] = *place.block;
        }
        for (const ir::ValueId id : place.refs) {
            const bool isAsked =
                std::any_of(asked.found.begin(), asked.found.end(), [&](const FoundRef& ref) {
                    return ref.agent == agent && ref.id == id;
                });
            if (!asked.choice || isAsked) {
                one["refs"].push_back(
                    refJson(replay, time, agent, id, asked.choice ? &*asked.choice : nullptr));
            }
        }
        json["agents"].push_back(std::move(one));
    }
    json["rounds"] = roundsJson(replay);
    for (const Replay::InFlight& copy : replay.inFlight()) {
        if (copy.end <= time) {
            continue;
        }
        json["copies_in_flight"].push_back({{"copy", copy.copy.number},
                                            {"what", copy.what},
                                            {"start_ps", copy.start.value()},
                                            {"end_ps", copy.end.value()}});
    }
    for (const Replay::SemaphoreCount& semaphore : replay.semaphores()) {
        json["semaphores"].push_back(
            {{"name", semaphore.name}, {"agent", semaphore.agent}, {"count", semaphore.count}});
        if (semaphore.countsBytes) {
            json["semaphores"].back()["counts"] = "bytes";
        }
        if (semaphore.phases) {
            json["semaphores"].back()["phases"] = *semaphore.phases;
            json["semaphores"].back()["arrivals_of_phase"] = semaphore.needed;
        }
    }
    if (Json caches = cachesJson(replay); !caches.empty()) {
        json["l2"] = std::move(caches);
    }
    return json;
}

std::string elementText(const Json& element)
{
    return element.is_null()     ? "undefined"
           : element.is_string() ? element.get<std::string>()
                                 : fmt::format("{:.6g}", element.get<double>());
}

// Prints the corner of a ref: the first rows and columns of its last two axes.
void printElements(const Json& ref)
{
    const auto shape = ref["shape"].get<std::vector<std::size_t>>();
    const std::size_t columns = shape.empty() ? 1 : shape.back();
    const std::size_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
    for (std::size_t row = 0; row < std::min(rows, kMostShown); ++row) {
        fmt::print("     ");
        for (std::size_t column = 0; column < std::min(columns, kMostShown); ++column) {
            fmt::print(" {:>10}", elementText(ref["elements"][row * columns + column]));
        }
        fmt::print("{}\n", columns > kMostShown ? "  \u2026" : "");
    }
    if (ref["elements"].size() > std::min(rows, kMostShown) * columns) {
        fmt::print("      \u2026 of {} elements; all of them: --json\n",
                   countText(static_cast<std::int64_t>(ref["elements"].size())));
    }
}

void printRef(const Json& ref)
{
    if (ref.contains("known")) {
        fmt::print("    {:<12} {:<5} {}[{}]  not known: values are only needed ones\n",
                   ref["name"].get<std::string>(), ref["memory"].get<std::string>(),
                   ref["dtype"].get<std::string>(),
                   join(ref["shape"].get<std::vector<std::int64_t>>(), ","));
        return;
    }
    const std::int64_t defined = ref["defined"], nan = ref["nan"];
    std::int64_t all = 1;
    for (const std::int64_t extent : ref["shape"]) {
        all *= extent;
    }
    fmt::print("    {:<12} {:<5} {}[{}]  {}", ref["name"].get<std::string>(),
               ref["memory"].get<std::string>(), ref["dtype"].get<std::string>(),
               join(ref["shape"].get<std::vector<std::int64_t>>(), ","),
               defined == all ? "all defined"
               : defined == 0
                   ? "undefined"
                   : fmt::format("{} of {} defined", countText(defined), countText(all)));
    if (ref.contains("least")) {
        fmt::print(", {:.6g} to {:.6g}", ref["least"].get<double>(), ref["largest"].get<double>());
    }
    fmt::print("{}\n", nan > 0 ? fmt::format(", {} NaN", countText(nan)) : "");
    if (ref.contains("elements") && defined > 0) {
        printElements(ref);
    } else if (ref.contains("element")) {
        fmt::print("      {}[{}] = {}\n", ref["name"].get<std::string>(),
                   join(ref["element"]["index"].get<std::vector<std::int64_t>>(), ","),
                   elementText(ref["element"]["value"]));
    }
}

void printCaches(const Json& caches)
{
    const auto bytes = [](const Json& json) { return Bytes(json.get<std::int64_t>()); };
    for (const Json& cache : caches) {
        fmt::print("  {} holds {} of {}\n", cache["name"].get<std::string>(),
                   bytesText(bytes(cache["held_bytes"])),
                   bytesText(bytes(cache["capacity_bytes"])));
        for (const Json& array : cache["arrays"]) {
            const Bytes held = bytes(array["held_bytes"]), hit = bytes(array["hit_bytes"]),
                        missed = bytes(array["miss_bytes"]);
            const Bytes all = std::max(bytes(array["array_bytes"]), Bytes(1));
            fmt::print("    {:<12} {}, {} of the array", array["name"].get<std::string>(),
                       bytesText(held), percentText(ratio(held, all), 1));
            if (hit + missed > Bytes(0)) {
                fmt::print("; of reads asked for so far {} from L2, {} from HBM", bytesText(hit),
                           bytesText(missed));
            }
            fmt::print("\n");
        }
    }
}

bool hasPipelines(const ir::Program& program)
{
    bool found = false;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        found = found || operation.code == ir::OpCode::Pipeline;
    });
    return found;
}

void printAhead(const Json& ahead)
{
    const std::string name = ahead[0]["agent"];
    const std::string to = timeText(Picoseconds(ahead[0]["time_ps"].get<std::int64_t>()));
    if (ahead.size() == 1) {
        fmt::print("  {} has run ahead, to {}: what it has done by then shows\n", name, to);
    } else {
        fmt::print("  {} agents have run ahead, {} furthest, to {}: what they have done shows\n",
                   countText(static_cast<std::int64_t>(ahead.size())), name, to);
    }
}

void printState(const Json& state, bool hasPipelines)
{
    const auto time = [](const Json& ps) { return timeText(Picoseconds(ps.get<std::int64_t>())); };
    fmt::print("event {} at {}{}\n", countText(state["event"].get<std::int64_t>()),
               time(state["time_ps"]), state["at_end"].get<bool>() ? ", the end" : "");
    if (!state["ahead"].empty()) {
        printAhead(state["ahead"]);
    }
    for (const Json& round : state["rounds"]) {
        fmt::print("  round {} of {}\n", countText(round["round"].get<std::int64_t>()),
                   round["loop"].get<std::string>());
    }
    if (state.contains("l2")) {
        printCaches(state["l2"]);
    }
    for (const Json& agent : state["agents"]) {
        const std::int64_t step = agent["step"];
        fmt::print("  {}{}{}: {}\n", agent["agent"].get<std::string>(),
                   step < 0 ? "" : fmt::format(", step {}", countText(step)),
                   agent.contains("block")
                       ? fmt::format(", block {}", countText(agent["block"].get<std::int64_t>()))
                       : "",
                   agent["done"].get<bool>() ? "done"
                   : !agent["waits_for"].is_null()
                       ? "waits for " + agent["waits_for"].get<std::string>()
                   : agent["next"].is_null() ? hasPipelines ? "the pipeline's own work comes next"
                                                            : "between operations of the program"
                                             : "next " + agent["next"].get<std::string>());
        for (const Json& ref : agent["refs"]) {
            printRef(ref);
        }
    }
    for (const Json& copy : state["copies_in_flight"]) {
        fmt::print("  copy {}, {}: {} from {} to {}\n", copy["copy"].get<std::int64_t>(),
                   copy["what"].get<std::string>(),
                   copy["start_ps"] > state["time_ps"] ? "queued, moves" : "in flight",
                   time(copy["start_ps"]), time(copy["end_ps"]));
    }
    for (const Json& semaphore : state["semaphores"]) {
        if (semaphore.contains("phases")) {
            fmt::print("  barrier {} of {}: {} complete, {} of {} arrived\n",
                       semaphore["name"].get<std::string>(), semaphore["agent"].get<std::string>(),
                       counted(semaphore["phases"].get<std::int64_t>(), "phase", "phases"),
                       countText(semaphore["count"].get<std::int64_t>()),
                       countText(semaphore["arrivals_of_phase"].get<std::int64_t>()));
        } else if (semaphore["count"] != 0) {
            fmt::print("  semaphore {} of {}: {}\n", semaphore["name"].get<std::string>(),
                       semaphore["agent"].get<std::string>(),
                       semaphore.contains("counts")
                           ? bytesText(Bytes(semaphore["count"].get<std::int64_t>()))
                           : countText(semaphore["count"].get<std::int64_t>()));
        }
    }
}

Result<Asked> whatIsAsked(const Replay& replay, const StateCommand& command)
{
    if (command.ref.empty()) {
        return Asked{};
    }
    const Result<RefChoice> choice = chooseRef(replay, command.ref);
    if (!choice) {
        return choice.error();
    }
    Asked asked{*choice, findRefs(replay, choice->name, command.space, command.agent)};
    if (asked.found.empty()) {
        return noSuchRef(replay, choice->name, command.space, command.agent);
    }
    const Status exists = checkElement(replay, asked.found.back(), *choice);
    std::erase_if(asked.found,
                  [&](const FoundRef& ref) { return !checkElement(replay, ref, *choice); });
    return asked.found.empty() ? Result<Asked>(exists.error()) : Result<Asked>(std::move(asked));
}

// Says what stopped the run where breakpoints are asked for.
Result<std::optional<StoppedBy>> move(Replay& replay, const RunRequest& request,
                                      const StateCommand& command,
                                      const std::vector<trace::Breakpoint>& breaks,
                                      Picoseconds& time)
{
    if (!breaks.empty()) {
        const Result<StoppedBy> stopped = moveToBreak(replay, request, command, breaks);
        if (!stopped) {
            return stopped.error();
        }
        time = stopped->time;
        return std::optional(*stopped);
    }
    Moment moment;
    const Result<bool> moved = moveTo(replay, command, terminalProgress("replaying"), moment);
    if (!moved || !*moved) {
        return moved ? cancelled() : moved.error();
    }
    const Status exists = checkMoment(replay, command, moment.loop);
    time = moment.time;
    return exists ? Result<std::optional<StoppedBy>>(std::optional<StoppedBy>()) : exists.error();
}

} // namespace

int stateCommand(const StateCommand& command)
{
    const Result<RunRequest> request = requestOf(command.run);
    if (!request) {
        return complain(request.error());
    }
    if (const Status drawn = command.heat.file.empty() ? Status(Done{}) : checkScene(command.heat);
        !drawn) {
        return complain(drawn.error());
    }
    const Result<std::vector<trace::Breakpoint>> breaks = parseBreaks(command);
    if (!breaks) {
        return complain(breaks.error());
    }
    catchInterrupts();
    const Result<std::unique_ptr<Replay>> replay = startReplay(*request, sayOnOneLine);
    if (!replay) {
        return complain(replay.error());
    }
    Picoseconds time; // that is asked for; the last event may be earlier
    const Result<std::optional<StoppedBy>> stopped =
        move(**replay, *request, command, *breaks, time);
    if (!stopped) {
        return complain(stopped.error());
    }
    const Result<Asked> asked = whatIsAsked(**replay, command);
    if (!asked) {
        return complain(asked.error());
    }
    if (!command.heat.file.empty()) {
        if (const Status written =
                writeHeat(**replay, asked->found.back(), *asked->choice, command);
            !written) {
            return complain(written.error());
        }
    }
    Json state = stateJson(**replay, time, *asked);
    clearProgress();
    if (*stopped) {
        state["stopped_by"] = (**stopped).breakpoints;
        state["stops"] = (**stopped).stops;
        const std::string& agent = (**stopped).agent;
        state["stopped_agent"] = agent.empty() ? Json(nullptr) : Json(agent);
    }
    if (command.json) {
        fmt::print("{}\n", state.dump(2));
    } else {
        if (*stopped) {
            fmt::print("{}\n", stoppedText(**stopped, command, state["agents"].size() > 1));
        }
        printState(state, hasPipelines((**replay).program()));
    }
    return *stopped && (**stopped).breakpoints.empty() ? kFindings : kFine;
}

} // namespace pallascope::app
