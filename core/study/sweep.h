// A sweep runs the same program with every combination of some parameters on some chips. Each is
// run once, without values and rows, and all cores are used.
#pragma once

#include "core/analysis/report.h"
#include "core/base/array.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/machine/settings.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::study {

// One parameter and the values that it takes.
struct Axis
{
    std::string name;
    std::vector<std::string> values;
    bool operator==(const Axis&) const = default;
};

// Parses "bm=128:1024:*2" (geometric, both ends included), "bm=128:512:+128" (arithmetic; "+1" may
// be left out), or "dtype=f32,bf16" (a list), with at most 100 000 values, each of them once. The
// error says what is wrong and shows a valid range.
[[nodiscard]] Result<Axis> parseAxis(const std::string& text);

using Parameters = std::map<std::string, std::string>;

struct SweepRow
{
    Parameters parameters; // only those of the axes
    std::string chip;
    // A sentence about what is wrong with this combination. If there is one, everything below
    // except `fits` is absent or zero.
    std::string error;
    bool fits = true; // whether it fits in the physical memory
    Bytes vmem;
    Picoseconds time;
    std::optional<analysis::Band> band; // of the time; absent if no timing supports it
    double utilization = 0;
    std::string boundBy;
    Bytes refetched; // bytes read again after the first time, over all operands
    std::int64_t steps = 0;
    std::int64_t passedBlocks = 0;     // as in analysis::Report
    std::vector<std::string> findings; // kinds, of the run and known ones
    bool operator==(const SweepRow&) const = default;

    [[nodiscard]] bool ran() const { return error.empty() && fits; }
};

struct SweepPlan
{
    std::vector<Axis> axes;
    std::vector<chip::Chip> chips;
    machine::Settings settings;
    // Makes the program for one combination. Several threads call it at once.
    std::function<Result<ir::Program>(const Parameters&)> build;
    // The contents of that program's inputs, as for quickRun. Several threads call it at once. If
    // empty, inputs have no contents.
    std::function<std::vector<Array>(const Parameters&)> inputs;
    // Kinds of findings that follow from the program alone, although only a run with values would
    // make them. Several threads call it at once. If empty, there are none.
    std::function<std::vector<std::string>(const ir::Program&)> knownFindings;
};

struct SweepOptions
{
    int threads = 0; // 0: one for each core
    // Rows of an earlier sweep. A combination that is among them is not run again.
    std::vector<SweepRow> done;
    // Called after each row that was run, by one thread at a time: with all rows (those not yet
    // run are absent), the number of the newest, and how many there are.
    std::function<void(const std::vector<std::optional<SweepRow>>& rows, std::size_t newest,
                       std::size_t finished)>
        progress;
    // Called several times a second, by several threads at once. If it returns false, the sweep is
    // cancelled, even in the middle of a row.
    std::function<bool()> goesOn;
};

// How many runs these axes make on so many chips. It is an error if they are more than a million.
[[nodiscard]] Result<std::size_t> combinations(const std::vector<Axis>& axes, std::size_t chips);

// Whether the row is one of the plan's combinations.
[[nodiscard]] bool asksFor(const SweepPlan& plan, const SweepRow& row);

// Every combination in order; the chips vary fastest, then the last axis. Rows are absent if the
// sweep was cancelled before they ran. It is an error if there are too many combinations.
[[nodiscard]] Result<std::vector<std::optional<SweepRow>>> sweep(const SweepPlan& plan,
                                                                 const SweepOptions& options);

} // namespace pallascope::study
