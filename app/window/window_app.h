// The window as the command line starts it, and pictures of it and of single views.
#pragma once

#include "app/run_job/run_job.h"
#include "core/base/result.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"
#include "views/layout/scene/theme.h"

#include <optional>
#include <string>

class QImage;

namespace pallascope::app {

// Opens the window on a trace file, on a request, or on the main job, and runs until it is closed.
// Returns the exit code: 2, with a sentence on stderr, when there is no display.
[[nodiscard]] int runWindow(int argc, char** argv, std::optional<RunRequest> request,
                            std::optional<std::string> traceFile);

// Opens the file in a window of its own, in another process.
void openAnother(const std::string& file);

// The whole window as a PNG, without a display.
[[nodiscard]] Status saveWindowPicture(const FinishedRun& run, const layout::ViewState& state,
                                       layout::Size size, layout::Theme theme,
                                       const std::string& path);

// One scene as a PNG, or as SVG when the name ends so. Written beside and renamed: never half a
// file.
[[nodiscard]] Status savePicture(const layout::Scene& scene, layout::Theme theme,
                                 const std::string& path);

[[nodiscard]] Status saveImage(const QImage& image, const std::string& path);

} // namespace pallascope::app
