// Lessons by name or file, and the runs of their steps.
#pragma once

#include "app/run_job/run_job.h"
#include "core/base/result.h"
#include "core/study/lesson.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::app {

struct NamedLesson
{
    std::string name; // for the command line: of one that is built in, or the path of a file
    study::Lesson lesson;
};

// A step of a lesson with what its texts need, which is all that a window needs to show it.
struct LessonPlace
{
    std::optional<NamedLesson> lesson;
    std::size_t number = 0;           // from 0
    std::vector<std::string> reports; // the JSON of each step's own run; empty: not known
    std::shared_ptr<const layout::RunView> kept = {}; // by the lesson, to be compared with
};

// In the order in which they are offered.
[[nodiscard]] const std::vector<NamedLesson>& builtInLessons();

// Whether it is the name of a lesson that is built in, or a file that says that it is one.
[[nodiscard]] bool isLesson(const std::string& nameOrFile);

// Takes a name ("roofline") or the path of a file, beside which its kernel and chip files lie. An
// error names what was asked for and the choices, or says what is wrong in the file.
[[nodiscard]] Result<NamedLesson> loadLesson(const std::string& nameOrFile);

// For its times alone.
[[nodiscard]] RunRequest requestOf(const study::LessonRun& run);
// The same with other values of some parameters, of which "chip" may be one.
[[nodiscard]] RunRequest requestWith(const study::LessonRun& run,
                                     const std::map<std::string, std::string>& changed);
// Whether the other one gives the times that are asked for. Whether values are computed does not
// matter, nor does the chip if none is asked for.
[[nodiscard]] bool isSameRun(const RunRequest& asked, const RunRequest& other);

// The report's JSON, from which lessons take their figures.
[[nodiscard]] std::string reportJson(const FinishedRun& run);

// "bm=512, bn=256" or "chip=tpu_v6e"
[[nodiscard]] std::string assignmentsText(const std::map<std::string, std::string>& values);

} // namespace pallascope::app
