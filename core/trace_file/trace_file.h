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
    // Called with 0..1. If it returns false, saving is cancelled and no file is left.
    std::function<bool(double)> progress;
};

// Writes to a temporary file beside `path` and renames it, so that a file is never half-written.
// Compresses with gzip if the name ends in ".gz". The same trace always gives the same bytes.
[[nodiscard]] Status save(const trace::Trace& trace, const std::filesystem::path& path,
                          const SaveOptions& options = {});

// The whole uncompressed file as text, as save() writes it.
[[nodiscard]] std::string toJson(const trace::Trace& trace, const SaveOptions& options = {});

// Decides by the first bytes of an ordinary file, whatever its name. It serves messages that say
// what was given where something else was expected.
[[nodiscard]] bool isTraceFile(const std::string& path);
// Says that a trace was given where `expected`, such as "a kernel", was expected.
[[nodiscard]] Error givenATrace(const std::string& path, std::string_view expected);

// Reads either form. An error is one sentence that names the file, the JSON place, the bad value
// and what was expected. It may be that the file does not exist, is a folder, is empty, truncated,
// nested too deeply or not JSON; that it has no "pallascope" section or an unknown version; that a
// Chrome event has a ts, dur, pid or tid of a wrong type or out of range; that a column has
// another length; or that a rule of trace::TraceBuilder::finish does not hold. Only a small part
// of the text is in memory at a time, besides the trace. `progress` is called with 0..1; if it
// returns false, reading is cancelled with an error of the kind Cancelled.
[[nodiscard]] Result<std::shared_ptr<const trace::Trace>>
load(const std::filesystem::path& path, const std::function<bool(double)>& progress = {});
[[nodiscard]] Result<std::shared_ptr<const trace::Trace>> fromJson(const std::string& text,
                                                                   const std::string& name);

} // namespace pallascope::trace_file
