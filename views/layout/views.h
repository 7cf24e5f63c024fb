// The views of a run, in one table that the pictures of the command line and the window read. A new
// view is a folder and a row here. A view is a function from (run, state, size) to a scene: nothing
// keeps state, and the same input always gives the same scene. Content starts at y = 0: title and
// caption are the scene's, painted by a dock's head or withHeader().
#pragma once

#include "core/base/result.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <span>
#include <string>
#include <string_view>

namespace pallascope::layout {

// Where a view's dock stands in the window: in one of the columns, below what the rows before it
// have put there, or in the strip below all columns.
struct DockPlace
{
    static constexpr int kStrip = -1;
    int column = 0; // from the left
    // px, by which docks share the room of a small and of a large window; of a column its first row
    // says the width. No height: hidden at first.
    Size small, large;
};

struct View
{
    std::string_view name; // of --view and of the dock
    std::string_view title;
    int key = 0; // Ctrl and this digit, which is also the order of docks in menus
    Scene (*layout)(const RunView&, const ViewState&, Size) = nullptr;
    Size pictureSize;     // in which it reads well alone
    bool isWalked = true; // arrow keys go from thing to thing
    DockPlace dock;
};

[[nodiscard]] std::span<const View> allViews();
// The view of a name, null for none.
[[nodiscard]] const View* findView(std::string_view name);
// "kernel, grid, ..."
[[nodiscard]] std::string viewNames();

// A picture of one view with its head; size includes the head. The error names the view and the
// choices.
[[nodiscard]] Result<Scene> picture(std::string_view view, const RunView& run,
                                    const ViewState& state, Size size);

} // namespace pallascope::layout
