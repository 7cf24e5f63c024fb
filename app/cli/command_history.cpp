// Prints the history of one element of a ref: who read and wrote it; or where its NaN comes from.
#include "app/cli/commands.h"
#include "app/cli/non_finite.h"
#include "app/run_job/history_words.h"
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

// Prints rows below a head, with columns as wide as what is in them.
void printTable(const HistoryTable& table, std::size_t most)
{
    const std::size_t shown = std::min(most, table.rows.size());
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        widths.push_back(table.columns[i].size());
        for (std::size_t row = 0; row < shown; ++row) {
            widths[i] = std::max(widths[i], fmt::formatted_size("{}", table.rows[row].cells[i]));
        }
    }
    const auto print = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            line += fmt::format("{:<{}}", cells[i], widths[i] + 2);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        fmt::print("{}\n", line);
    };
    print(table.columns);
    for (std::size_t row = 0; row < shown; ++row) {
        print(table.rows[row].cells);
    }
}

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
    case NanLink::Kind::Edge:
        return "edge";
    case NanLink::Kind::Lost:
        return "lost";
    }
    return "";
}

// ---- JSON ---------------------------------------------------------------------------------------

Json heldJson(const machine::Held& held)
{
    return !held.isDefined             ? Json(nullptr)
           : std::isfinite(held.value) ? Json(held.value)
                                       : Json(nonFiniteName(held.value));
}

Json spotJson(const machine::Spot& spot, const NamedProgram& words)
{
    return spot.ref.index < 0
               ? Json(nullptr)
               : Json{{"ref", words.program.value(spot.ref).name},
                      {"memory", ir::memorySpaceName(*words.program.type(spot.ref).space)},
                      {"index", spot.index}};
}

void addPlace(Json& json, std::int32_t operation, trace::OptionalRow<trace::CopyRow> copy,
              const NamedProgram& words)
{
    if (const auto found = words.operations.find(operation); found != words.operations.end()) {
        json["op"] = ir::opName(found->second->code);
        json["where"] = words.program.where(found->second->location);
    }
    if (copy) {
        json["copy"] = copy->number;
    }
}

Json historyJson(const std::vector<Touch>& touches, const NamedProgram& words)
{
    Json all = Json::array();
    for (const Touch& touch : touches) {
        Json one = {{"what", kindName(touch.kind)},           {"event", touch.event},
                    {"time_ps", touch.time.value()},          {"step", trace::stored(touch.step)},
                    {"element", spotJson(touch.spot, words)}, {"agent", words.agent(touch.on)}};
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
            one["step"] = trace::stored(link.step);
            one["agent"] = words.agent(link.agent);
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
    const HistoryTable table = historyTable(command.element, **found, words, events);
    fmt::print("{}\n", table.title);
    const auto most = static_cast<std::size_t>(command.most);
    printTable(table, most == 0 ? table.rows.size() : most);
    if (most > 0 && table.rows.size() > most) {
        fmt::print("{} older ones; all of them: --most 0, or --json\n",
                   countText(static_cast<std::int64_t>(table.rows.size() - most)));
    }
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
        fmt::print("{} never holds a NaN in the {} events of the run, and nothing undefined is "
                   "written there.\n",
                   command.element, countText(events));
        return kFine;
    }
    const HistoryTable table = nanTable(command.element, **found, words, events);
    fmt::print("{}\n", table.title);
    printTable(table, table.rows.size());
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
    const Result<std::unique_ptr<Replay>> replay = startReplay(*request, sayOnOneLine);
    if (!replay) {
        return complain(replay.error());
    }
    return command.nan ? originOf(**replay, *choice, command)
                       : historyOf(**replay, *choice, command);
}

} // namespace pallascope::app
