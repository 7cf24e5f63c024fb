// Runs the kernels of a table of measured times, and sums up the errors by family.
#include "core/study/validation.h"

#include "core/study/pool.h"
#include "core/study/trial.h"

#include <algorithm>
#include <cmath>

namespace pallascope::study {

namespace {

ValidationRow run(const ValidationPlan& plan, const Measurement& measured, const GoesOn& goesOn)
{
    ValidationRow row{.measured = measured, .chip = measured.chip};
    const auto refuse = [&row](const Error& error) {
        row.error = error.message;
        return row;
    };
    Result<ValidationSubject> subject = plan.subject(measured);
    if (!subject) {
        return refuse(subject.error());
    }
    row.chip = subject->chip.name;
    const Result<Outcome> outcome = quickRun(subject->program, subject->chip, plan.settings,
                                             std::move(subject->inputs), goesOn);
    if (!outcome) {
        return refuse(outcome.error());
    }
    if (outcome->report.isStopped()) { // then its time means nothing
        return refuse(userError("The run ends before the kernel does, with the finding "
                                + outcome->report.stoppedBy + "; `pallascope run` says more."));
    }
    row.time = outcome->report.time;
    row.band = outcome->report.band;
    row.boundBy = toString(outcome->report.boundBy);
    return row;
}

FamilyErrors errorsOf(const std::string& family, const std::vector<const ValidationRow*>& rows)
{
    FamilyErrors errors{.family = family, .rows = static_cast<std::int64_t>(rows.size())};
    std::vector<double> all;
    for (const ValidationRow* row : rows) {
        if (!row->error.empty()) {
            continue;
        }
        const double off = row->off();
        all.push_back(off);
        errors.meanAbsolute += std::fabs(off);
        errors.worst = std::fabs(off) > std::fabs(errors.worst) ? off : errors.worst;
        errors.near += std::fabs(off) <= kNear ? 1 : 0;
        const std::optional<bool> isInBand = row->isInBand();
        errors.banded += isInBand ? 1 : 0;
        errors.inBand += isInBand.value_or(false) ? 1 : 0;
    }
    errors.ran = static_cast<std::int64_t>(all.size());
    if (!all.empty()) {
        errors.meanAbsolute /= static_cast<double>(all.size());
        std::sort(all.begin(), all.end());
        const std::size_t middle = all.size() / 2;
        errors.median = all.size() % 2 == 1 ? all[middle] : (all[middle - 1] + all[middle]) / 2;
    }
    return errors;
}

} // namespace

Seconds ValidationRow::predicted() const
{
    return toSeconds(time) + measured.host;
}

double ValidationRow::off() const
{
    return predicted().value() / measured.measured.value() - 1;
}

std::optional<bool> ValidationRow::isInBand() const
{
    if (!band) {
        return std::nullopt;
    }
    const Seconds device = measured.measured - measured.host;
    return device >= toSeconds(band->low) && device <= toSeconds(band->high);
}

std::vector<std::optional<ValidationRow>> validate(const ValidationPlan& plan,
                                                   const ValidationOptions& options)
{
    std::vector<std::optional<ValidationRow>> rows(plan.measurements.size());
    std::size_t finished = 0;
    const auto work = [&](std::size_t i, const GoesOn& goesOn) -> std::function<void()> {
        return [&, i, row = run(plan, plan.measurements[i], goesOn)] {
            rows[i] = row;
            ++finished;
            if (options.progress) {
                options.progress(finished);
            }
        };
    };
    inParallel(rows.size(), options.threads, options.goesOn, work);
    return rows;
}

std::vector<FamilyErrors> errorsByFamily(const std::vector<ValidationRow>& rows)
{
    std::vector<std::string> families;
    std::map<std::string, std::vector<const ValidationRow*>> found;
    for (const ValidationRow& row : rows) {
        std::vector<const ValidationRow*>& others = found[row.measured.family];
        if (others.empty()) {
            families.push_back(row.measured.family);
        }
        others.push_back(&row);
    }
    std::vector<FamilyErrors> errors;
    for (const std::string& family : families) {
        errors.push_back(errorsOf(family, found[family]));
    }
    return errors;
}

FamilyErrors errorsOfAll(const std::vector<ValidationRow>& rows)
{
    std::vector<const ValidationRow*> all;
    for (const ValidationRow& row : rows) {
        all.push_back(&row);
    }
    return errorsOf("all", all);
}

} // namespace pallascope::study
