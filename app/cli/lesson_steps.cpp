#include "app/cli/lesson_steps.h"

#include "app/cli/commands.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace pallascope::app {

namespace {

constexpr std::size_t kLessonWidth = 100; // characters of a line of text
constexpr std::string_view kNoBreak = "\u00a0";

std::string replaced(std::string text, std::string_view old, std::string_view with)
{
    for (std::size_t at = text.find(old); at != std::string::npos;
         at = text.find(old, at + with.size())) {
        text.replace(at, old.size(), with);
    }
    return text;
}

Result<std::string> filled(const std::string& text, const ShownStep& shown)
{
    const auto parts = study::lessonText(text, shown.own->report,
                                         shown.before ? shown.before->report : std::string());
    if (!parts) {
        return parts.error();
    }
    std::string all;
    for (const study::LessonPart& part : *parts) {
        const bool isFigure = part.kind == study::LessonPart::Kind::Figure;
        all += isFigure ? replaced(part.text, " ", kNoBreak) : part.text;
    }
    return all;
}

Result<LessonOutcome> outcomeOf(const RunRequest& request, const std::string& what)
{
    Result<FinishedRun> run = runKernel(request, terminalProgress(what));
    clearProgress();
    if (!run) {
        return run.error();
    }
    std::string report = reportJson(*run);
    return LessonOutcome{std::move(*run), std::move(report)};
}

std::shared_ptr<const LessonOutcome> withoutRun(const LessonOutcome& outcome)
{
    return std::make_shared<const LessonOutcome>(LessonOutcome{{}, outcome.report});
}

// What a step says of its run.
Status fill(ShownStep& shown)
{
    Result<std::string> text = filled(shown.step->text, shown);
    Result<std::string> task =
        shown.step->task ? filled(shown.step->task->text, shown) : Result(std::string());
    Result<std::vector<study::LessonClaim>> claims =
        study::claimsOf(shown.step->holds, shown.own->report);
    if (!text || !task || !claims) {
        return !text ? text.error() : (!task ? task.error() : claims.error());
    }
    shown.text = std::move(*text);
    shown.taskText = std::move(*task);
    shown.claims = std::move(*claims);
    return Done{};
}

// The number of characters, not of bytes.
std::size_t widthOf(std::string_view text)
{
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; // begins a character
    }));
}

} // namespace

Result<std::vector<ShownStep>> shownSteps(const NamedLesson& named, std::size_t first,
                                          std::size_t last)
{
    const study::Lesson& lesson = named.lesson;
    std::vector<ShownStep> steps;
    std::shared_ptr<const LessonOutcome> before;
    for (std::size_t number = first > 1 ? first - 1 : first; number <= last; ++number) {
        ShownStep shown{.number = number, .step = &lesson.steps[number - 1], .before = before};
        if (before != nullptr && shown.step->run == lesson.steps[number - 2].run) {
            shown.own = before;
        } else {
            Result<LessonOutcome> outcome =
                outcomeOf(requestOf(shown.step->run), fmt::format("step {}", number));
            if (!outcome) {
                return ofStep(outcome.error(), named.name, number);
            }
            shown.own = std::make_shared<const LessonOutcome>(std::move(*outcome));
        }
        before = shown.own;
        if (number >= first) {
            if (const Status done = fill(shown); !done) {
                return ofStep(done.error(), named.name, number);
            }
            if (last > first) { // of many steps the reports are enough, without their traces
                shown.own = withoutRun(*shown.own);
                shown.before = shown.before == nullptr ? nullptr : withoutRun(*shown.before);
            }
            steps.push_back(std::move(shown));
        }
    }
    return steps;
}

Error ofStep(const Error& error, const std::string& lesson, std::size_t number)
{
    return reworded(error, fmt::format("{}: steps[{}]: {}", lesson, number - 1, error.message));
}

Result<TriedStep> triedOn(const ShownStep& shown, const std::map<std::string, std::string>& values)
{
    Result<LessonOutcome> outcome = outcomeOf(requestWith(shown.step->run, values), "trying");
    if (!outcome) {
        return outcome.error();
    }
    Result<study::LessonProgress> progress =
        study::progressOf(*shown.step->task, shown.own->report, outcome->report);
    return progress ? Result(TriedStep{std::move(*outcome), std::move(*progress)})
                    : Result<TriedStep>(progress.error());
}

std::string commandOf(const study::LessonRun& run)
{
    const RunRequest request = requestOf(run);
    std::string text = "pallascope run " + request.kernel;
    for (const auto& [name, value] : request.parameters) {
        text += fmt::format(" -p {}={}", name, value);
    }
    return request.chip.empty() ? text : text + " --chip " + request.chip;
}

std::string wrapped(const std::string& text)
{
    std::string lines;
    std::size_t width = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const bool fits = width == 0 || width + 1 + widthOf(word) <= kLessonWidth;
        if (width > 0) {
            lines += fits ? ' ' : '\n';
        }
        width = (fits && width > 0 ? width + 1 : 0) + widthOf(word);
        lines += word;
        begin = end + 1;
    }
    return withoutNoBreaks(std::move(lines)) + "\n";
}

std::string withoutNoBreaks(std::string text)
{
    return replaced(std::move(text), kNoBreak, " ");
}

} // namespace pallascope::app
