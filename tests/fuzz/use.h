// What the uses of all formats share: held against what every file and every run must keep.
#pragma once

#include "app/run_job/run_job.h"
#include "core/base/result.h"
#include "tests/fuzz/formats.h"

#include <string>
#include <string_view>

namespace pallascope::fuzz {

void require(bool holds, const std::string& what);
// Output that a terminal shows as it is, and such that other programs read.
void requireText(std::string_view text, const std::string& what);
void requireJson(std::string_view text, const std::string& what);

// One sentence without control characters that names the file, from a user or limit error.
[[nodiscard]] Outcome refusedBy(const Error& error, const std::string& file);

// A path beside others of this process, in a folder that goes away at its end.
[[nodiscard]] std::string scratchFile(const std::string& name);
[[nodiscard]] std::string bytesOf(const std::string& path);
void writeBytes(const std::string& path, const std::string& bytes);

// A run by the command line's own code, cut off after a second or so. `file` is what a refusal
// names.
struct Ran
{
    Outcome outcome;
    app::FinishedRun run; // where it ran
};

[[nodiscard]] Ran runFor(const app::RunRequest& request, const std::string& file);

// Report, every picture at some times and sizes, tooltips, look-ups.
void lookAt(const layout::RunView& view);

} // namespace pallascope::fuzz
