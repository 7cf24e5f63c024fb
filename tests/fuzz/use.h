// What the uses of all formats share: they check what must hold for every file and every run.
#pragma once

#include "app/run_job/run_job.h"
#include "core/base/result.h"
#include "tests/fuzz/formats.h"

#include <string>
#include <string_view>

namespace pallascope::fuzz {

void require(bool holds, const std::string& what);
// Output must be text that a terminal shows as it is and that other programs can read.
void requireText(std::string_view text, const std::string& what);
void requireJson(std::string_view text, const std::string& what);

// The refusal must be one sentence without control characters that names the file, and a user error
// or a limit.
[[nodiscard]] Outcome refusedBy(const Error& error, const std::string& file);

// A path for a file of this process, in a folder that is removed when the process ends.
[[nodiscard]] std::string scratchFile(const std::string& name);
[[nodiscard]] std::string bytesOf(const std::string& path);
void writeBytes(const std::string& path, const std::string& bytes);

// A run by the command line's own code, cut off after about a second. `file` is the name that a
// refusal must mention.
struct Ran
{
    Outcome outcome;
    app::FinishedRun run; // valid if it ran
};

[[nodiscard]] Ran runFor(const app::RunRequest& request, const std::string& file);

// Looks at the report, every picture at some times and sizes, tooltips and look-ups.
void lookAt(const layout::RunView& view);

} // namespace pallascope::fuzz
