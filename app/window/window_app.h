// Opens the window for the command line, and makes pictures of the window and of single views.
#pragma once

#include "app/lessons/lessons.h"
#include "app/run_job/run_job.h"
#include "core/base/result.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"
#include "views/layout/scene/theme.h"

#include <optional>
#include <string>

class QImage;

namespace pallascope::app {

// Opens the window with a file or a lesson, a request or the main job, and runs until it is closed.
// Returns the exit code: 2, with a sentence on stderr, if there is no display.
[[nodiscard]] int runWindow(int argc, char** argv, std::optional<RunRequest> request,
                            std::optional<std::string> file);

// Opens the file in a window of its own, in another process.
void openAnother(const std::string& file);

// Writes a picture of the whole window as a PNG, without a display; with a callout of the first
// start, from 1, if it is asked for, with texts of a size in percent, and with a lesson below the
// views.
[[nodiscard]] Status saveWindowPicture(const FinishedRun& run, const layout::ViewState& state,
                                       layout::Size size, layout::Theme theme,
                                       const std::string& path, int callout = 0,
                                       int textPercent = 100, const LessonPlace& lesson = {});

// Writes a scene as a PNG, or as an SVG if the name ends in .svg, magnified. It is written beside
// its place and then renamed, so there is never half a file.
[[nodiscard]] Status savePicture(const layout::Scene& scene, layout::Theme theme,
                                 const std::string& path, double scale = 1);

// Writes what the window shows, which has no scene, as a PNG; refuses a name that ends in .svg.
[[nodiscard]] Status saveImage(const QImage& image, const std::string& path);

} // namespace pallascope::app
