// Looks for the stops of breakpoints that need values, in a run that is shown.
#pragma once

#include "app/run_job/run_job.h"
#include "core/trace/breakpoint.h"

#include <optional>
#include <vector>

namespace pallascope::app {

// A replay of the run that is shown. `isReopened`: it is a trace from a file, which holds no
// values. The error says why the run cannot be had again.
[[nodiscard]] Result<std::unique_ptr<machine::Replay>>
replayOf(const RunRequest& request, const layout::RunView& run, bool isReopened);

// Whether the program is the one that a trace lists.
[[nodiscard]] bool isListedIn(const trace::Info& info, const ir::Program& program);

// The error says that the kernel file of a request is not the one that the run of a trace was of:
// it was written anew, or is another one of that name. A file that cannot be read is not judged.
[[nodiscard]] Status isStillKernelOf(const RunRequest& request, const layout::RunView& run);

// As study::valueStops, with a replay of its own. `proceed` is told how much of the run was looked
// at.
[[nodiscard]] Result<std::optional<std::vector<std::int64_t>>>
searchStops(const RunRequest& request, const layout::RunView& run, bool isReopened,
            const trace::Breakpoint& breakpoint, const Progress& proceed);

} // namespace pallascope::app
