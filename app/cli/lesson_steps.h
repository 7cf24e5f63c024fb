// The steps of a lesson with their runs, for the command `lesson`.
#pragma once

#include "app/lessons/lessons.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pallascope::app {

struct LessonOutcome
{
    FinishedRun run;    // has no view where several steps are asked for
    std::string report; // its JSON
};

struct ShownStep
{
    std::size_t number = 0; // from 1
    const study::LessonStep* step = nullptr;
    std::shared_ptr<const LessonOutcome> own, before; // before: null for the first step
    // With figures of the runs, in which numbers and units have no-break spaces between them.
    std::string text, taskText;             // taskText: empty if there is no task
    std::vector<study::LessonClaim> claims; // of what it states
};

// The steps from the first to the last, from 1. The one before the first is run as well, as its
// figures may be compared with. An error names the lesson and the step.
[[nodiscard]] Result<std::vector<ShownStep>> shownSteps(const NamedLesson& lesson,
                                                        std::size_t first, std::size_t last);

// The same error with the lesson and the step, which is counted from 1, before it.
[[nodiscard]] Error ofStep(const Error& error, const std::string& lesson, std::size_t number);

struct TriedStep
{
    LessonOutcome outcome;
    study::LessonProgress progress;
};

// The run of a step with other values of parameters, and how far it is with the step's task.
[[nodiscard]] Result<TriedStep> triedOn(const ShownStep& shown,
                                        const std::map<std::string, std::string>& values);

// The command line that makes a step's run.
[[nodiscard]] std::string commandOf(const study::LessonRun& run);

// In lines of at most 100 characters, where that can be; ends with a line break.
[[nodiscard]] std::string wrapped(const std::string& text);
// With usual spaces.
[[nodiscard]] std::string withoutNoBreaks(std::string text);

} // namespace pallascope::app
