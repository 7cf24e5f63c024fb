// The commands `run` and `report`: a run, or a saved trace, with its report, its files and the
// conditions of --fail-if.
#include "app/cli/commands.h"
#include "app/process/diagnostics.h"
#include "app/run_job/kernel_choice.h"
#include "core/analysis/report.h"
#include "core/analysis/stretch.h"
#include "core/base/format.h"
#include "core/kernel_file/npy.h"
#include "core/study/condition.h"
#include "core/trace/findings.h"
#include "core/trace_file/trace_file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <limits>

namespace pallascope::app {

namespace {

std::string findingLine(const trace::Info& info, const trace::Finding& finding)
{
    std::string place;
    if (finding.source.file >= 0) {
        place = " [" + info.sources[static_cast<std::size_t>(finding.source.file)].path + ":"
                + std::to_string(finding.source.line) + "]";
    }
    return trace::textOf(finding) + place + "\n";
}

std::string printsLine(const trace::Info& info)
{
    const auto kept = static_cast<std::int64_t>(info.prints.size());
    if (kept == 0) {
        return "";
    }
    const std::string all = counted(kept + info.printsBeyond, "line", "lines");
    return info.printsBeyond == 0 ? "prints  " + all + "\n"
                                  : "prints  " + all + ", of which the trace keeps the first "
                                        + countText(kept) + "\n";
}

// The first moment must come first in a run that ends there.
Status checkOrder(const std::vector<std::string>& between, Picoseconds end)
{
    if (!between.empty() && *parseTime(between[0], end) > *parseTime(between[1], end)) {
        return userError(fmt::format("--between {0} {1} ends before it begins; expected the "
                                     "earlier moment first: --between {1} {0}.",
                                     between[0], between[1]));
    }
    return Done{};
}

// What can be known before the run: that they can be moments, and, of two times or two shares of
// the run, that they are in order.
Status checkBetween(const std::vector<std::string>& between)
{
    constexpr Picoseconds kAnyEnd{std::numeric_limits<std::int64_t>::max() / 2};
    for (const std::string& text : between) {
        if (const Result<Picoseconds> time = parseTime(text, kAnyEnd); !time) {
            return time.error();
        }
    }
    const auto isShare = [](const std::string& text) { return text.ends_with('%'); };
    const auto shares = std::ranges::count_if(between, isShare);
    return shares == 1 ? Status(Done{}) : checkOrder(between, kAnyEnd);
}

// At least one of the moments must lie before the end of the run.
Status checkInRun(const std::vector<std::string>& between, Picoseconds end)
{
    const auto isBehind = [&](const std::string& text) { return *parseTime(text, end) >= end; };
    if (!between.empty() && std::all_of(between.begin(), between.end(), isBehind)) {
        return userError(fmt::format("--between {} lies behind the run, which ends at {}; expected "
                                     "a moment before that.",
                                     fmt::join(between, " "), timeText(end)));
    }
    return checkOrder(between, end);
}

void printBetween(const layout::RunView& view, const std::vector<std::string>& between, bool json)
{
    const auto time = [&](std::size_t i) { return *parseTime(between[i], view.trace->end()); };
    const analysis::Stretch stretch = analysis::stretchOf(*view.index, time(0), time(1));
    if (json) {
        fmt::print("{}", analysis::toJson(stretch));
        return;
    }
    fmt::print("{} to {}: ", timeText(stretch.begin), timeText(stretch.end));
    for (const std::string& line : analysis::stretchLines(stretch)) {
        fmt::print("{}\n", line);
    }
}

// Prints the report, or what happens between two moments. Returns kFindings (1) if something is
// wrong with the run.
int printReport(const FinishedRun& run, bool json, const std::vector<std::string>& between)
{
    const layout::RunView& view = *run.view;
    const trace::Info& info = view.trace->info();
    clearProgress();
    if (!between.empty()) {
        printBetween(view, between, json);
    } else if (json) {
        fmt::print("{}", analysis::toJson(view.report, info, view.alternatives, run.walls));
    } else {
        fmt::print("{}", analysis::toText(view.report, info, view.alternatives));
        for (const trace::Finding& finding : info.findings) {
            fmt::print("{}", findingLine(info, finding));
        }
        fmt::print("{}{}", printsLine(info), loweringLine(info.jaxAccepts, info.jaxReason));
    }
    const bool wrong = !info.findings.empty() || (info.check.checked && !info.check.passed);
    return wrong ? kFindings : kFine;
}

Status checkOutputs(const std::string& trace, const std::optional<PictureRequest>& picture,
                    const std::string& results = {}, const std::vector<std::string>& read = {})
{
    const std::string file = picture ? picture->file : "";
    if (Status places = checkPlaces({trace, file, results}, read); !places) {
        return places;
    }
    return picture ? checkPicture(*picture) : Status(Done{});
}

Status writeOutputs(const FinishedRun& run, const std::string& trace,
                    const std::optional<PictureRequest>& picture)
{
    if (!trace.empty()) {
        trace_file::SaveOptions options;
        options.progress = terminalProgress("saving");
        if (Status status = trace_file::save(*run.view->trace, trace, options); !status) {
            return interrupted() ? Status(cancelled()) : status;
        }
    }
    return picture ? writePicture(run, *picture) : Status(Done{});
}

// One line for each condition that holds; the caller wants none of them to hold.
Result<std::vector<std::string>> holding(const std::vector<std::string>& conditions,
                                         const FinishedRun& run)
{
    const layout::RunView& view = *run.view;
    const std::string report =
        conditions.empty()
            ? ""
            : analysis::toJson(view.report, view.trace->info(), view.alternatives, run.walls);
    std::vector<std::string> lines;
    for (const std::string& text : conditions) {
        const Result<study::Condition> condition = study::parseCondition(text);
        if (!condition) {
            return condition.error();
        }
        const Result<study::Verdict> verdict = study::evaluate(*condition, report);
        if (!verdict) {
            return verdict.error();
        }
        if (verdict->holds) {
            lines.push_back(
                fmt::format("failed: {} ({} is {})", text, condition->field, verdict->actual));
        }
    }
    return lines;
}

int finish(const Result<FinishedRun>& run, bool json, const std::vector<std::string>& between,
           const std::string& trace, const std::optional<PictureRequest>& picture)
{
    if (!run) {
        return complain(run.error());
    }
    if (const Status inRun = checkInRun(between, run->view->trace->end()); !inRun) {
        return complain(inRun.error());
    }
    if (const Status written = writeOutputs(*run, trace, picture); !written) {
        return complain(written.error());
    }
    return printReport(*run, json, between);
}

} // namespace

Result<RunRequest> requestOf(const RunCommand& command)
{
    RunRequest request{.kernel = command.kernel, .chip = command.chip};
    Result<std::map<std::string, std::string>> parameters = parseParameters(command.parameters);
    if (!parameters) {
        return parameters.error();
    }
    request.parameters = std::move(*parameters);
    if (command.values != "full" && command.values != "needed") {
        return userError("The value mode \"" + command.values
                         + "\" is not known; expected full or needed.");
    }
    const Result<machine::Settings> settings = parseSettings(command.settings);
    if (!settings) {
        return settings.error();
    }
    request.settings = *settings;
    request.fullValues = command.values == "full";
    request.check = !command.noCheck;
    request.inputs = command.inputs;
    request.keepResults = !command.results.empty();
    request.repeat = command.repeat;
    constexpr std::int64_t kMostRuns = 1000;
    if (request.repeat < 1 || request.repeat > kMostRuns) {
        return userError(fmt::format("--repeat is {}; expected a number from 1 to {}.",
                                     request.repeat, kMostRuns));
    }
    if (command.memory) {
        constexpr double kGiB = 1U << 30U, kLeast = 0.0005, kMost = 1 << 20; // 1 PiB
        if (!(*command.memory >= kLeast && *command.memory <= kMost)) {
            return userError(fmt::format("--memory is {} GiB; expected a number from {} to {}.",
                                         *command.memory, kLeast, kMost));
        }
        request.memory = Bytes(std::llround(*command.memory * kGiB));
    }
    if (request.keepResults && !request.fullValues) {
        return userError("Results need every number: --results goes with --values full.");
    }
    return request;
}

int runCommand(const RunCommand& command)
{
    const Result<RunRequest> request = requestOf(command);
    if (!request) {
        return complain(request.error());
    }
    const bool isFile = kernels::find(command.kernel) == nullptr;
    if (const Status outputs =
            checkOutputs(command.trace, command.picture, command.results,
                         {isFile ? command.kernel : "", command.chip, command.inputs});
        !outputs) {
        return complain(outputs.error());
    }
    // They are checked before the run, which may be long.
    if (const Status moments = checkBetween(command.between); !moments) {
        return complain(moments.error());
    }
    for (const std::string& text : command.failIf) {
        if (const auto condition = study::parseCondition(text); !condition) {
            return complain(condition.error());
        }
    }
    catchInterrupts();
    const Printer printer = [](const std::string& text) {
        clearProgress();
        sayOnOneLine(text);
    };
    const Result<FinishedRun> run = runKernel(*request, terminalProgress("running"), printer);
    const Result<std::vector<std::string>> failed =
        run ? holding(command.failIf, *run)
            : Result<std::vector<std::string>>(std::vector<std::string>());
    if (!failed) {
        return complain(failed.error());
    }
    if (run && !run->inputsNote.empty()) {
        sayOnOneLine(run->inputsNote);
    }
    if (run && request->keepResults) {
        if (const Status written = kernel_file::writeResults(command.results, run->results);
            !written) {
            return complain(written.error());
        }
    }
    const int code = finish(run, command.json, command.between, command.trace, command.picture);
    if (!flushOutput()) { // the report must come before these lines
        return kWrongInput;
    }
    for (const std::string& line : *failed) {
        say(line);
    }
    return code == kFine && !failed->empty() ? kFindings : code;
}

int reportCommand(const ReportCommand& command)
{
    if (const Status outputs = checkOutputs(command.trace, command.picture); !outputs) {
        return complain(outputs.error());
    }
    if (const Status moments = checkBetween(command.between); !moments) {
        return complain(moments.error());
    }
    catchInterrupts();
    return finish(openTrace(command.file, terminalProgress("opening")), command.json,
                  command.between, command.trace, command.picture);
}

} // namespace pallascope::app
