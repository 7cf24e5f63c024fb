// What a request that does not fit its chip can show all the same.
#include "app/run_job/alternatives.h"
#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"
#include "app/run_job/run_job.h"
#include "app/run_job/view_of_run.h"
#include "core/machine/run.h"
#include "core/machine/trace_without_run.h"
#include "core/study/trial.h"

#include <algorithm>

namespace pallascope::app {

namespace {

constexpr std::size_t kMostBlocks = 5, kMostChips = 3; // among the choices that fit

std::vector<analysis::Alternative> nearestOf(const KernelChoice& kernel, const chip::Chip& chip)
{
    std::vector<analysis::Alternative> nearest;
    if (kernel.builtIn != nullptr) {
        nearest = nearestThatFit(*kernel.builtIn, *kernel.arguments, chip, kMostBlocks);
        for (analysis::Alternative& each : nearest) {
            tryTime(each, *kernel.builtIn, *kernel.arguments, chip);
        }
    }
    // Other chips with room, the smallest room first.
    std::vector<std::pair<Bytes, analysis::Alternative>> others;
    for (const chip::Chip& other : builtInChips()) {
        const Result<study::Fit> fits = study::fit(kernel.program, other);
        const std::optional<std::int32_t> vmem = other.memoryIndex("VMEM");
        if (other.name != chip.name && vmem && fits && fits->fits
            && machine::checkFit(kernel.program, other)) {
            analysis::Alternative choice;
            choice.name = "on " + other.title;
            choice.changed = {{"chip", other.name}};
            choice.vmem = fits->bytes;
            others.emplace_back(other.memories[static_cast<std::size_t>(*vmem)].bytes,
                                std::move(choice));
        }
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < std::min(kMostChips, others.size()); ++i) {
        nearest.push_back(std::move(others[i].second));
    }
    return nearest;
}

} // namespace

std::optional<FinishedRun> viewWithoutRun(const RunRequest& request, const Error& why)
{
    const Result<KernelChoice> kernel =
        chooseKernel(request.kernel, request.parameters, request.inputs);
    if (!kernel) {
        return std::nullopt;
    }
    const Result<chip::Chip> chip =
        request.chip.empty() ? chipOf(kernel->program) : loadChip(request.chip);
    if (!chip || machine::checkFit(kernel->program, *chip, request.settings)) {
        return std::nullopt;
    }
    const Result<std::shared_ptr<const trace::Trace>> trace = machine::traceWithoutRun(
        kernel->program, *chip, kernel->parameters, kernel->parameterOrder);
    if (!trace) {
        return std::nullopt;
    }
    Result<std::shared_ptr<layout::RunView>> view = viewOf(*trace);
    if (!view) {
        return std::nullopt;
    }
    (*view)->notRun = why.message;
    (*view)->verdict = "|Not run:| " + why.message;
    (*view)->alternatives = nearestOf(*kernel, *chip);
    FinishedRun finished{.request = request};
    finished.request.chip = request.chip.empty() ? chip->name : request.chip;
    finished.view = std::move(*view);
    return finished;
}

} // namespace pallascope::app
