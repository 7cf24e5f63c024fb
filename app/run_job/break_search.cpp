#include "app/run_job/break_search.h"

#include "app/run_job/kernel_choice.h"
#include "core/ir/print.h"
#include "core/study/value_stops.h"

#include <algorithm>

namespace pallascope::app {

bool isListedIn(const trace::Info& info, const ir::Program& program)
{
    const std::vector<ir::PrintedLine> lines = ir::print(program);
    return std::equal(lines.begin(), lines.end(), info.listing.begin(), info.listing.end(),
                      [](const ir::PrintedLine& line, const trace::ListingLine& listed) {
                          return line.text == listed.text;
                      });
}

Status isStillKernelOf(const RunRequest& request, const layout::RunView& run)
{
    const Result<KernelChoice> kernel = chooseKernel(request.kernel, request.parameters);
    if (!kernel || kernel->builtIn != nullptr || isListedIn(run.trace->info(), kernel->program)) {
        return Done{};
    }
    return userError(request.kernel
                         + " is not the kernel any more that this trace was made from; open that "
                           "file to run it.",
                     {{Subject::Kernel, request.kernel}});
}

Result<std::unique_ptr<machine::Replay>> replayOf(const RunRequest& request,
                                                  const layout::RunView& run, bool isReopened)
{
    Result<std::unique_ptr<machine::Replay>> replay = startReplay(request);
    if (!replay) {
        return isReopened ? Result<std::unique_ptr<machine::Replay>>(reworded(
                   replay.error(), "This trace holds no values, and what it was made from cannot "
                                   "run again here: "
                                       + replay.error().message))
                          : replay.error();
    }
    if (!isListedIn(run.trace->info(), (*replay)->program())) {
        return userError("This trace holds no values, and " + request.kernel
                         + " is not the kernel any more that it was made from.");
    }
    return replay;
}

Result<std::optional<std::vector<std::int64_t>>>
searchStops(const RunRequest& request, const layout::RunView& run, bool isReopened,
            const trace::Breakpoint& breakpoint, const Progress& proceed)
{
    const Result<std::unique_ptr<machine::Replay>> replay = replayOf(request, run, isReopened);
    if (!replay) {
        return replay.error();
    }
    const auto stops = study::valueStops(**replay, request.fullValues, breakpoint, proceed);
    if (!stops) {
        return stops.error();
    }
    return *stops ? std::optional(study::timesOf(**stops)) : std::nullopt;
}

} // namespace pallascope::app
