// Parses the axes of a sweep, and runs its combinations.
#include "core/study/sweep.h"

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/study/pool.h"
#include "core/study/trial.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace pallascope::study {

namespace {

constexpr std::size_t kMostValues = 100'000, kMostRows = 1'000'000;

std::optional<std::int64_t> wholeNumber(const std::string& text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(number) : std::nullopt;
}

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
        end = text.find(separator, begin);
        parts.push_back(text.substr(begin, end - begin));
    }
    return parts;
}

// Absent if the three parts do not make a range.
std::optional<std::vector<std::string>> rangeValues(const std::vector<std::string>& parts)
{
    const std::string step = parts.size() == 3 ? parts[2] : "+1";
    const bool times = !step.empty() && step[0] == '*';
    const bool sound = times || (!step.empty() && step[0] == '+');
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
    const std::int64_t first = wholeNumber(parts[0]).value_or(kNone),
                       last = wholeNumber(parts[1]).value_or(kNone),
                       by = sound ? wholeNumber(step.substr(1)).value_or(kNone) : kNone;
    if (first == kNone || last < first || by < (times ? 2 : 1) || (times && first < 1)) {
        return std::nullopt;
    }
    std::vector<std::string> values;
    for (std::int64_t value = first; values.size() <= kMostValues;) {
        values.push_back(std::to_string(value));
        const bool more = times ? value <= last / by : value <= last - by;
        if (!more) {
            break;
        }
        value = times ? value * by : value + by;
    }
    return values;
}

SweepRow run(const SweepPlan& plan, const Parameters& parameters, const chip::Chip& chip,
             const std::function<bool()>& goesOn)
{
    SweepRow row{.parameters = parameters, .chip = chip.name};
    const auto refuse = [&row](const Error& error) {
        row.error = error.message;
        return row;
    };
    const Result<ir::Program> program = plan.build(parameters);
    if (!program) {
        return refuse(program.error());
    }
    const Result<Fit> fits = fit(*program, chip);
    if (!fits) {
        return refuse(fits.error());
    }
    row.vmem = fits->bytes;
    row.fits = fits->fits;
    if (!row.fits) {
        return row;
    }
    const Result<Outcome> outcome =
        quickRun(*program, chip, plan.settings,
                 plan.inputs ? plan.inputs(parameters) : std::vector<Array>(), goesOn);
    if (!outcome) {
        return refuse(outcome.error());
    }
    const analysis::Report& report = outcome->report;
    row.vmem = memoryOf(report);
    row.time = report.time;
    row.band = report.band;
    row.utilization = report.utilization;
    row.boundBy = toString(report.boundBy);
    row.steps = report.steps;
    row.passedBlocks = report.passedBlocks;
    row.findings = outcome->findings;
    if (plan.knownFindings) {
        const std::vector<std::string> known = plan.knownFindings(*program);
        row.findings.insert(row.findings.end(), known.begin(), known.end());
    }
    for (const analysis::ArrayTraffic& array : report.arrays) {
        row.refetched += array.way == trace::Summary::Read ? array.again : Bytes();
    }
    return row;
}

Parameters combination(const std::vector<Axis>& axes, std::size_t number)
{
    Parameters parameters;
    for (std::size_t axis = axes.size(); axis-- > 0;) {
        const std::vector<std::string>& values = axes[axis].values;
        parameters[axes[axis].name] = values[number % values.size()];
        number /= values.size();
    }
    return parameters;
}

} // namespace

Result<Axis> parseAxis(const std::string& text)
{
    const std::size_t equals = text.find('=');
    const auto wrong = [&](const std::string& why) {
        return userError(
            "The range \"" + text + "\" " + why
                + "; expected a range such as bm=128:1024:*2, bm=128:512:+128, buffers=1:4 or "
                  "dtype=f32,bf16.",
            {{Subject::Parameter, text.substr(0, equals)}});
    };
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
        return wrong("names no parameter and values");
    }
    Axis axis{text.substr(0, equals), {}};
    const std::string values = text.substr(equals + 1);
    const std::vector<std::string> parts = split(values, ':');
    if (parts.size() == 2 || parts.size() == 3) {
        std::optional<std::vector<std::string>> range = rangeValues(parts);
        if (!range) {
            return wrong("is not FIRST:LAST:*FACTOR, FIRST:LAST:+STEP or FIRST:LAST with FIRST up "
                         "to LAST");
        }
        axis.values = std::move(*range);
    } else if (parts.size() == 1) {
        for (std::string& value : split(values, ',')) {
            if (value.empty()) {
                return wrong("has an empty value");
            }
            if (std::ranges::count(axis.values, value) == 0) {
                axis.values.push_back(std::move(value));
            }
        }
    } else {
        return wrong("has too many parts");
    }
    if (axis.values.size() > kMostValues) {
        return wrong("has more than " + std::to_string(kMostValues) + " values");
    }
    return axis;
}

bool asksFor(const SweepPlan& plan, const SweepRow& row)
{
    const auto has = [&row](const Axis& axis) {
        const auto found = row.parameters.find(axis.name);
        return found != row.parameters.end() && std::ranges::count(axis.values, found->second) > 0;
    };
    const auto isChip = [&row](const chip::Chip& chip) { return chip.name == row.chip; };
    return row.parameters.size() == plan.axes.size() && std::ranges::all_of(plan.axes, has)
           && std::ranges::any_of(plan.chips, isChip);
}

Result<std::size_t> combinations(const std::vector<Axis>& axes, std::size_t chips)
{
    std::size_t count = chips;
    for (const Axis& axis : axes) {
        count *= axis.values.size();
        if (count > kMostRows) {
            return userError("The ranges have more than " + countText(kMostRows)
                             + " combinations; use fewer values.");
        }
    }
    return count;
}

Result<std::vector<std::optional<SweepRow>>> sweep(const SweepPlan& plan,
                                                   const SweepOptions& options)
{
    PALLASCOPE_CHECK(!plan.chips.empty());
    const Result<std::size_t> counted = combinations(plan.axes, plan.chips.size());
    if (!counted) {
        return counted.error();
    }
    const std::size_t count = *counted;
    std::map<std::pair<Parameters, std::string>, const SweepRow*> known;
    for (const SweepRow& row : options.done) {
        known[{row.parameters, row.chip}] = &row;
    }
    std::vector<std::optional<SweepRow>> rows(count);
    std::vector<std::size_t> missing;
    const auto chipOf = [&](std::size_t i) -> const chip::Chip& {
        return plan.chips[i % plan.chips.size()];
    };
    const auto parametersOf = [&](std::size_t i) {
        return combination(plan.axes, i / plan.chips.size());
    };
    for (std::size_t i = 0; i < count; ++i) {
        const auto before = known.find({parametersOf(i), chipOf(i).name});
        if (before != known.end()) {
            rows[i] = *before->second;
        } else {
            missing.push_back(i);
        }
    }
    std::size_t finished = count - missing.size();
    const auto work = [&](std::size_t number, const GoesOn& goesOn) -> std::function<void()> {
        const std::size_t i = missing[number];
        return [&, i, row = run(plan, parametersOf(i), chipOf(i), goesOn)] {
            rows[i] = row;
            ++finished;
            if (options.progress) {
                options.progress(rows, i, finished);
            }
        };
    };
    inParallel(missing.size(), options.threads, options.goesOn, work);
    return rows;
}

} // namespace pallascope::study
