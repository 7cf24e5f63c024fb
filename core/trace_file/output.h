// Writes the text of a trace file and reports how much is done.
#pragma once

#include "core/trace_file/json_out.h"
#include "core/trace_file/trace_file.h"

namespace pallascope::trace_file {

struct Output
{
    JsonOut json;
    const std::function<bool(double)>& progress;
    std::int64_t done = 0, total = 1; // events and columns
    bool cancelled = false;

    // Called after each event or column. If it returns false, stop writing.
    [[nodiscard]] bool next()
    {
        ++done;
        if (!json.full()) {
            return true;
        }
        cancelled = progress && !progress(static_cast<double>(done) / static_cast<double>(total));
        return !cancelled && json.flush();
    }
};

// What the Chrome half, the elements of "traceEvents", will contain.
struct ChromePlan
{
    bool operations = true;          // units and waits, in addition to steps and copies
    std::int64_t operationCount = 0; // operation events of all segments together
    std::int64_t events = 0;         // approximate number of all events
};

[[nodiscard]] ChromePlan planChrome(const trace::Trace& trace, const SaveOptions& options);
[[nodiscard]] bool writeChrome(Output& output, const trace::Trace& trace, const ChromePlan& plan);

// Writes the "pallascope" section, one object.
[[nodiscard]] bool writeSection(Output& output, const trace::Trace& trace);

} // namespace pallascope::trace_file
