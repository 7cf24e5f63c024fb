// Lessons: steps that each show a run, say with its figures what is to be seen in it, and may set a
// task (docs/lesson_format.md).
#pragma once

#include "core/base/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::study {

// Which run a step shows.
struct LessonRun
{
    std::string kernel; // a built-in one, or the path of a file
    std::string chip;   // a name; empty: the kernel's own
    std::map<std::string, std::string> parameters;
    bool operator==(const LessonRun&) const = default;
};

// What is to be reached by changing some parameters of the step's run.
struct LessonTask
{
    std::string text;
    std::vector<std::string> until; // conditions on the report (condition.h), all of them
    // The parameters that may change, with "chip" among them if that may; the others stay as they
    // are.
    std::vector<std::string> vary;
    std::map<std::string, std::string> answer; // values of some of those that reach it
};

struct LessonStep
{
    std::string title;
    std::string text; // with figures (lessonText)
    LessonRun run;
    bool keepsBefore = false; // whether the run of the step before is kept, to be compared with
    std::string view;         // that is to be looked at; empty: none in particular
    double at = 0;            // the playhead, as a share of the run
    std::vector<std::string> holds; // conditions on the report of the run that the text states
    std::optional<LessonTask> task;
};

struct Lesson
{
    std::string title;
    std::string about; // one sentence
    std::vector<LessonStep> steps;
};

// Reads a file of docs/lesson_format.md; `name` is what errors call it. Of a step that names no
// kernel, the run is that of the step before with other parameters.
[[nodiscard]] Result<Lesson> parseLesson(std::string_view json, const std::string& name);

// A stretch of a text: as it stands, a name of the field (`bm`), or a figure of a report.
struct LessonPart
{
    enum class Kind
    {
        Plain,
        Name,
        Figure
    };

    std::string text;
    Kind kind = Kind::Plain;
    bool operator==(const LessonPart&) const = default;
};

// The parts of a text, in order. {time_s} stands for a field of the report, {before.time_s} for one
// of the report of the step before, {a/b} for the share of one field in another, {a:b} for how many
// times as large it is. Figures are written with their unit. An empty report stands for a run that
// has not ended: its figures are "…". The error names a field that the report does not have.
[[nodiscard]] Result<std::vector<LessonPart>>
lessonText(const std::string& text, const std::string& report, const std::string& before = {});

// A condition, and how a report stands to it.
struct LessonClaim
{
    std::string text; // of the condition
    bool holds = false;
    std::string actual; // what the report says
};

[[nodiscard]] Result<std::vector<LessonClaim>> claimsOf(const std::vector<std::string>& conditions,
                                                        const std::string& report);

struct LessonProgress
{
    // Why the run does not count for the task, in one sentence: it is of another kernel or chip, or
    // changes what must stay. Empty if it counts.
    std::string apart;
    std::vector<LessonClaim> claims;

    [[nodiscard]] bool isReached() const;
};

// How far a run is with the task of a step, by the report of the step's own run and by its own.
[[nodiscard]] Result<LessonProgress>
progressOf(const LessonTask& task, const std::string& stepReport, const std::string& report);

} // namespace pallascope::study
