#include "views/layout/kernel/occupancy.h"

#include "core/base/format.h"
#include "core/trace/columns.h"
#include "views/layout/kernel/parts.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

using parts::kPadding;
using parts::kRow;

constexpr double kLimitRow = 16; // px

double heightOf(const trace::BlockGrid& grid)
{
    return 2 * kRow + 37 + kLimitRow * static_cast<double>(grid.allowed.size()) + 6;
}

// How many warps an SM runs, beside how many it could.
double paintWarps(Canvas& canvas, const trace::BlockGrid& grid, double y)
{
    const double w = canvas.width() - 2 * kPadding;
    const auto most = static_cast<double>(std::max<std::int64_t>(1, grid.warpsAtMost));
    const double share = std::clamp(static_cast<double>(grid.warpsPerSm) / most, 0.0, 1.0);
    canvas.fill(kPadding, y, w, 8, Role::Grid);
    canvas.fill(kPadding, y, std::round(w * share), 8, Role::Vpu);
    canvas.text(
        kPadding, y + 9, w, 13,
        fmt::format("{} of {} warps", countText(grid.warpsPerSm), countText(grid.warpsAtMost)),
        smallText(Role::Text3));
    canvas.text(kPadding, y + 22, w, 13,
                fmt::format("{} registers a thread{}", countText(grid.registers),
                            grid.assumesRegisters ? ", assumed" : ""),
                smallText(Role::Text3));
    return y + 37;
}

} // namespace

// That of the blocks that the grid view shows.
const trace::BlockGrid* blocksAt(const RunView& run, const ViewState& state)
{
    const std::vector<trace::BlockGrid>& grids = run.trace->info().blockGrids;
    const trace::GridLaunch* const launch = run.index->launches().at(state.now, state.device);
    if (launch != nullptr) {
        return &grids[trace::at(launch->grid)];
    }
    return grids.size() == 1 ? grids.data() : nullptr;
}

double paintOccupancy(Canvas& canvas, const RunView& run, const ViewState& state, double y)
{
    const trace::BlockGrid* const grid = run.notRun.empty() ? blocksAt(run, state) : nullptr;
    if (grid == nullptr || y + heightOf(*grid) > canvas.height()) {
        return y;
    }
    const double w = canvas.width() - 2 * kPadding;
    y = paintHeading(canvas, y, "Blocks of an SM", countText(grid->blocksPerSm) + " at a time");
    y = paintWarps(canvas, *grid, y + 1);
    for (const trace::BlockLimit& limit : grid->allowed) {
        const bool isLeast = limit.blocks == grid->blocksPerSm;
        const Weight weight = isLeast ? Weight::SemiBold : Weight::Regular;
        const Role ink = isLeast ? Role::Text : Role::Text2;
        canvas.text(kPadding, y, w, kLimitRow,
                    isLeast ? "limited by " + limit.name : limit.name + " would allow",
                    {11, ink, weight, Align::Left});
        canvas.text(kPadding, y, w, kLimitRow, countText(limit.blocks),
                    {11, ink, weight, Align::Right});
        y += kLimitRow;
    }
    canvas.text(kPadding, y, w, kRow,
                fmt::format("{} of {} at a time, {} in the last",
                            counted(grid->waves, "wave", "waves"), countText(grid->atATime),
                            countText(grid->last)),
                smallText(Role::Text2));
    return y + kRow + 3;
}

} // namespace pallascope::layout
