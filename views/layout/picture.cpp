#include "views/layout/layouts.h"
#include "views/layout/scene/header.h"

#include <algorithm>

namespace pallascope::layout {

namespace {

struct View
{
    std::string_view name;
    Scene (*layout)(const RunView&, const ViewState&, Size);
};

Scene sourceAlone(const RunView& run, const ViewState& state, Size size)
{
    return layoutSource(run, state, size);
}

constexpr View kViews[] = {
    {"kernel", layoutKernel},     {"grid", layoutGrid},         {"memory", layoutMemory},
    {"timeline", layoutTimeline}, {"roofline", layoutRoofline}, {"source", sourceAlone},
    {"verdict", layoutVerdict},
};

} // namespace

const std::vector<std::string>& pictureNames()
{
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        for (const View& view : kViews) {
            names.emplace_back(view.name);
        }
        return names;
    }();
    return kNames;
}

Result<Scene> picture(std::string_view view, const RunView& run, const ViewState& state, Size size)
{
    const auto* const found =
        std::find_if(std::begin(kViews), std::end(kViews),
                     [&](const View& candidate) { return candidate.name == view; });
    if (found == std::end(kViews)) {
        std::string choices;
        for (const std::string& name : pictureNames()) {
            choices += (choices.empty() ? "" : ", ") + name;
        }
        return userError("There is no view \"" + std::string(view) + "\". The views are " + choices
                         + ".");
    }
    const double head = headerHeight(size.width);
    return withHeader(found->layout(run, state, {size.width, std::max(1.0, size.height - head)}));
}

} // namespace pallascope::layout
