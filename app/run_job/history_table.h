// The history of an element, or the way of its NaN, as a table of words: the command line prints
// it, and the Values dock lists it.
#pragma once

#include "core/trace/row.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::app {

struct HistoryRow
{
    std::vector<std::string> cells; // one for each column
    std::optional<Picoseconds> time;
    trace::OptionalRow<trace::OperationRow> operation;
    trace::OptionalRow<trace::CopyRow> copy;
    trace::OptionalRow<trace::StepRow> step;
};

struct HistoryTable
{
    std::string title;                // "x[3,5], the newest first"
    std::vector<std::string> columns; // the head of each; columns without words are left out
    std::vector<HistoryRow> rows;
    std::int64_t events = 0; // of the run, all of which were looked at
};

} // namespace pallascope::app
