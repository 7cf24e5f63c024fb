// Checks and writes the pictures of commands, as .svg or, with Qt, as .png.
#include "app/cli/commands.h"
#include "core/base/whole_file.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/scene/svg.h"
#include "views/layout/views.h"
#include "views/navigation/break_stops.h"
#include "views/navigation/times.h"

#include <fmt/format.h>

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

layout::Size defaultSize(const std::string& view)
{
    const layout::View* const found = layout::findView(view);
    // A picture of the window has this size.
    return found == nullptr ? layout::Size{1280, 800} : found->pictureSize;
}

// Checks what all pictures need before they are made.
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

// As F does in the window.
Status goToFinding(const layout::RunView& run, std::int32_t number, layout::ViewState& state)
{
    const std::size_t count = run.trace->info().findings.size();
    if (number < 1 || static_cast<std::size_t>(number) > count) {
        return userError(fmt::format("There is no finding {}; {}.", number,
                                     count == 0   ? "the run has none"
                                     : count == 1 ? "the run has one, finding 1"
                                                  : fmt::format("expected 1 to {}", count)));
    }
    const layout::target::Finding finding{number - 1};
    state.selection = finding;
    state.now = navigation::timeOf(*run.trace, finding, state.now).value_or(state.now);
    return Done{};
}

// A breakpoint whose stops the trace tells.
Result<trace::Breakpoint> breakpointOfTrace(const std::string& text)
{
    Result<trace::Breakpoint> breakpoint = trace::parseBreakpoint(text);
    if (breakpoint && trace::needsValues(*breakpoint)) {
        return userError("A picture does not know where " + text
                         + " stops; `pallascope state "
                           "--break` does.");
    }
    return breakpoint;
}

// The stops of these breakpoints, for the views to mark.
Status markBreaks(const trace::Trace& trace, const std::vector<std::string>& texts,
                  layout::ViewState& state)
{
    std::vector<layout::BreakStops> breaks;
    for (const std::string& text : texts) {
        const Result<trace::Breakpoint> breakpoint = breakpointOfTrace(text);
        if (!breakpoint) {
            return breakpoint.error();
        }
        const Result<navigation::BreakTimes> times = navigation::breakTimes(trace, *breakpoint);
        if (!times) {
            return times.error();
        }
        breaks.push_back({trace::textOf(*breakpoint), *times, true});
    }
    if (!breaks.empty()) {
        state.breaks = std::make_shared<const std::vector<layout::BreakStops>>(std::move(breaks));
    }
    return Done{};
}

std::string playheadOf(const PictureRequest& request)
{
    return request.at.value_or(request.view == "roofline" ? "100%" : "0");
}

} // namespace

Status checkPicture(const PictureRequest& request)
{
    const bool window = request.view == "window";
    if (Status kind = checkKind(request.file, request.theme, request.size); !kind) {
        return kind;
    }
    if (!window && layout::findView(request.view) == nullptr) {
        return userError("There is no view \"" + request.view + "\"; expected "
                         + layout::viewNames() + " or window.");
    }
    if (window && endsWith(request.file, ".svg")) {
        return userError("The whole window is saved as .png only; single views also as .svg.");
    }
    if (request.callout > 0 && !window) {
        return userError("A callout is shown in a picture of the window, not of \"" + request.view
                         + "\".");
    }
    if (request.finding && *request.finding < 1) {
        return userError(fmt::format("There is no finding {}; they are counted from 1, in the "
                                     "order of the report.",
                                     *request.finding));
    }
    for (const std::string& text : request.breaks) {
        if (const auto breakpoint = breakpointOfTrace(text); !breakpoint) {
            return breakpoint.error();
        }
    }
    const auto time = parseTime(playheadOf(request), Picoseconds(1));
    return time ? Status(Done{}) : time.error();
}

Status writePicture(const FinishedRun& run, const PictureRequest& request,
                    const std::shared_ptr<const layout::RunView>& kept, bool bySteps)
{
    const layout::Size size =
        request.size.empty() ? defaultSize(request.view) : *parseSize(request.size);
    const trace::Trace& trace = *run.view->trace;
    const std::int32_t devices = trace.info().deviceCount();
    if (request.device < 0 || request.device >= devices) {
        return userError(
            "There is no device " + std::to_string(request.device)
            + (devices > 1 ? "; the run has the devices 0 to " + std::to_string(devices - 1) + "."
                           : "; the run has one, device 0."));
    }
    layout::ViewState state;
    state.device = request.device;
    const auto [firstSm, endSm] = run.view->index->agents().smsOf(request.device);
    const std::int32_t sms = endSm - firstSm;
    if (request.sm < 0 || request.sm >= std::max(1, sms)) {
        return userError("There is no SM " + std::to_string(request.sm)
                         + (sms == 0
                                ? "; the run is not for a GPU."
                                : "; blocks ran on the SMs 0 to " + std::to_string(sms - 1) + "."));
    }
    state.sm = request.sm;
    state.now = *parseTime(playheadOf(request), trace.end());
    if (request.finding) {
        if (Status gone = goToFinding(*run.view, *request.finding, state); !gone) {
            return gone;
        }
    }
    state.visible = state.now == Picoseconds(0) ? layout::firstFrame(trace)
                                                : layout::frameAround(trace, state.now);
    state.kept = kept == nullptr ? nullptr : layout::keptBeside(kept, *run.view);
    state.isKeptBySteps = bySteps;
    if (Status marked = markBreaks(trace, request.breaks, state); !marked) {
        return marked;
    }
#ifdef PALLASCOPE_GUI
    if (request.view == "window") {
        return saveWindowPicture(run, state, size, *parseTheme(request.theme), request.file,
                                 request.callout, request.textSize, request.lesson);
    }
#endif
    const double scale = request.textSize / 100.0; // laid out as a smaller picture
    const Result<layout::Scene> scene =
        layout::picture(request.view, *run.view, state, {size.width / scale, size.height / scale});
    if (!scene) {
        return scene.error();
    }
    return writeScene(*scene, {request.file, request.size, request.theme, scale});
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
        return savePicture(scene, theme, request.file, request.scale);
    }
#endif
    return writeFile(request.file, layout::toSvg(scene, theme, request.scale));
}

} // namespace pallascope::app
