// The table of all views of a run, which the pictures of the command line and the window both read.
// A new view is a folder and a row here. A view is a function from (run, state, size) to a scene:
// it keeps no state, and the same input always gives the same scene. Its content starts at y = 0;
// the title and the caption belong to the scene, and a dock's head or withHeader() paints them.
#pragma once

#include "core/base/result.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <span>
#include <string>
#include <string_view>

namespace pallascope::layout {

// Where a view's dock stands in the window: in one of the columns, below the docks that earlier
// rows of the table put there, or in the strip below all columns.
struct DockPlace
{
    static constexpr int kStrip = -1;
    static constexpr int kAbove = -2; // no dock: a strip above all of them
    int column = 0;                   // counted from the left
    // The shares, in px, by which docks divide the room of a small and of a large window. The first
    // row of a column sets its width. A dock without a height is hidden at first.
    Size small, large;
};

struct View
{
    std::string_view name; // the value of --view, and the name of the dock
    std::string_view title;
    int key = 0; // the digit for Ctrl + digit; also the order of docks in menus
    Scene (*layout)(const RunView&, const ViewState&, Size) = nullptr;
    Size pictureSize;     // at which the view reads well alone
    bool isWalked = true; // whether arrow keys go from thing to thing
    DockPlace dock;
};

[[nodiscard]] std::span<const View> allViews();
// The view with this name, or null.
[[nodiscard]] const View* findView(std::string_view name);
// "kernel, grid, ..."
[[nodiscard]] std::string viewNames();

// A picture of one view with its head; `size` includes the head. If there is no such view, the
// error names it and the views that there are.
[[nodiscard]] Result<Scene> picture(std::string_view view, const RunView& run,
                                    const ViewState& state, Size size);

} // namespace pallascope::layout
