// A sweep: the same program with every combination of some parameters, on some chips, each run once
// without values and without rows, on all cores.
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

// The values that one parameter takes.
struct Axis
{
    std::string name;
    std::vector<std::string> values;
    bool operator==(const Axis&) const = default;
};

// "bm=128:1024:*2" (geometric, both ends), "bm=128:512:+128" (arithmetic; "+1" may be left out), or
// "dtype=f32,bf16" (a list). The error says what is wrong and shows a range that is right. At most
// 100 000 values.
[[nodiscard]] Result<Axis> parseAxis(const std::string& text);

using Parameters = std::map<std::string, std::string>;

struct SweepRow
{
    Parameters parameters; // those of the axes
    std::string chip;
    // What is wrong with this combination: a sentence. All below but `fits` is then absent or zero.
    std::string error;
    bool fits = true; // in the physical memory
    Bytes vmem;
    Picoseconds time;
    std::optional<analysis::Band> band; // of the time; absent where no timing supports it
    double utilization = 0;
    std::string boundBy;
    Bytes refetched; // read beyond the first time, all operands
    std::int64_t steps = 0;
    std::vector<std::string> findings; // kinds
    bool operator==(const SweepRow&) const = default;
};

struct SweepPlan
{
    std::vector<Axis> axes;
    std::vector<chip::Chip> chips;
    machine::Settings settings;
    // The program for one combination; called from several threads at once.
    std::function<Result<ir::Program>(const Parameters&)> build;
    // What that program's inputs hold, as of quickRun; likewise. Empty: nothing.
    std::function<std::vector<Array>(const Parameters&)> inputs;
};

struct SweepOptions
{
    int threads = 0; // 0: one for each core
    // Rows of an earlier sweep: a combination that is among them is there from the start.
    std::vector<SweepRow> done;
    // Called from one thread at a time after each row that is run, with all rows, of which those
    // not run yet are absent, the number of the newest, and how many are there.
    std::function<void(const std::vector<std::optional<SweepRow>>& rows, std::size_t newest,
                       std::size_t finished)>
        progress;
    // Asked several times a second, from several threads at once; false cancels, also in the midst
    // of rows.
    std::function<bool()> goesOn;
};

// Every combination in order, the last axis and then the chips fastest; absent where the sweep was
// cancelled before. The error: more than a million combinations.
[[nodiscard]] Result<std::vector<std::optional<SweepRow>>> sweep(const SweepPlan& plan,
                                                                 const SweepOptions& options);

} // namespace pallascope::study
