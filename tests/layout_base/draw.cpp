// Writes one view of the synthetic main job as SVG, to look at: draw VIEW WIDTH HEIGHT TIME_NS
// OUT.svg [dark] [zoom FROM_NS TO_NS] [hover-copy ROW]. The size is that of the content without the
// head.
#include "tests/support/run_view_fixture.h"
#include "views/layout/overview/overview.h"
#include "views/layout/roofline/roofline.h"
#include "views/layout/scene/header.h"
#include "views/layout/scene/svg.h"
#include "views/layout/timeline/timeline.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using namespace pallascope;
using namespace pallascope::layout;

namespace {

Scene draw(const std::string& view, const RunView& run, const ViewState& state, Size size)
{
    if (view == "timeline") {
        return withHeader(
            layoutTimeline(run, state, {size.width, size.height - headerHeight(size.width)}));
    }
    if (view == "overview") {
        return layoutOverview(run, state, size);
    }
    if (view == "strip") {
        return layoutVerdictStrip(run, state, size);
    }
    if (view == "roofline") {
        return withHeader(
            layoutRoofline(run, state, {size.width, size.height - headerHeight(size.width)}));
    }
    std::cerr << "no view " << view << "\n";
    std::exit(2);
}

} // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> args(argv + 1, argv + argc);
    if (args.size() < 5) {
        std::cerr << "draw VIEW WIDTH HEIGHT TIME_NS OUT.svg [dark] [zoom FROM_NS TO_NS] "
                     "[hover-copy ROW]\n";
        return 2;
    }
    const RunView run = test::mainJobView();
    ViewState state;
    state.now = Picoseconds(std::stoll(args[3]) * 1000);
    state.visible =
        state.now.value() < 8'000'000 ? firstFrame(*run.trace) : frameAround(*run.trace, state.now);
    Theme theme = Theme::Light;
    for (std::size_t i = 5; i < args.size(); ++i) {
        if (args[i] == "dark") {
            theme = Theme::Dark;
        } else if (args[i] == "zoom") {
            state.visible = {Picoseconds(std::stoll(args[i + 1]) * 1000),
                             Picoseconds(std::stoll(args[i + 2]) * 1000)};
            i += 2;
        } else if (args[i] == "hover-copy") {
            state.hover = target::Copy{std::stoll(args[++i])};
        }
    }
    const Scene scene = draw(args[0], run, state, {std::stod(args[1]), std::stod(args[2])});
    std::ofstream(args[4]) << toSvg(scene, theme);
    return 0;
}
