// One run from request to finished view: what both faces, the command line and the window, call.
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
#include <string>
#include <vector>

namespace pallascope::app {

inline constexpr Bytes kDefaultMemory{std::int64_t{896} << 20};

struct RunRequest
{
    std::string kernel = "matmul";                 // built in, or a kernel file's path
    std::map<std::string, std::string> parameters; // only those that differ from the defaults
    std::string chip; // a name or a file; empty: that which the kernel was captured for
    bool fullValues = true;
    bool check = true;  // only with full values and a built-in kernel
    std::string inputs; // an .npz with contents of inputs; empty: as the kernel has them
    bool keepResults = false;
    std::int64_t repeat = 1; // runs: the last one is kept, all are timed
    machine::Settings settings;
    Bytes memory = kDefaultMemory; // that arrays may take
    bool operator==(const RunRequest&) const = default;
};

// Called from the working thread with the share done, 0..1; returning false cancels.
using Progress = std::function<bool(double)>;

// Called from the working thread with each line that a kernel prints.
using Printer = std::function<void(const std::string&)>;

struct FinishedRun
{
    RunRequest request;
    std::shared_ptr<const layout::RunView> view;
    std::vector<Seconds> walls; // the machine alone, each time; none for a trace from a file
    std::vector<Array> results; // one per output argument, where they were to be kept
};

// What a form needs to know about a kernel's parameter.
struct ParameterInfo
{
    std::string name, type, defaultValue, help; // type: "int", "choice"
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

// Errors: user errors as sentences; a cancelled run is of the kind Cancelled.
[[nodiscard]] Result<FinishedRun>
runKernel(const RunRequest& request, const Progress& progress = {}, const Printer& printer = {});
// The same run to be put to any of its moments. What it then takes is not limited to
// request.memory.
[[nodiscard]] Result<std::unique_ptr<machine::Replay>> startReplay(const RunRequest& request);
[[nodiscard]] Result<FinishedRun> openTrace(const std::string& path, const Progress& progress = {});
// A trace, or a kernel file, whose kernel is run.
[[nodiscard]] Result<FinishedRun> openFile(const std::string& path, const Progress& progress = {});

} // namespace pallascope::app
