#include "app/run_job/history_words.h"

#include "core/base/format.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace pallascope::app {

namespace {

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

std::string whatText(const Touch& touch, const NamedProgram& words)
{
    const std::string copy = fmt::format("by copy {}", trace::stored(touch.copy));
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
        return touch.operation < 0 ? "begins another block of an output"
                                   : "cleared by " + words.operation(touch.operation)
                                         + ", which copies nothing here";
    case Touch::Kind::Released:
        return "its memory ends";
    }
    return "";
}

std::string stepText(trace::OptionalRow<trace::StepRow> step)
{
    return step ? countText(step->number) : "";
}

std::string linkText(const NanLink& link, const NamedProgram& words)
{
    switch (link.kind) {
    case NanLink::Kind::Stored:
        return "stored by " + words.operation(link.operation);
    case NanLink::Kind::Copied:
        return fmt::format("copied from {} by copy {}", words.otherEnd(link.from, link.spot),
                           trace::stored(link.copy));
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
        return "has not been written: undefined memory reads as NaN";
    case NanLink::Kind::Edge:
        return fmt::format(
            "lies behind the edge of its array, so that copy {} brings nothing there",
            trace::stored(link.copy));
    case NanLink::Kind::Lost:
        return "comes from values that cannot be followed further";
    }
    return "";
}

// Without the columns in which no row has a word.
HistoryTable withoutEmpty(HistoryTable table)
{
    for (std::size_t column = table.columns.size(); column-- > 0;) {
        const bool isEmpty =
            std::all_of(table.rows.begin(), table.rows.end(),
                        [&](const HistoryRow& row) { return row.cells[column].empty(); });
        if (isEmpty) {
            const auto at = static_cast<std::ptrdiff_t>(column);
            table.columns.erase(table.columns.begin() + at);
            for (HistoryRow& row : table.rows) {
                row.cells.erase(row.cells.begin() + at);
            }
        }
    }
    return table;
}

} // namespace

HistoryTable historyTable(const std::string& element, const std::vector<Touch>& touches,
                          const NamedProgram& words, std::int64_t events)
{
    HistoryTable table{
        .title = element + ", the newest first",
        .columns = {"time", "step", "of", "in", "slot", "what", "by", "before", "value"},
        .rows = {},
        .events = events};
    const bool isOfSeveral = std::any_of(touches.begin(), touches.end(), [&](const Touch& touch) {
        return touch.owner != touches.front().owner;
    });
    std::set<std::int32_t> doers;
    for (const Touch& touch : touches) {
        if (touch.operation >= 0) {
            doers.insert(touch.agent);
        }
    }
    for (const Touch& touch : touches) {
        table.rows.push_back(
            {.cells = {timeText(touch.time), stepText(touch.step),
                       isOfSeveral ? words.agent(touch.owner) : "", words.memory(touch.spot),
                       touch.slot < 0 ? "" : std::to_string(touch.slot), whatText(touch, words),
                       doers.size() > 1 && touch.operation >= 0 ? words.agent(touch.agent) : "",
                       writes(touch) ? heldText(touch.before) : "", heldText(touch.after)},
             .time = touch.time,
             .operation = trace::OperationRow::of(touch.operation),
             .copy = touch.copy,
             .step = touch.step});
    }
    return withoutEmpty(std::move(table));
}

HistoryTable nanTable(const std::string& element, const std::vector<NanLink>& links,
                      const NamedProgram& words, std::int64_t events)
{
    const bool isUndefined = !links.empty() && links.front().isUndefined;
    HistoryTable table{
        .title = element
                 + (links.empty() ? ", a NaN or something undefined that is written there"
                    : isUndefined ? ", from what is undefined back to where it begins"
                                  : ", from its NaN back to where it is born"),
        .columns = {"time", "step", "on", "element", isUndefined ? "what is undefined" : "its NaN"},
        .rows = {},
        .events = events};
    const bool isOneOfSeveral = words.places.size() > 1;
    for (const NanLink& link : links) {
        const bool isTimed = link.kind != NanLink::Kind::Lost;
        table.rows.push_back(
            {.cells = {isTimed ? timeText(link.time) : "", stepText(link.step),
                       isOneOfSeveral ? words.agent(link.agent) : "",
                       link.spot.ref.index < 0 ? "" : words.spot(link.spot), linkText(link, words)},
             .time = isTimed ? std::optional(link.time) : std::nullopt,
             .operation = trace::OperationRow::of(link.operation),
             .copy = link.copy,
             .step = link.step});
    }
    return withoutEmpty(std::move(table));
}

} // namespace pallascope::app
