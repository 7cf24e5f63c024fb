#include "views/layout/views.h"

#include "views/layout/devices/devices.h"
#include "views/layout/grid/grid.h"
#include "views/layout/kernel/kernel.h"
#include "views/layout/memory/memory.h"
#include "views/layout/program/program.h"
#include "views/layout/roofline/roofline.h"
#include "views/layout/scene/header.h"
#include "views/layout/source/source.h"
#include "views/layout/timeline/timeline.h"
#include "views/layout/verdict/verdict.h"

#include <algorithm>

namespace pallascope::layout {

namespace {

Scene sourceAlone(const RunView& run, const ViewState& state, Size size)
{
    return layoutSource(run, state, size);
}

constexpr bool kWalked = true;

// The columns: name, title, key, layout, size of a picture, whether walked, and the dock's place:
// its column, its size in a small window and in a large one.
constexpr View kViews[] = {
    {"kernel", "Kernel", 1, layoutKernel, {360, 520}, kWalked, {0, {232, 462}, {304, 466}}},
    {"grid", "Grid", 2, layoutGrid, {800, 640}, kWalked, {1, {333, 462}, {495, 706}}},
    {"memory", "Memory", 3, layoutMemory, {800, 640}, kWalked, {2, {347, 462}, {449, 706}}},
    {"timeline",
     "Time line",
     7,
     layoutTimeline,
     {1280, 280},
     !kWalked,
     {DockPlace::kStrip, {0, 245}, {0, 281}}},
    {"roofline", "Roofline", 4, layoutRoofline, {800, 640}, !kWalked, {3, {365, 258}, {669, 360}}},
    {"source", "Source", 5, sourceAlone, {1180, 480}, kWalked, {3, {365, 203}, {669, 345}}},
    {"verdict", "Verdict and findings", 6, layoutVerdict, {800, 640}, kWalked, {0, {}, {304, 239}}},
    {"devices", "Devices", 8, layoutDevices, {800, 640}, kWalked, {1, {}, {}}},
    {"program", "Program", 9, layoutProgram, {1280, 60}, kWalked, {DockPlace::kAbove, {}, {}}},
};

} // namespace

std::span<const View> allViews()
{
    return kViews;
}

const View* findView(std::string_view name)
{
    const auto* const found = std::find_if(std::begin(kViews), std::end(kViews),
                                           [&](const View& view) { return view.name == name; });
    return found == std::end(kViews) ? nullptr : found;
}

std::string viewNames()
{
    std::string names;
    for (const View& view : kViews) {
        names += (names.empty() ? "" : ", ") + std::string(view.name);
    }
    return names;
}

Result<Scene> picture(std::string_view view, const RunView& run, const ViewState& state, Size size)
{
    const View* found = findView(view);
    if (found == nullptr) {
        return userError("There is no view \"" + std::string(view) + "\". The views are "
                         + viewNames() + ".");
    }
    const double head = headerHeight(size.width);
    return withHeader(found->layout(run, state, {size.width, std::max(1.0, size.height - head)}));
}

} // namespace pallascope::layout
