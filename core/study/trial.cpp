// Runs a program without rows and summarizes the run.
#include "core/study/trial.h"

#include "core/chip/clock.h"
#include "core/cost/budget.h"
#include "core/ir/mesh.h"
#include "core/machine/run.h"

#include <algorithm>

namespace pallascope::study {

Result<Fit> fit(const ir::Program& program, const chip::Chip& chip)
{
    Fit result;
    const Result<std::vector<cost::Budget>> budgets = cost::budgets(program, chip);
    if (!budgets) {
        return budgets.error();
    }
    const std::int32_t onChip = chip.links.front().to; // where blocks are copied to
    for (const cost::Budget& budget : *budgets) {
        for (std::size_t row = 0; row < chip.memories.size(); ++row) {
            const Bytes used = budget.used(static_cast<std::int32_t>(row));
            const bool isOver = used > chip.memories[row].bytes;
            result.fits = result.fits && !isOver;
            if (isOver || static_cast<std::int32_t>(row) == onChip) {
                result.bytes = std::max(result.bytes, used);
            }
        }
    }
    return result;
}

Result<Outcome> quickRun(const ir::Program& program, const chip::Chip& chip,
                         const machine::Settings& settings, std::vector<Array> inputs,
                         const std::function<bool()>& goesOn)
{
    const std::size_t given = inputs.size();
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input && given == 0) {
            const ir::Type type = ir::wholeType(program, argument);
            inputs.push_back({type.dtype, type.shape, nullptr});
        }
    }
    machine::Options options{
        .values = machine::ValueMode::Needed, .settings = settings, .rows = false};
    if (goesOn) {
        options.progress = [&goesOn](double /*share*/) { return goesOn(); };
    }
    const Result<machine::RunResult> run = machine::run(program, inputs, chip, options);
    if (!run) {
        return run.error();
    }
    const Result<chip::Chip> clocked = chip::atClock(chip, settings.clock);
    if (!clocked) {
        return clocked.error();
    }
    Result<analysis::Report> report = analysis::report(run->info, run->sums, *clocked);
    if (!report) {
        return report.error();
    }
    Outcome outcome{std::move(*report), {}};
    for (const trace::Finding& finding : run->info.findings) {
        outcome.findings.push_back(finding.kind);
    }
    return outcome;
}

Bytes memoryOf(const analysis::Report& report)
{
    return Bytes(report.vmemPeak.value() / report.blocksTogether);
}

Result<analysis::Alternative> trial(const ir::Program& program, const chip::Chip& chip)
{
    analysis::Alternative alternative;
    const Result<Fit> fits = fit(program, chip);
    if (!fits) {
        return fits.error();
    }
    alternative.vmem = fits->bytes;
    alternative.fits = fits->fits;
    if (!alternative.fits) {
        return alternative;
    }
    const Result<Outcome> outcome = quickRun(program, chip);
    if (!outcome) {
        return outcome.error();
    }
    const analysis::Report& report = outcome->report;
    alternative.vmem = memoryOf(report);
    alternative.overScopedLimit = report.vmemPeak > report.vmemScopedLimit;
    alternative.time = report.time;
    alternative.band = report.band;
    alternative.boundBy = report.boundBy;
    alternative.flopsPerSecond = report.flopsPerSecond;
    alternative.arithmeticIntensity = report.arithmeticIntensity;
    return alternative;
}

} // namespace pallascope::study
