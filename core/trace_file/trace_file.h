// Saved traces: `.trace.json` and `.trace.json.gz`. A file is one JSON object. "traceEvents" is a
// Chrome Trace Event file that Perfetto opens directly; "pallascope" holds the whole trace in
// picoseconds. docs/trace_format.md describes both halves.
#pragma once

#include "core/base/result.h"
#include "core/trace/trace.h"

#include <filesystem>
#include <functional>
#include <memory>

namespace pallascope::trace_file {

inline constexpr int kTraceVersion = 1;

// With more operation events than this, the Chrome half holds only steps and copies, and says so.
inline constexpr std::int64_t kChromeOperationLimit = 1'000'000;

struct SaveOptions
{
    bool operations = false; // write operation events even past the limit
    std::function<bool(double)>
        progress; // called with 0..1; returning false cancels: no file is left
};

// Writes to a temporary file beside `path` and renames it, so that a file is never half-written.
// Compresses with gzip if the name ends in ".gz". The same trace always gives the same bytes.
[[nodiscard]] Status save(const trace::Trace& trace, const std::filesystem::path& path,
                          const SaveOptions& options = {});

// The whole uncompressed file as text, as save() writes it.
[[nodiscard]] std::string toJson(const trace::Trace& trace, const SaveOptions& options = {});

// By the first bytes of an ordinary file, whatever its name: so that a message can say what was
// given where something else was expected.
[[nodiscard]] bool isTraceFile(const std::string& path);
// Says that a trace was given where `expected`, such as "a kernel", was expected.
[[nodiscard]] Error givenATrace(const std::string& path, std::string_view expected);

// Reads either form. Errors are one sentence naming the file, the JSON place, the bad value and
// what would be right: not there, a folder, empty, truncated, too deep, not JSON, no "pallascope"
// section, unknown version, a Chrome event whose ts, dur, pid or tid has a wrong type or is out of
// range, a column of another length, or a rule of trace::TraceBuilder::finish that does not hold.
// Never more than a small part of the text is in memory besides the trace. `progress` is called
// with 0..1; returning false cancels: an error of the kind Cancelled.
[[nodiscard]] Result<std::shared_ptr<const trace::Trace>>
load(const std::filesystem::path& path, const std::function<bool(double)>& progress = {});
[[nodiscard]] Result<std::shared_ptr<const trace::Trace>> fromJson(const std::string& text,
                                                                   const std::string& name);

} // namespace pallascope::trace_file
