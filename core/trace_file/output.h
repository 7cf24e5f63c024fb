// The text of a trace file on its way out, with the share done.
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

    // After each event or column; false: stop writing.
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

// The Chrome half: the elements of "traceEvents".
struct ChromePlan
{
    bool operations = true;          // units and waits, beside steps and copies
    std::int64_t operationCount = 0; // operation events that all segments have
    std::int64_t events = 0;         // about how many there will be
};

[[nodiscard]] ChromePlan planChrome(const trace::Trace& trace, const SaveOptions& options);
[[nodiscard]] bool writeChrome(Output& output, const trace::Trace& trace, const ChromePlan& plan);

// The "pallascope" section: one object.
[[nodiscard]] bool writeSection(Output& output, const trace::Trace& trace);

} // namespace pallascope::trace_file
