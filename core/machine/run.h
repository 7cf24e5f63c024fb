// Runs a program on a model of a chip, in values and in time, and records it. A run is a value:
// (program, arguments, chip, options) in, one immutable trace out. The events and times are the
// same on every CPU; the bytes are the same on CPUs of one kind, whatever the number of threads.
#pragma once

#include "core/base/array.h"
#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/machine/settings.h"
#include "core/trace/summary.h"
#include "core/trace/trace.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pallascope::machine {

enum class ValueMode
{
    Full,
    Needed
};

// The most steps of one run, and of a run that records rows, about 400 bytes for each step.
inline constexpr std::int64_t kMostSteps = 20'000'000;
inline constexpr std::int64_t kMostRecordedSteps = 2'500'000;

// The most loop rounds, branches and segments that one run executes, and the most memory for its
// rows.
inline constexpr std::int64_t kMostTurns = 40'000'000;
inline constexpr std::int64_t kMostRecordedTurns = 5'000'000;
inline constexpr Bytes kMostRecorded{std::int64_t{700} << 20};

// What all runs of a program on a chip share and what does not depend on inputs: the plan of its
// operations with their costs, and what a trace says before anything runs.
struct Prepared;

struct Options
{
    ValueMode values = ValueMode::Full;
    Settings settings;
    bool rows = true; // false: only sums for a report, no trace
    // Compares the outputs, one for each output argument, with a reference. It does not count as
    // time of the machine.
    std::function<trace::Check(const std::vector<Array>& outputs)> check;
    // Called with each line of a debug_print whose values are known.
    std::function<void(const std::string&)> print;
    // Called on the running thread with 0..1; returning false cancels the run.
    std::function<bool(double)> progress;
    // What the trace records about how the run was made.
    std::map<std::string, std::string> parameters;
    std::vector<std::string> parameterOrder;
    std::uint64_t seed = 0;
};

struct RunResult
{
    // Null if no rows were recorded; then `info` and `sums` are set.
    std::shared_ptr<const trace::Trace> trace;
    trace::Info info; // without the program's listing and operations
    trace::Summary sums;
    // In the order of the output arguments; empty if values are only `needed`.
    std::vector<Array> outputs;
    Seconds wall;          // from the call to the finished trace, without the check
    bool completed = true; // false: a finding ended the run before the program did
};

// Checks what must hold before anything runs; run() calls it first. Blocks must fit into their
// memories, arrays into HBM (limit errors with the bytes), and the steps into kMostSteps, or
// kMostRecordedSteps if rows are recorded.
// Of the settings, those for GPUs count: a chip that is not a GPU takes only their defaults (a user
// error), and a thread may have no more registers than the chip allows.
[[nodiscard]] Status checkFit(const ir::Program& program, const chip::Chip& chip,
                              const Settings& settings = {});

// `rows` as in Options. The program and the chip must outlive the result. It is a user error if
// program and chip do not fit each other (a dtype, a memory, a block), and a limit error if the
// blocks exceed a memory or the arrays exceed HBM. Of the settings, those for GPUs count, as in
// checkFit().
[[nodiscard]] Result<std::shared_ptr<const Prepared>> prepare(const ir::Program& program,
                                                              const chip::Chip& chip,
                                                              ValueMode values, bool rows,
                                                              const Settings& settings = {});

// `inputs` has one array for each input argument, in order; if values are only `needed` they may be
// shapes. `options` must have the values, rows and settings for GPUs of prepare(). A missing input
// is a user error. Too many steps are a limit error; a cancelled run has an error of its own kind.
// Findings are in the trace and are not errors.
[[nodiscard]] Result<RunResult> run(const Prepared& prepared, const std::vector<Array>& inputs,
                                    const Options& options);

// Prepares and runs. The wall time covers both.
[[nodiscard]] Result<RunResult> run(const ir::Program& program, const std::vector<Array>& inputs,
                                    const chip::Chip& chip, const Options& options);

} // namespace pallascope::machine
