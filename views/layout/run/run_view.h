// What the layouts draw: one finished run with its derived numbers, and the state of looking at it.
#pragma once

#include "core/analysis/report.h"
#include "core/trace/lookup.h"
#include "views/layout/scene/scene.h"

#include <memory>
#include <string>
#include <vector>

namespace pallascope::layout {

// One parameter as a form shows it.
struct Field
{
    std::string name, value;
    bool choice = false;
    std::string error; // in place, empty: none
};

// Immutable; made once per run by app/run_job (makeRunView), shared by all views.
struct RunView
{
    std::shared_ptr<const trace::Trace> trace;
    std::shared_ptr<const trace::Index> index;
    analysis::Report report;
    std::vector<analysis::Alternative> alternatives;
    std::string verdict; // with |strong| parts
    std::vector<analysis::LineTime> lineTimes;
    std::vector<Field> fields;
    std::int64_t period = 1; // steps
    Picoseconds periodTime;
};

struct TimeRange
{
    Picoseconds begin, end;
    bool operator==(const TimeRange&) const = default;
};

// The one view state: changed by the session, read by all views.
struct ViewState
{
    Picoseconds now;
    TimeRange visible; // of the time line
    Target selection, hover;
    bool playing = false;
    bool stale = false;               // a newer run is on its way
    std::int64_t firstSourceLine = 0; // scroll of the source view: first shown line (0: follow)
    bool operator==(const ViewState&) const = default;
};

struct Size
{
    double width = 0, height = 0;
};

// "matmul 4096³ bf16 → f32 · 512-blocks · TPU v5e"
[[nodiscard]] std::string runTitle(const RunView& run);
// "512-blocks", "512×256×128-blocks"; empty without a grid.
[[nodiscard]] std::string blocksText(const RunView& run);

// Steps 0 to 3, with a little of step 4: what the time line frames at the first start.
[[nodiscard]] TimeRange firstFrame(const trace::Trace& trace);
// The 4 steps around t.
[[nodiscard]] TimeRange frameAround(const trace::Trace& trace, Picoseconds t);

} // namespace pallascope::layout
