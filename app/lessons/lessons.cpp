#include "app/lessons/lessons.h"

#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"
#include "core/analysis/report.h"
#include "core/base/check.h"
#include "core/base/format.h"
#include "core/base/read_file.h"
#include "kernels/kernel.h"
#include "resources/lesson_files.h"
#include "views/layout/views.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace pallascope::app {

namespace {

constexpr const char* kChipParameter = "chip"; // of a task, beside those of the kernel

// What only the program knows: which views have a dock, and which parameters a kernel has.
Status checkStep(const study::LessonStep& step)
{
    if (!step.view.empty() && step.view != "values" && layout::findView(step.view) == nullptr) {
        return userError(
            fmt::format(".look is \"{}\"; expected {} or values.", step.view, layout::viewNames()));
    }
    const kernels::Kernel* kernel = kernels::find(step.run.kernel);
    if (kernel == nullptr || !step.task) {
        return Done{};
    }
    std::vector<std::string> names{kChipParameter};
    for (const kernels::Parameter& parameter : kernel->parameters) {
        names.push_back(parameter.name);
    }
    for (const std::string& name : step.task->vary) {
        if (std::ranges::count(names, name) == 0) {
            return userError(fmt::format(".task.vary names \"{}\", which is no parameter of {}; "
                                         "expected {}.",
                                         name, kernel->name, orList(names)));
        }
    }
    return Done{};
}

Status checkSteps(const study::Lesson& lesson, const std::string& name)
{
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        if (const Status step = checkStep(lesson.steps[i]); !step) {
            return userError(fmt::format("{}: steps[{}]{}", name, i, step.error().message));
        }
    }
    return Done{};
}

// Files of kernels and chips lie beside the lesson. Chips that are built in get the name that the
// window's form and reports have for them.
void findFiles(study::Lesson& lesson, const std::filesystem::path& folder)
{
    for (study::LessonStep& step : lesson.steps) {
        study::LessonRun& run = step.run;
        if (kernels::find(run.kernel) == nullptr) {
            run.kernel = (folder / run.kernel).string();
        }
        std::error_code error;
        if (run.chip.empty()) {
            continue;
        }
        if (std::filesystem::is_regular_file(folder / run.chip, error)) {
            run.chip = (folder / run.chip).string();
        } else if (const auto chip = loadChip(run.chip)) {
            run.chip = chip->name;
        }
    }
}

// "1-roofline.json" is called roofline.
std::string nameOf(std::string_view file)
{
    const std::size_t begin = file.find('-') + 1; // 0 if there is no number
    return std::string(file.substr(begin, file.rfind('.') - begin));
}

std::vector<NamedLesson> parsedLessons()
{
    std::vector<NamedLesson> lessons;
    for (const resources::EmbeddedFile& file : resources::lessonFiles()) {
        Result<study::Lesson> lesson = study::parseLesson(file.text, std::string(file.name));
        PALLASCOPE_CHECK(lesson.has_value()); // tests read all
        PALLASCOPE_CHECK(checkSteps(*lesson, std::string(file.name)).has_value());
        lessons.push_back({nameOf(file.name), std::move(*lesson)});
    }
    return lessons;
}

std::string lessonNames()
{
    std::vector<std::string> names;
    for (const NamedLesson& each : builtInLessons()) {
        names.push_back(each.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

// Without the parameters that have their default value, as the form of the window leaves them away.
RunRequest withoutDefaults(RunRequest request)
{
    if (const kernels::Kernel* kernel = kernels::find(request.kernel)) {
        for (const kernels::Parameter& parameter : kernel->parameters) {
            const auto given = request.parameters.find(parameter.name);
            if (given != request.parameters.end() && given->second == parameter.defaultValue) {
                request.parameters.erase(given);
            }
        }
    }
    return request;
}

} // namespace

const std::vector<NamedLesson>& builtInLessons()
{
    static const std::vector<NamedLesson> kLessons = parsedLessons();
    return kLessons;
}

bool isLesson(const std::string& nameOrFile)
{
    constexpr std::size_t kHead = 4096; // bytes; the format is named first
    const bool isBuiltIn = std::ranges::any_of(
        builtInLessons(), [&](const NamedLesson& each) { return each.name == nameOrFile; });
    return isBuiltIn
           || firstBytes(nameOrFile, kHead).find("\"pallascope.lesson\"") != std::string::npos;
}

Result<NamedLesson> loadLesson(const std::string& nameOrFile)
{
    for (const NamedLesson& each : builtInLessons()) {
        if (each.name == nameOrFile) {
            return each;
        }
    }
    std::error_code error;
    if (!std::filesystem::exists(nameOrFile, error)) {
        return userError(fmt::format("There is no lesson \"{}\"; expected {} or the file of a "
                                     "lesson.",
                                     nameOrFile, lessonNames()));
    }
    const Result<std::string> bytes = readFile(nameOrFile, kMostWrittenBytes);
    if (!bytes) {
        return bytes.error();
    }
    Result<study::Lesson> lesson = study::parseLesson(*bytes, nameOrFile);
    if (!lesson) {
        return lesson.error();
    }
    if (Status sound = checkSteps(*lesson, nameOrFile); !sound) {
        return sound.error();
    }
    findFiles(*lesson, std::filesystem::path(nameOrFile).parent_path());
    return NamedLesson{nameOrFile, std::move(*lesson)};
}

RunRequest requestWith(const study::LessonRun& run,
                       const std::map<std::string, std::string>& changed)
{
    const bool isBuiltIn = kernels::find(run.kernel) != nullptr;
    RunRequest request{.kernel = run.kernel,
                       .parameters = run.parameters,
                       .chip = run.chip.empty() && isBuiltIn ? chipFor(run.kernel, kUsualChip)
                                                             : run.chip,
                       .fullValues = false,
                       .check = false};
    for (const auto& [name, value] : changed) {
        (name == kChipParameter ? request.chip : request.parameters[name]) = value;
    }
    return withoutDefaults(std::move(request));
}

RunRequest requestOf(const study::LessonRun& run)
{
    return requestWith(run, {});
}

bool isSameRun(const RunRequest& asked, const RunRequest& other)
{
    RunRequest same = withoutDefaults(other);
    same.fullValues = asked.fullValues;
    same.check = asked.check;
    if (asked.chip.empty()) {
        same.chip.clear();
    }
    return withoutDefaults(asked) == same;
}

std::string reportJson(const FinishedRun& run)
{
    const layout::RunView& view = *run.view;
    return analysis::toJson(view.report, view.trace->info(), view.alternatives, run.walls);
}

std::string assignmentsText(const std::map<std::string, std::string>& values)
{
    std::vector<std::string> words;
    for (const auto& [name, value] : values) {
        words.push_back(name + "=" + value);
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

} // namespace pallascope::app
