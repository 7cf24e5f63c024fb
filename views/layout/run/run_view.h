// What the layouts draw: one finished run with the numbers derived from it, and the state of
// looking at it.
#pragma once

#include "core/analysis/report.h"
#include "core/analysis/scratch_readers.h"
#include "core/trace/lookup.h"
#include "views/layout/scene/scene.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace pallascope::layout {

// One parameter as a form shows it.
struct Field
{
    std::string name, value;
    bool choice = false;
    std::string error; // shown at the field; empty if there is none
};

// A moment that a finding is about.
struct FindingPlace
{
    std::int64_t finding = 0; // index into Info::findings
    Picoseconds time;
    bool operator==(const FindingPlace&) const = default;
};

// A table in SMEM whose entries choose which parts of an array are copied, such as the table with
// the pages of each sequence.
struct PageTable
{
    std::string name;
    DType dtype = DType::Int32;
    Shape shape;
    std::vector<std::int64_t> entries; // row-major; empty: not known, and `why` says why
    std::string why;
    std::int32_t operand = -1; // row of Info::operands: a copy of parts that it chooses
    std::int32_t axis = 0;     // of that operand's array
    Extent unit = 1; // entry e leads to the elements from e * unit to (e + 1) * unit on that axis
    bool operator==(const PageTable&) const = default;
};

// Stands for an entry that is undefined.
inline constexpr std::int64_t kNoEntry = std::numeric_limits<std::int64_t>::min();

// Immutable. app/run_job makes it once per run (makeRunView), and all views share it.
struct RunView
{
    std::shared_ptr<const trace::Trace> trace;
    std::shared_ptr<const trace::Index> index;
    analysis::Report report;
    std::vector<analysis::Alternative> alternatives;
    std::string verdict; // the parts between bars are |strong|
    std::vector<analysis::LineTime> lineTimes;
    std::vector<FindingPlace> findingPlaces; // see navigation::placesOfFindings
    std::vector<PageTable> tables;           // none for a trace from a file, which has no program
    std::vector<Field> fields;
    std::int64_t period = 1; // steps; see analysis::periodSteps
    Picoseconds periodTime;
    // Why nothing ran, one sentence; empty for a run. Then the trace has no event, and the
    // alternatives are those nearest to what was asked for that fit.
    std::string notRun;
    // Who reads scratch; null for a trace from a file.
    std::shared_ptr<const analysis::ScratchReaders> readers;
};

struct TimeRange
{
    Picoseconds begin, end;
    bool operator==(const TimeRange&) const = default;
};

struct KeptRun;

// Where a breakpoint stops the run.
struct BreakStops
{
    std::string name;                // as people write it
    std::vector<std::int64_t> times; // ps, ascending
    bool isOn = true;
    bool operator==(const BreakStops&) const = default;
};

// The one state of looking at the run. The session changes it, and all views read it.
struct ViewState
{
    Picoseconds now;
    TimeRange visible;       // the range of the time line
    std::int32_t device = 0; // that is chosen among those of the run
    std::int32_t sm = 0;     // that is chosen among those of this device; see chosenSm
    Target selection, hover;
    bool playing = false;
    bool stale = false; // whether a newer run is on its way
    // The first line that the source view shows; 0: it follows the playhead.
    std::int64_t firstSourceLine = 0;
    // The loop by whose rounds one steps (row of Info::loops); kNone: the outermost ones.
    std::int32_t loop = trace::kNone;
    // What the run is compared with (kept_run.h); null: nothing. Then whether the time lines of
    // both are aligned by steps where that is possible, or else by time.
    std::shared_ptr<const KeptRun> kept;
    bool isKeptBySteps = false;
    // The breakpoints, as far as it is known where they stop; null: none.
    std::shared_ptr<const std::vector<BreakStops>> breaks;
    bool operator==(const ViewState&) const = default;
};

struct Size
{
    double width = 0, height = 0;
};

// The chosen SM of the chosen device, a number of Agents::sms; kNone: the run has none.
[[nodiscard]] std::int32_t chosenSm(const RunView& run, const ViewState& state);
// "matmul 4096³ bf16 → f32 · 512-blocks · TPU v5e"
[[nodiscard]] std::string runTitle(const RunView& run);
// "512-blocks", "512×256×128-blocks"; empty if there is no grid.
[[nodiscard]] std::string blocksText(const RunView& run);

// Steps 0 to 3 with a little of step 4. This is the range of the time line when a run is first
// shown.
[[nodiscard]] TimeRange firstFrame(const trace::Trace& trace);
// The four steps around t.
[[nodiscard]] TimeRange frameAround(const trace::Trace& trace, Picoseconds t);

} // namespace pallascope::layout
