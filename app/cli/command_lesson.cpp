// The command `lesson`: prints a lesson with the figures of its runs, tries values on a task, and
// checks that what a lesson states is so.
#include "app/cli/commands.h"
#include "app/cli/lesson_steps.h"
#include "app/run_job/kernel_choice.h"
#include "core/base/format.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::app {

namespace {

using Json = nlohmann::ordered_json;
using study::LessonClaim;
using study::LessonProgress;
using study::LessonStep;

std::string claimLine(const LessonClaim& claim)
{
    return fmt::format("  {:<3} {} (it is {})\n", claim.holds ? "yes" : "no", claim.text,
                       claim.actual);
}

void printStep(const NamedLesson& lesson, const ShownStep& shown, bool withAnswer)
{
    const LessonStep& step = *shown.step;
    fmt::print("\n{} of {}  {}\n        {}\n\n{}", shown.number, lesson.lesson.steps.size(),
               step.title, commandOf(step.run), wrapped(shown.text));
    for (const LessonClaim& claim : shown.claims) {
        if (!claim.holds) {
            fmt::print("This is not so here:\n{}", claimLine(claim));
        }
    }
    if (step.task) {
        fmt::print(
            "\n{}{}", wrapped("Your turn: " + shown.taskText),
            wrapped(fmt::format("Change {}: pallascope lesson {} --step {} -p NAME=VALUE",
                                fmt::join(step.task->vary, ", "), lesson.name, shown.number)));
    }
    if (step.task && withAnswer) {
        fmt::print("Answer: {}\n", assignmentsText(step.task->answer));
    }
}

Json claimsJson(const std::vector<LessonClaim>& claims)
{
    Json json = Json::array();
    for (const LessonClaim& claim : claims) {
        json.push_back(
            {{"condition", claim.text}, {"holds", claim.holds}, {"actual", claim.actual}});
    }
    return json;
}

Json stepJson(const ShownStep& shown)
{
    const LessonStep& step = *shown.step;
    Json json = {{"step", shown.number},
                 {"title", step.title},
                 {"text", withoutNoBreaks(shown.text)},
                 {"run", commandOf(step.run)},
                 {"look", step.view},
                 {"at", step.at},
                 {"keep", step.keepsBefore},
                 {"holds", claimsJson(shown.claims)}};
    if (step.task) {
        json["task"] = {{"text", withoutNoBreaks(shown.taskText)},
                        {"until", step.task->until},
                        {"vary", step.task->vary},
                        {"answer", step.task->answer}};
    }
    return json;
}

// What trying values on a task has brought.
int printTried(const LessonCommand& command, const ShownStep& shown, const LessonProgress& progress)
{
    if (command.json) {
        fmt::print("{}\n", Json{{"step", shown.number},
                                {"apart", progress.apart},
                                {"until", claimsJson(progress.claims)},
                                {"reached", progress.isReached()}}
                               .dump(2));
    } else {
        fmt::print("{}{}\n", progress.isReached() ? "Reached" : "Not yet",
                   progress.apart.empty() ? "" : ": " + progress.apart);
        for (const LessonClaim& claim : progress.claims) {
            fmt::print("{}", claimLine(claim));
        }
    }
    return progress.isReached() ? kFine : kFindings;
}

void printWrong(const ShownStep& shown, const std::vector<LessonClaim>& claims,
                const std::string& answer)
{
    for (const LessonClaim& claim : claims) {
        if (!claim.holds) {
            fmt::print("step {}: {} is not so{}: it is {}\n", shown.number, claim.text, answer,
                       claim.actual);
        }
    }
}

// Prints which answers do not reach their task, and which tasks are none. Returns whether there is
// one.
Result<bool> printWrongTask(const ShownStep& shown)
{
    const study::LessonTask& task = *shown.step->task;
    const Result<TriedStep> answer = triedOn(shown, task.answer);
    const Result<LessonProgress> already =
        study::progressOf(task, shown.own->report, shown.own->report);
    if (!answer || !already) {
        return answer ? already.error() : answer.error();
    }
    if (already->isReached()) {
        fmt::print("step {}: its task is reached before anything changes\n", shown.number);
    }
    printWrong(shown, answer->progress.claims, " with the answer " + assignmentsText(task.answer));
    return already->isReached() || !answer->progress.isReached();
}

// Says what a lesson states that is not so, and what is wrong with its tasks.
int checkLesson(const NamedLesson& lesson, const std::vector<ShownStep>& steps)
{
    bool isWrong = false;
    for (const ShownStep& shown : steps) {
        printWrong(shown, shown.claims, "");
        isWrong = isWrong || !std::ranges::all_of(shown.claims, &LessonClaim::holds);
        if (!shown.step->task) {
            continue;
        }
        const Result<bool> wrongTask = printWrongTask(shown);
        if (!wrongTask) {
            return complain(ofStep(wrongTask.error(), lesson.name, shown.number));
        }
        isWrong = isWrong || *wrongTask;
    }
    if (!isWrong) {
        fmt::print("{}: {}, all that is stated is so\n", lesson.name,
                   counted(static_cast<std::int64_t>(steps.size()), "step", "steps"));
    }
    return isWrong ? kFindings : kFine;
}

int printLesson(const LessonCommand& command, const NamedLesson& lesson,
                const std::vector<ShownStep>& steps)
{
    if (command.json) {
        Json json = {{"name", lesson.name},
                     {"title", lesson.lesson.title},
                     {"about", lesson.lesson.about},
                     {"steps", Json::array()}};
        std::ranges::transform(steps, std::back_inserter(json["steps"]), stepJson);
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("{}", wrapped(lesson.lesson.title + ": " + lesson.lesson.about));
        for (const ShownStep& shown : steps) {
            printStep(lesson, shown, command.answer);
        }
    }
    const bool isTrue = std::ranges::all_of(steps, [](const ShownStep& shown) {
        return std::ranges::all_of(shown.claims, &LessonClaim::holds);
    });
    return isTrue ? kFine : kFindings;
}

bool hasTask(const NamedLesson& lesson, std::int64_t number)
{
    return lesson.lesson.steps[static_cast<std::size_t>(number - 1)].task.has_value();
}

// What can be known before any run.
Status checkCommand(const LessonCommand& command, const NamedLesson& lesson)
{
    const auto count = static_cast<std::int64_t>(lesson.lesson.steps.size());
    if (command.step && (*command.step < 1 || *command.step > count)) {
        return userError(fmt::format("--step is {}; expected 1 to {}, the steps of {}.",
                                     *command.step, count, lesson.name));
    }
    if (!command.parameters.empty() && !hasTask(lesson, *command.step)) {
        std::vector<std::string> tasks;
        for (std::int64_t number = 1; number <= count; ++number) {
            if (hasTask(lesson, number)) {
                tasks.push_back(std::to_string(number));
            }
        }
        return userError(fmt::format(
            "Step {} of {} has no task to try values on; {}.", *command.step, lesson.name,
            tasks.empty() ? "none of its steps has"
                          : "these have one: " + fmt::format("{}", fmt::join(tasks, ", "))));
    }
    return command.picture ? checkPicture(*command.picture) : Status(Done{});
}

// The window with the lesson, as it is once the run of the step, or one that is tried, has ended.
Status drawLesson(const LessonCommand& command, const NamedLesson& lesson, const ShownStep& shown,
                  const LessonOutcome& outcome)
{
    PictureRequest picture = *command.picture;
    picture.at = fmt::format("{}%", shown.step->at * 100);
    picture.lesson = {lesson, shown.number - 1,
                      std::vector<std::string>(lesson.lesson.steps.size())};
    picture.lesson.reports[shown.number - 1] = shown.own->report;
    if (shown.before != nullptr) {
        picture.lesson.reports[shown.number - 2] = shown.before->report;
    }
    const bool isCompared = shown.step->keepsBefore && shown.before != nullptr;
    return writePicture(outcome.run, picture, isCompared ? shown.before->run.view : nullptr);
}

} // namespace

int lessonCommand(const LessonCommand& command)
{
    const Result<NamedLesson> lesson = loadLesson(command.lesson);
    if (!lesson) {
        return complain(lesson.error());
    }
    if (const Status sound = checkCommand(command, *lesson); !sound) {
        return complain(sound.error());
    }
    const Result<std::map<std::string, std::string>> values = parseParameters(command.parameters);
    if (!values) {
        return complain(values.error());
    }
    catchInterrupts();
    const std::size_t first = command.step ? static_cast<std::size_t>(*command.step) : 1;
    const Result<std::vector<ShownStep>> steps =
        shownSteps(*lesson, first, command.step ? first : lesson->lesson.steps.size());
    if (!steps) {
        return complain(steps.error());
    }
    const ShownStep& shown = steps->front();
    std::optional<TriedStep> tried;
    if (!values->empty()) {
        Result<TriedStep> result = triedOn(shown, *values);
        if (!result) {
            return complain(result.error());
        }
        tried = std::move(*result);
    }
    if (command.picture) {
        const Status drawn =
            drawLesson(command, *lesson, shown, tried ? tried->outcome : *shown.own);
        if (!drawn) {
            return complain(drawn.error());
        }
    }
    if (tried) {
        return printTried(command, shown, tried->progress);
    }
    return command.check ? checkLesson(*lesson, *steps) : printLesson(command, *lesson, *steps);
}

} // namespace pallascope::app
