// Runs a program on a model of a chip, in values and in time, and records it. A run is a value:
// (program, arguments, chip, options) in, one immutable trace out, the same bytes every time on one
// kind of CPU, whatever the thread count, and the same events and times on every CPU.
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

// Steps of one run; of one that keeps its rows, each some 400 bytes.
inline constexpr std::int64_t kMostSteps = 20'000'000;
inline constexpr std::int64_t kMostRecordedSteps = 2'500'000;

// Loop rounds, branches and segments that one run executes at most, and what its rows take.
inline constexpr std::int64_t kMostTurns = 40'000'000;
inline constexpr std::int64_t kMostRecordedTurns = 5'000'000;
inline constexpr Bytes kMostRecorded{std::int64_t{700} << 20};

// What the runs of a program on a chip have in common, which depends on no input: the plan of its
// operations with their costs, and what a trace says before anything runs.
struct Prepared;

struct Options
{
    ValueMode values = ValueMode::Full;
    Settings settings;
    bool rows = true; // false: only sums, for a report; no trace
    // Compares the outputs (one per output argument) with a reference; its time is not the
    // machine's.
    std::function<trace::Check(const std::vector<Array>& outputs)> check;
    std::function<void(const std::string&)> print; // a line of a debug_print whose values are known
    std::function<bool(double)> progress; // 0..1 from the running thread; returning false cancels
    // What the trace says about how the run was made.
    std::map<std::string, std::string> parameters;
    std::vector<std::string> parameterOrder;
    std::uint64_t seed = 0;
};

struct RunResult
{
    std::shared_ptr<const trace::Trace> trace; // null without rows, which gives instead:
    trace::Info info;                          // no program listing and no operations
    trace::Summary sums;
    std::vector<Array> outputs; // in the order of the output arguments; empty with needed values
    Seconds wall;               // from the call to the finished trace, without the check
    bool completed = true;      // false: a finding ended the run before the program did
    std::shared_ptr<const Prepared> prepared; // of what was not prepared before: for further runs
};

// What must hold before anything runs, and run() checks first: blocks within their memories, arrays
// within HBM (limit errors with the bytes), steps within kMostSteps (kMostRecordedSteps where rows
// are kept).
[[nodiscard]] Status checkFit(const ir::Program& program, const chip::Chip& chip);

// `rows` as in Options. The program and the chip outlive what is prepared of them.
// Errors: a user error for programs and chips that do not fit each other (a dtype, a memory, a
// block), a limit error when the blocks exceed a memory or the arrays exceed HBM.
[[nodiscard]] Result<std::shared_ptr<const Prepared>>
prepare(const ir::Program& program, const chip::Chip& chip, ValueMode values, bool rows);

// `inputs`: one array per input argument, in order; with needed values they may be shapes only.
// `options` have the values and rows that were prepared for.
// Errors: a user error for an input that is missing, a limit error when the run takes too many
// steps or is cancelled (by its kind). Findings are in the trace, not errors.
[[nodiscard]] Result<RunResult> run(const Prepared& prepared, const std::vector<Array>& inputs,
                                    const Options& options);

// Prepares and runs; its wall time has both.
[[nodiscard]] Result<RunResult> run(const ir::Program& program, const std::vector<Array>& inputs,
                                    const chip::Chip& chip, const Options& options);

} // namespace pallascope::machine
