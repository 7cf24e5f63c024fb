// The commands of the command line. Each is a function that returns the exit code. Sentences about
// wrong input go to stderr.
#pragma once

#include "app/capture/capture.h"
#include "app/lessons/lessons.h"
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
    std::string file; // ends in .png or .svg
    std::string view = "window";
    // The playhead: "60%", "5.32us", "1.2ms". None: the begin of the run, and for the roofline,
    // which has its point then, the end.
    std::optional<std::string> at;
    std::string size; // "1280x800"; empty: the view's own size
    std::string theme = "light";
    std::int32_t device = 0;             // that the views show of a run of several
    std::int32_t sm = 0;                 // of a GPU that the time line and the memory view show
    std::optional<std::int32_t> finding; // that is gone to and framed, from 1
    std::int32_t callout = 0; // of the first minute, from 1, in a picture of the window; 0: none
    std::vector<std::string> breaks; // breakpoints whose stops are marked
    std::int32_t textSize = 100;     // percent
    LessonPlace lesson;              // that a picture of the window shows
};

struct RunCommand
{
    std::string kernel;
    std::vector<std::string> parameters; // each is "m=4096"
    std::string chip;                    // a name or a file; empty: the kernel's own chip
    std::string values = "full";
    bool noCheck = false;
    bool json = false;
    std::string trace;
    std::vector<std::string> failIf;   // conditions on the report, such as "vmem>90%"
    std::vector<std::string> settings; // each is "uninitialized_memory=zero"
    std::string inputs, results;       // .npz files; empty if not given
    std::optional<double> memory;      // GiB that arrays may take
    std::int64_t repeat = 1;           // the number of runs
    // Two moments, as `at` of a picture: what happens between them instead of the report; or empty.
    std::vector<std::string> between;
    std::optional<PictureRequest> picture;
};

// A picture that does not show a run.
struct SceneRequest
{
    std::string file; // ends in .png or .svg; empty: no picture
    std::string size; // "1280x800"; empty: the picture's own size
    std::string theme = "light";
    double scale = 1; // by which it is magnified
};

struct StateCommand
{
    RunCommand run; // the kernel, and how it runs
    std::string at; // the moment, as for a picture; one of these five is given, or `breaks`
    std::optional<std::int64_t> event, step, copy, round;
    std::string loop; // whose round is meant; empty: the outermost one's
    // Or where breakpoints stop the run: the stop of this number, from this moment (as `at`; empty:
    // the start of the run, or backwards its end).
    std::vector<std::string> breaks;
    std::string from;
    std::int64_t hit = 1;
    bool back = false; // against the course of time
    // The ref whose elements are printed, with the index of one if only that is asked for: "out" or
    // "out[3,5]"; empty for none.
    std::string ref;
    std::string space, agent; // of that ref: its memory, its agent; empty for any
    SceneRequest heat;        // the picture of that ref's elements; its file is empty for none
    bool log = false;         // that picture shows the logarithm of magnitudes
    bool json = false;
};

struct HistoryCommand
{
    RunCommand run;         // the kernel, and how it runs
    std::string element;    // "out[3,5]"
    std::string space;      // the memory that the ref is in; empty for any
    bool nan = false;       // where its NaN comes from, instead of all that touches it
    std::int64_t most = 40; // rows that are printed; 0: all
    bool json = false;
};

struct DescribeCommand
{
    std::string what; // a kernel, a chip, or a file of either
    std::string chip; // for whose multiprocessors; empty: the kernel's own chip
    std::optional<std::int64_t> registers; // of a thread; absent: the most with which a block fits
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
    std::vector<std::string> between; // as of RunCommand
    std::optional<PictureRequest> picture;
};

struct SweepCommand
{
    std::vector<std::string> kernels; // one built-in kernel, or one or more files
    std::vector<std::string> over;    // ranges of parameters, such as "bm=128:1024:*2"
    std::vector<std::string> parameters;
    std::vector<std::string> settings;
    std::string chips; // names or files, separated by commas; empty: the kernel's own chip
    bool csv = false, json = false;
    std::string save, resume; // files; empty if not given
    SceneRequest picture;     // its file is empty if none is wanted
    std::string version;      // of this program
};

struct ValidateCommand
{
    std::string measured; // a table of timings; empty: the published ones
    // A file with the errors to expect; empty: ours, if the table is the published one.
    std::string expected;
    std::string writeExpected; // a file to which the errors are written as those to expect
    // Names or files of chips that replace the built-in ones of the same name.
    std::vector<std::string> chips;
    std::vector<std::string> settings; // of the machine
    bool json = false;
    std::string csv;      // a file to which every row is written
    SceneRequest scatter; // its file is empty if no picture is wanted
};

struct LessonCommand
{
    std::string lesson;                  // a name or a file
    std::optional<std::int64_t> step;    // only this one, from 1
    std::vector<std::string> parameters; // tried on the task of that step; "chip=tpu_v6e" as well
    bool answer = false;                 // print the answers of tasks
    bool check = false;                  // instead of printing it, whether what it states is so
    bool json = false;
    std::optional<PictureRequest> picture; // of the window with that step
};

struct CompareCommand
{
    std::string a, b; // a trace file, or a kernel with arguments such as "matmul bm=256"
    std::string chip; // for kernels that name none; empty: each kernel's own chip
    std::vector<std::string> settings; // for both kernels
    bool json = false;
    std::optional<PictureRequest> picture; // of b, beside a
    std::string align = "time";            // or "step": the time lines in that picture
};

[[nodiscard]] int runCommand(const RunCommand& command);
[[nodiscard]] int stateCommand(const StateCommand& command);
[[nodiscard]] int historyCommand(const HistoryCommand& command);
[[nodiscard]] int reportCommand(const ReportCommand& command);
[[nodiscard]] int sweepCommand(const SweepCommand& command);
[[nodiscard]] int compareCommand(const CompareCommand& command);
[[nodiscard]] int validateCommand(const ValidateCommand& command);
[[nodiscard]] int lessonCommand(const LessonCommand& command);
[[nodiscard]] int listCommand(const std::string& what);
[[nodiscard]] int describeCommand(const DescribeCommand& command);
[[nodiscard]] int printCommand(const std::string& kernel,
                               const std::vector<std::string>& parameters);
[[nodiscard]] int saveCommand(const SaveCommand& command);
// Runs Python and shows what it says. Returns the exit code of the command.
[[nodiscard]] int captureCommand(const CaptureRequest& request);

// A line with ir::loweringText; empty if there is no such text.
[[nodiscard]] std::string loweringLine(std::string_view accepted, const std::string& reason);

// The request that the options --parameter, --chip, --values, --set, --inputs and --memory make. An
// error names the option.
[[nodiscard]] Result<RunRequest> requestOf(const RunCommand& command);

// Prints a note, whatever a file in it is called.
void sayOnOneLine(const std::string& note);

// Prints the error's sentence and returns the exit code for it.
[[nodiscard]] int complain(const Error& error);

// ---- shared parts
// ----------------------------------------------------------------------------------

// Progress that rewrites a line on the terminal. It is silent if stderr is not a terminal. It also
// stops what runs on Ctrl-C.
[[nodiscard]] Progress terminalProgress(const std::string& what);
void clearProgress();

// Each assignment is "NAME=VALUE", and each name may occur once.
[[nodiscard]] Result<machine::Settings> parseSettings(const std::vector<std::string>& assignments);

// Refuses files that cannot be written before any work is done: a folder, a file in a missing
// folder, a file that the command also reads, the same file twice. An empty name means that no file
// is asked for.
[[nodiscard]] Status checkPlaces(const std::vector<std::string>& written,
                                 const std::vector<std::string>& read = {});

// "60%" of the run, or a time with unit ns, us, µs, ms or s; "0" needs no unit.
[[nodiscard]] Result<Picoseconds> parseTime(const std::string& text, Picoseconds end);
[[nodiscard]] Result<layout::Size> parseSize(const std::string& text);
[[nodiscard]] Result<layout::Theme> parseTheme(const std::string& text);

// Checks everything about a picture that can be known before the run.
[[nodiscard]] Status checkPicture(const PictureRequest& request);
// With a kept run, the views compare the run with that one.
[[nodiscard]] Status writePicture(const FinishedRun& run, const PictureRequest& request,
                                  const std::shared_ptr<const layout::RunView>& kept = {},
                                  bool bySteps = false);

[[nodiscard]] Status checkScene(const SceneRequest& request);
[[nodiscard]] Status writeScene(const layout::Scene& scene, const SceneRequest& request);

} // namespace pallascope::app
