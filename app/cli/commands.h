// The commands of the command line, one function each; each returns the exit code. Sentences about
// wrong input go to stderr.
#pragma once

#include "app/capture/capture.h"
#include "app/process/exit_codes.h"
#include "app/process/interrupts.h"
#include "app/run_job/run_job.h"
#include "core/ir/program.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"
#include "views/layout/scene/theme.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::app {

struct PictureRequest
{
    std::string file; // .png or .svg
    std::string view = "window";
    std::string at = "0"; // "60%", "5.32us", "1.2ms"
    std::string size;     // "1280x800"; empty: the view's own
    std::string theme = "light";
};

struct RunCommand
{
    std::string kernel;
    std::vector<std::string> parameters; // "m=4096"
    std::string chip;                    // a name or a file; empty: the kernel's own
    std::string values = "full";
    bool noCheck = false;
    bool json = false;
    std::string trace;
    std::vector<std::string> failIf;   // conditions on the report: "vmem>90%"
    std::vector<std::string> settings; // "uninitialized_memory=zero"
    std::string inputs, results;       // .npz files; empty: none
    std::optional<double> memory;      // GiB
    std::int64_t repeat = 1;           // so many runs
    std::optional<PictureRequest> picture;
};

struct StateCommand
{
    RunCommand run; // of which kernel
    std::string at; // as of a picture; or, at most one of:
    std::optional<std::int64_t> event, step, copy;
    std::string ref; // whose elements are printed; empty: none
    bool json = false;
};

struct SaveCommand
{
    std::string kernel;
    std::vector<std::string> parameters;
    std::string inputs;
    std::string output;
};

struct ReportCommand
{
    std::string file;
    bool json = false;
    std::string trace;
    std::optional<PictureRequest> picture;
};

struct SweepCommand
{
    std::vector<std::string> kernels; // one that is built in, or files
    std::vector<std::string> over;    // "bm=128:1024:*2"
    std::vector<std::string> parameters;
    std::vector<std::string> settings;
    std::string chips; // names or files, separated by commas; empty: the kernel's own
    bool csv = false, json = false;
    std::string save, resume; // files
    std::string version;      // of this program
};

// A picture that is of no run.
struct SceneRequest
{
    std::string file; // .png or .svg
    std::string size; // "1280x800"; empty: its own
    std::string theme = "light";
};

struct ValidateCommand
{
    std::string measured;              // a table of timings; empty: the published ones
    std::string expected;              // what they are held to; empty: of the published ones, ours
    std::string writeExpected;         // a file that takes what they would be held to
    std::vector<std::string> chips;    // names or files that take the place of those of their name
    std::vector<std::string> settings; // of the machine
    bool json = false;
    std::string csv;      // a file for every row
    SceneRequest scatter; // without a file: none
};

struct CompareCommand
{
    std::string a, b;                  // a trace file, or a kernel with arguments: "matmul bm=256"
    std::string chip;                  // of kernels that name none; empty: each one's own
    std::vector<std::string> settings; // of kernels
    bool json = false;
};

[[nodiscard]] int runCommand(const RunCommand& command);
[[nodiscard]] int stateCommand(const StateCommand& command);
[[nodiscard]] int reportCommand(const ReportCommand& command);
[[nodiscard]] int sweepCommand(const SweepCommand& command);
[[nodiscard]] int compareCommand(const CompareCommand& command);
[[nodiscard]] int validateCommand(const ValidateCommand& command);
[[nodiscard]] int listCommand(const std::string& what);
[[nodiscard]] int describeCommand(const std::string& what, bool json);
[[nodiscard]] int printCommand(const std::string& kernel,
                               const std::vector<std::string>& parameters);
[[nodiscard]] int saveCommand(const SaveCommand& command);
// Runs Python and shows how; its exit code.
[[nodiscard]] int captureCommand(const CaptureRequest& request);

// A line with ir::loweringText; empty where there is none.
[[nodiscard]] std::string loweringLine(std::string_view accepted, const std::string& reason);

// Of --parameter, --chip, --values, --set, --inputs, --memory; the error names the option.
[[nodiscard]] Result<RunRequest> requestOf(const RunCommand& command);

// Prints the error's sentence; the exit code for it.
[[nodiscard]] int complain(const Error& error);

// ---- shared parts
// ----------------------------------------------------------------------------------

// A line on the terminal that is rewritten; silent when stderr is no terminal. Also stops on
// Ctrl-C.
[[nodiscard]] Progress terminalProgress(const std::string& what);
void clearProgress();

// "NAME=VALUE", each name once.
[[nodiscard]] Result<machine::Settings> parseSettings(const std::vector<std::string>& assignments);

// Refuses, before the work is done, files that cannot be written: a folder, a missing folder, a
// file that is read, two of one name. Empty: none is asked for.
[[nodiscard]] Status checkPlaces(const std::vector<std::string>& written,
                                 const std::vector<std::string>& read = {});

// "60%" of the run, or a time with unit ns, us, µs, ms or s ("0" needs none).
[[nodiscard]] Result<Picoseconds> parseTime(const std::string& text, Picoseconds end);
[[nodiscard]] Result<layout::Size> parseSize(const std::string& text);
[[nodiscard]] Result<layout::Theme> parseTheme(const std::string& text);

// Checks everything about a picture that can be known before the run.
[[nodiscard]] Status checkPicture(const PictureRequest& request);
[[nodiscard]] Status writePicture(const FinishedRun& run, const PictureRequest& request);

[[nodiscard]] Status checkScene(const SceneRequest& request);
[[nodiscard]] Status writeScene(const layout::Scene& scene, const SceneRequest& request);

} // namespace pallascope::app
