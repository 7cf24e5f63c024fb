// A run that is kept to be compared with those that follow, beside one of them: what the views say
// of the difference, and how both time lines are laid over one another.
#pragma once

#include "core/analysis/figures.h"
#include "views/layout/run/alignment.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::layout {

// Immutable; made once for each pair of runs.
struct KeptRun
{
    std::shared_ptr<const RunView> run;
    std::string name;                      // what tells it from the present run: "buffers 1"
    bool isOfKernel = true;                // of the present run
    bool isOnChip = true;                  // of the present run: its roofs are the same
    std::vector<analysis::Figure> figures; // a: of the kept run, b: of the present one
    // By steps or rounds: `one` is the present run. Absent where the runs have different ones.
    std::optional<AlignedPair> bySteps;
    std::string notBySteps; // why; empty where `bySteps` is there

    [[nodiscard]] const analysis::Figure& figure(std::string_view key) const;
};

[[nodiscard]] std::shared_ptr<const KeptRun> keptBeside(std::shared_ptr<const RunView> kept,
                                                        const RunView& present);

// Whether the time lines are aligned by steps: asked for, and possible.
[[nodiscard]] bool isBySteps(const ViewState& state);
// The state of looking at the kept run where the present one is looked at like this. By time, the
// playhead is at the same time; by steps, at the same place of the same step.
[[nodiscard]] ViewState keptState(const ViewState& state);
// The latest time that the time line can show, as a time of the present run.
[[nodiscard]] Picoseconds axisEnd(const RunView& run, const ViewState& state);

// A caption behind "|945.1 µs|, |42.1 % less| than kept", of a figure by its key, or "not
// comparable with the kept run"; the caption alone if nothing is kept.
[[nodiscard]] std::string withKept(Canvas& canvas, const ViewState& state, std::string_view key,
                                   std::string caption);
// "|42.1 % less time| than kept (buffers 1), surely: ..." for the strip.
[[nodiscard]] std::string keptVerdict(const RunView& run, const ViewState& state);

} // namespace pallascope::layout
