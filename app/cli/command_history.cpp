// Prints the history of one element of a ref: who read and wrote it; or where its NaN comes from.
#include "app/cli/commands.h"
#include "app/cli/named_program.h"
#include "core/base/format.h"
#include "core/study/element_history.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::app {

namespace {

using Json = nlohmann::ordered_json;
using machine::Replay;
using machine::Touch;
using study::NanLink;

std::string heldText(const machine::Held& held)
{
    return !held.isDefined          ? "undefined"
           : std::isnan(held.value) ? "NaN"
                                    : fmt::format("{:.6g}", held.value);
}

bool writes(const Touch& touch)
{
    return touch.kind == Touch::Kind::Written || touch.kind == Touch::Kind::CopyWritten
           || touch.kind == Touch::Kind::Cleared;
}

// The word for a kind in JSON.
const char* kindName(Touch::Kind kind)
{
    switch (kind) {
    case Touch::Kind::Given:
        return "given";
    case Touch::Kind::Created:
        return "created";
    case Touch::Kind::Shown:
        return "shown";
    case Touch::Kind::Read:
        return "read";
    case Touch::Kind::Written:
        return "written";
    case Touch::Kind::CopyRead:
        return "copied_out";
    case Touch::Kind::CopyWritten:
        return "copied_in";
    case Touch::Kind::Cleared:
        return "cleared";
    case Touch::Kind::Released:
        return "released";
    }
    return "";
}

std::string whatText(const Touch& touch, const NamedProgram& words)
{
    const std::string copy = fmt::format("by copy {}", touch.copy);
    switch (touch.kind) {
    case Touch::Kind::Given:
        return touch.after.isDefined ? "given when the run begins"
                                     : "undefined when the run begins";
    case Touch::Kind::Created:
        return "its memory begins";
    case Touch::Kind::Shown:
        return "a ref shows it from here on";
    case Touch::Kind::Read:
        return "read by " + words.operation(touch.operation);
    case Touch::Kind::Written:
        return "written by " + words.operation(touch.operation);
    case Touch::Kind::CopyRead:
        return "copied to " + (touch.other ? words.otherEnd(touch.otherSpot, touch.spot) + " " : "")
               + copy;
    case Touch::Kind::CopyWritten:
        return touch.other
                   ? "copied from " + words.otherEnd(touch.otherSpot, touch.spot) + " " + copy
                   : "filled with padding " + copy;
    case Touch::Kind::Cleared:
        return "begins another block of an output";
    case Touch::Kind::Released:
        return "its memory ends";
    }
    return "";
}

// ---- tables -------------------------------------------------------------------------------------

using Row = std::vector<std::string>;

// Prints rows below a head, with columns as wide as what is in them; empty columns are left out.
void printTable(const Row& head, const std::vector<Row>& rows)
{
    std::vector<std::size_t> widths(head.size(), 0);
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], fmt::formatted_size("{}", row[i]));
        }
    }
    const auto print = [&](const Row& row) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (widths[i] > 0) {
                line += fmt::format("{:<{}}", row[i], std::max(widths[i], head[i].size()) + 2);
            }
        }
        line.erase(line.find_last_not_of(' ') + 1);
        fmt::print("{}\n", line);
    };
    print(head);
    std::for_each(rows.begin(), rows.end(), print);
}

std::string stepText(std::int32_t step)
{
    return step < 0 ? "" : countText(step);
}

void printHistory(const std::vector<Touch>& touches, const NamedProgram& words, std::size_t most)
{
    std::vector<Row> rows;
    const bool isOfSeveral = std::any_of(touches.begin(), touches.end(), [&](const Touch& touch) {
        return touch.owner != touches.front().owner;
    });
    for (std::size_t i = 0; i < std::min(most, touches.size()); ++i) {
        const Touch& touch = touches[i];
        rows.push_back({timeText(touch.time), stepText(touch.step),
                        isOfSeveral ? words.agent(touch.owner) : "", words.memory(touch.spot),
                        touch.slot < 0 ? "" : std::to_string(touch.slot), whatText(touch, words),
                        writes(touch) ? heldText(touch.before) : "", heldText(touch.after)});
    }
    printTable({"time", "step", "of", "in", "slot", "what", "before", "value"}, rows);
    if (touches.size() > most) {
        fmt::print("{} older ones; all of them: --most 0, or --json\n",
                   countText(static_cast<std::int64_t>(touches.size() - most)));
    }
}

// ---- where a NaN comes from ---------------------------------------------------------------------

const char* linkName(NanLink::Kind kind)
{
    switch (kind) {
    case NanLink::Kind::Stored:
        return "stored";
    case NanLink::Kind::Copied:
        return "copied";
    case NanLink::Kind::Loaded:
        return "loaded";
    case NanLink::Kind::Born:
        return "born";
    case NanLink::Kind::Given:
        return "given";
    case NanLink::Kind::Undefined:
        return "undefined";
    case NanLink::Kind::Lost:
        return "lost";
    }
    return "";
}

std::string linkText(const NanLink& link, const NamedProgram& words)
{
    switch (link.kind) {
    case NanLink::Kind::Stored:
        return "stored by " + words.operation(link.operation);
    case NanLink::Kind::Copied:
        return fmt::format("copied from {} by copy {}", words.otherEnd(link.from, link.spot),
                           link.copy);
    case NanLink::Kind::Loaded:
        return fmt::format("computed from {}, which {} loads", words.spot(link.from),
                           words.operation(link.operation));
    case NanLink::Kind::Born:
        return fmt::format("born: {} makes it of {}", words.operation(link.operation),
                           link.isOfInf ? "operands with Inf, without NaN"
                                        : "operands without NaN");
    case NanLink::Kind::Given:
        return "is in the input";
    case NanLink::Kind::Undefined:
        return "was never written: undefined memory reads as NaN";
    case NanLink::Kind::Lost:
        return "comes from values that cannot be followed further";
    }
    return "";
}

void printOrigin(const std::vector<NanLink>& links, const NamedProgram& words)
{
    std::vector<Row> rows;
    for (const NanLink& link : links) {
        const bool isTimed = link.kind != NanLink::Kind::Lost;
        rows.push_back({isTimed ? timeText(link.time) : "", stepText(link.step),
                        link.spot.ref.index < 0 ? "" : words.spot(link.spot),
                        linkText(link, words)});
    }
    printTable({"time", "step", "element", "its NaN"}, rows);
}

// ---- JSON ---------------------------------------------------------------------------------------

Json heldJson(const machine::Held& held)
{
    return !held.isDefined             ? Json(nullptr)
           : std::isfinite(held.value) ? Json(held.value)
           : std::isnan(held.value)    ? Json("nan")
                                       : Json(held.value > 0 ? "inf" : "-inf");
}

Json spotJson(const machine::Spot& spot, const NamedProgram& words)
{
    return spot.ref.index < 0
               ? Json(nullptr)
               : Json{{"ref", words.program.value(spot.ref).name},
                      {"memory", ir::memorySpaceName(*words.program.type(spot.ref).space)},
                      {"index", spot.index}};
}

void addPlace(Json& json, std::int32_t operation, std::int32_t copy, const NamedProgram& words)
{
    if (const auto found = words.operations.find(operation); found != words.operations.end()) {
        json["op"] = ir::opName(found->second->code);
        json["where"] = words.program.where(found->second->location);
    }
    if (copy >= 0) {
        json["copy"] = copy;
    }
}

Json historyJson(const std::vector<Touch>& touches, const NamedProgram& words)
{
    Json all = Json::array();
    for (const Touch& touch : touches) {
        Json one = {{"what", kindName(touch.kind)},           {"event", touch.event},
                    {"time_ps", touch.time.value()},          {"step", touch.step},
                    {"element", spotJson(touch.spot, words)}, {"agent", words.agent(touch.owner)}};
        if (touch.slot >= 0) {
            one["slot"] = touch.slot;
        }
        addPlace(one, touch.operation, touch.copy, words);
        if (touch.other) {
            one["other_end"] = spotJson(touch.otherSpot, words);
        }
        one["before"] = heldJson(touch.before);
        one["after"] = heldJson(touch.after);
        all.push_back(std::move(one));
    }
    return all;
}

Json originJson(const std::vector<NanLink>& links, const NamedProgram& words)
{
    Json all = Json::array();
    for (const NanLink& link : links) {
        Json one = {{"what", linkName(link.kind)}};
        if (link.kind != NanLink::Kind::Lost) {
            one["event"] = link.event;
            one["time_ps"] = link.time.value();
            one["step"] = link.step;
        }
        if (link.spot.ref.index >= 0) {
            one["element"] = spotJson(link.spot, words);
        }
        if (link.from.ref.index >= 0) {
            one["from"] = spotJson(link.from, words);
        }
        addPlace(one, link.operation, link.copy, words);
        if (link.kind == NanLink::Kind::Born) {
            one["of_inf"] = link.isOfInf;
        }
        all.push_back(std::move(one));
    }
    return all;
}

int historyOf(Replay& replay, const study::ElementChoice& choice, const HistoryCommand& command)
{
    const auto found = study::elementHistory(replay, choice, terminalProgress("replaying"));
    if (!found || !*found) {
        return complain(found ? cancelled() : found.error());
    }
    clearProgress();
    const NamedProgram words(replay);
    const std::int64_t events = replay.sequence() - 1; // the end counts as one
    if (command.json) {
        fmt::print("{}\n", Json{{"element", command.element},
                                {"events", events},
                                {"history", historyJson(**found, words)}}
                               .dump(2));
        return kFine;
    }
    fmt::print("{}, the newest first\n", command.element);
    const auto most = static_cast<std::size_t>(command.most);
    printHistory(**found, words, most == 0 ? (*found)->size() : most);
    fmt::print("All {} events of the run were looked at.\n", countText(events));
    return kFine;
}

int originOf(Replay& replay, const study::ElementChoice& choice, const HistoryCommand& command)
{
    const auto found = study::nanOrigin(replay, choice, terminalProgress("following the NaN"));
    if (!found || !*found) {
        return complain(found ? cancelled() : found.error());
    }
    clearProgress();
    const NamedProgram words(replay);
    const std::int64_t events = replay.sequence() - 1;
    if (command.json) {
        fmt::print("{}\n", Json{{"element", command.element},
                                {"events", events},
                                {"nan", originJson(**found, words)}}
                               .dump(2));
        return kFine;
    }
    if ((*found)->empty()) {
        fmt::print("{} never holds a NaN in the {} events of the run.\n", command.element,
                   countText(events));
        return kFine;
    }
    fmt::print("{}, from its NaN back to where it is born\n", command.element);
    printOrigin(**found, words);
    return kFine;
}

} // namespace

int historyCommand(const HistoryCommand& command)
{
    Result<study::ElementChoice> choice = study::parseElement(command.element);
    if (!choice) {
        return complain(choice.error());
    }
    choice->space = command.space;
    if (command.most < 0) {
        return complain(userError(fmt::format("--most is {}; expected 0 or more.", command.most)));
    }
    const Result<RunRequest> request = requestOf(command.run);
    if (!request) {
        return complain(request.error());
    }
    if (!request->fullValues) {
        return complain(userError("history tells what elements hold, so it computes every number; "
                                  "leave out --values needed."));
    }
    catchInterrupts();
    const Result<std::unique_ptr<Replay>> replay = startReplay(*request);
    if (!replay) {
        return complain(replay.error());
    }
    return command.nan ? originOf(**replay, *choice, command)
                       : historyOf(**replay, *choice, command);
}

} // namespace pallascope::app
