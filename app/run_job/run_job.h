// Takes one run from a request to a finished view. Both the command line and the window call it.
#pragma once

#include "core/base/array.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/ir/program.h"
#include "core/machine/replay.h"
#include "core/machine/settings.h"
#include "views/layout/run/run_view.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::app {

inline constexpr Bytes kDefaultMemory{std::int64_t{896} << 20};
// What the error of a run that takes more is about. How to allow more, the command line says.
inline constexpr auto kMemorySetting = "memory";

struct RunRequest
{
    std::string kernel = "matmul"; // the name of a built-in kernel, or the path of a kernel file
    std::map<std::string, std::string> parameters; // only those that differ from the defaults
    std::string chip; // a name or a file; empty: the chip that the kernel was captured for
    bool fullValues = true;
    bool check = true;  // needs full values and a built-in kernel
    std::string inputs; // an .npz file with contents of inputs; empty: the kernel's own
    bool keepResults = false;
    std::int64_t repeat = 1; // the number of runs: all are timed, and the last one is kept
    machine::Settings settings;
    Bytes memory = kDefaultMemory; // that arrays may take
    bool operator==(const RunRequest&) const = default;
};

// Called from the working thread with the share done, from 0 to 1. Returning false cancels.
using Progress = std::function<bool(double)>;

// Called from the working thread with each line that a kernel prints.
using Printer = std::function<void(const std::string&)>;

struct FinishedRun
{
    RunRequest request;
    std::shared_ptr<const layout::RunView> view;
    // The machine's time alone for each run; empty for a trace from a file.
    std::vector<Seconds> walls;
    std::vector<Array> results; // one per output argument, if they were to be kept
    std::string inputsNote;     // as of KernelChoice
};

// What a form needs to know about a parameter of a kernel.
struct ParameterInfo
{
    std::string name, type, defaultValue, help; // type: "int" or "choice"
    std::vector<std::string> choices;
    std::int64_t minimum = 1, maximum = 1;
};

struct KernelInfo
{
    std::string name, help;
    std::vector<ParameterInfo> parameters;
};

[[nodiscard]] std::vector<KernelInfo> kernels();
// {"tpu_v5e", "TPU v5e"}, ...
[[nodiscard]] std::vector<std::pair<std::string, std::string>> chips();

// The error is a sentence for the user. A cancelled run gives an error of kind Cancelled.
[[nodiscard]] Result<FinishedRun>
runKernel(const RunRequest& request, const Progress& progress = {}, const Printer& printer = {});
// What can be shown of a request that does not fit its chip: its budget, how it cuts its arrays,
// and the nearest choices that fit, with their times. nullopt for an error of another kind.
[[nodiscard]] std::optional<FinishedRun> viewWithoutRun(const RunRequest& request,
                                                        const Error& why);
// The same run as a replay, which can go to any moment of it. What the replay takes later is not
// limited to request.memory. A note about the inputs is printed, as of KernelChoice.
[[nodiscard]] Result<std::unique_ptr<machine::Replay>> startReplay(const RunRequest& request,
                                                                   const Printer& printer = {});
[[nodiscard]] Result<FinishedRun> openTrace(const std::string& path, const Progress& progress = {});
// Opens a trace, or runs the kernel of a kernel file, on its own chip unless one is named. A kernel
// is run for its times alone unless all its values are there about as soon.
[[nodiscard]] Result<FinishedRun> openFile(const std::string& path, const Progress& progress = {},
                                           const std::string& chip = {});

} // namespace pallascope::app
