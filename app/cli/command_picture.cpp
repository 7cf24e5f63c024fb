#include "app/cli/commands.h"
#include "core/base/whole_file.h"
#include "views/layout/layouts.h"
#include "views/layout/scene/svg.h"

#include <algorithm>

#ifdef PALLASCOPE_GUI
#include "app/window/window_app.h"
#endif

namespace pallascope::app {

namespace {

bool endsWith(const std::string& text, const std::string& end)
{
    return text.size() >= end.size()
           && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string viewNames()
{
    std::string names;
    for (const std::string& name : layout::pictureNames()) {
        names += name + ", ";
    }
    return names + "window";
}

// The size a view has in a 1280×800 window reads badly alone; these read well.
layout::Size defaultSize(const std::string& view)
{
    if (view == "window") {
        return {1280, 800};
    }
    if (view == "timeline") {
        return {1280, 280};
    }
    return view == "kernel"   ? layout::Size{360, 520}
           : view == "source" ? layout::Size{1180, 480}
                              : layout::Size{800, 640};
}

// What all pictures must have, before they are made.
Status checkKind(const std::string& file, const std::string& theme, const std::string& size)
{
    const bool svg = endsWith(file, ".svg"), png = endsWith(file, ".png");
    if (!svg && !png) {
        return userError("The picture \"" + file + "\" must end in .png or .svg.");
    }
#ifndef PALLASCOPE_GUI
    if (png) {
        return userError("This build has no Qt, so it writes pictures as .svg, not \"" + file
                         + "\".");
    }
#endif
    if (const auto known = parseTheme(theme); !known) {
        return known.error();
    }
    if (!size.empty()) {
        if (const auto known = parseSize(size); !known) {
            return known.error();
        }
    }
    return Done{};
}

} // namespace

Status checkPicture(const PictureRequest& request)
{
    const auto& names = layout::pictureNames();
    const bool window = request.view == "window";
    if (Status kind = checkKind(request.file, request.theme, request.size); !kind) {
        return kind;
    }
    if (!window && std::find(names.begin(), names.end(), request.view) == names.end()) {
        return userError("There is no view \"" + request.view + "\"; " + viewNames()
                         + " are right.");
    }
    if (window && endsWith(request.file, ".svg")) {
        return userError("The whole window is saved as .png only; single views also as .svg.");
    }
    const auto time = parseTime(request.at, Picoseconds(1));
    return time ? Status(Done{}) : time.error();
}

Status writePicture(const FinishedRun& run, const PictureRequest& request)
{
    const layout::Size size =
        request.size.empty() ? defaultSize(request.view) : *parseSize(request.size);
    const trace::Trace& trace = *run.view->trace;
    layout::ViewState state;
    state.now = *parseTime(request.at, trace.end());
    state.visible = state.now == Picoseconds(0) ? layout::firstFrame(trace)
                                                : layout::frameAround(trace, state.now);
#ifdef PALLASCOPE_GUI
    if (request.view == "window") {
        return saveWindowPicture(run, state, size, *parseTheme(request.theme), request.file);
    }
#endif
    const Result<layout::Scene> scene = layout::picture(request.view, *run.view, state, size);
    if (!scene) {
        return scene.error();
    }
    return writeScene(*scene, {request.file, request.size, request.theme});
}

Status checkScene(const SceneRequest& request)
{
    return checkKind(request.file, request.theme, request.size);
}

Status writeScene(const layout::Scene& scene, const SceneRequest& request)
{
    const layout::Theme theme = *parseTheme(request.theme);
#ifdef PALLASCOPE_GUI
    if (endsWith(request.file, ".png")) {
        return savePicture(scene, theme, request.file);
    }
#endif
    return writeFile(request.file, layout::toSvg(scene, theme));
}

} // namespace pallascope::app
