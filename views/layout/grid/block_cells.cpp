#include "views/layout/grid/block_cells.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace {

constexpr double kWritten = 0.50;

void fillFromBelow(Canvas& canvas, Rect cell, double share, Role role)
{
    const double height = std::round(cell.h * std::clamp(share, 0.0, 1.0));
    canvas.fill(cell.x, cell.bottom() - height, cell.w, height, role);
}

void inUseFrame(Canvas& canvas, Rect cell)
{
    canvas.frame(cell.x - 1, cell.y - 1, cell.w + 2, cell.h + 2, Role::Text, 2);
}

// The fill below the marks of a copy that is queued or arriving.
Color restingFill(const trace::BlockState& state, Role role, bool output)
{
    if (state.copies == 0) {
        return Role::Grid;
    }
    return output ? mix(role, kWritten) : copiedTint(role, state.copies);
}

} // namespace

Color copiedTint(Role role, std::int64_t copies)
{
    return mix(role, std::min(0.60, 0.14 + 0.05 * static_cast<double>(copies)));
}

bool isLive(trace::BlockPhase phase)
{
    switch (phase) {
    case trace::BlockPhase::Never:
    case trace::BlockPhase::Before:
    case trace::BlockPhase::Written:
        return false;
    case trace::BlockPhase::Queued:
    case trace::BlockPhase::Arriving:
    case trace::BlockPhase::Ready:
    case trace::BlockPhase::InUse:
    case trace::BlockPhase::Leaving:
        return true;
    }
    return false;
}

Rect united(const Rect& a, const Rect& b)
{
    const double x = std::min(a.x, b.x), y = std::min(a.y, b.y);
    return {x, y, std::max(a.right(), b.right()) - x, std::max(a.bottom(), b.bottom()) - y};
}

Color blockFill(const trace::BlockState& state, Role role, bool output)
{
    switch (state.phase) {
    case trace::BlockPhase::Never:
        return Role::Grid;
    case trace::BlockPhase::Before:
        return copiedTint(role, state.copies);
    case trace::BlockPhase::Queued:
        return output ? Color(role) : restingFill(state, role, output);
    case trace::BlockPhase::Arriving:
        return mix(role, 0.30 + 0.6 * state.fraction);
    case trace::BlockPhase::Ready:
    case trace::BlockPhase::InUse:
        return role;
    case trace::BlockPhase::Leaving:
        return mix(role, 1.0 - (1.0 - kWritten) * state.fraction);
    case trace::BlockPhase::Written:
        return mix(role, kWritten);
    }
    return Role::Grid;
}

void paintBlock(Canvas& canvas, Rect cell, const trace::BlockState& state, Role role, bool output)
{
    switch (state.phase) {
    case trace::BlockPhase::Never:
    case trace::BlockPhase::Before:
    case trace::BlockPhase::Ready:
    case trace::BlockPhase::Written:
        canvas.fill(cell.x, cell.y, cell.w, cell.h, blockFill(state, role, output));
        return;
    case trace::BlockPhase::Queued:
        canvas.fill(cell.x, cell.y, cell.w, cell.h, blockFill(state, role, output));
        canvas.dashedFrame(cell.x, cell.y, cell.w, cell.h, output ? Color(Role::Text) : role);
        return;
    case trace::BlockPhase::Arriving:
        canvas.fill(cell.x, cell.y, cell.w, cell.h, restingFill(state, role, output));
        fillFromBelow(canvas, cell, state.fraction, role);
        canvas.frame(cell.x, cell.y, cell.w, cell.h, role);
        return;
    case trace::BlockPhase::InUse:
        if (output) {
            canvas.fill(cell.x, cell.y, cell.w, cell.h, mix(role, 0.14));
            fillFromBelow(canvas, cell, state.fraction, role);
        } else {
            canvas.fill(cell.x, cell.y, cell.w, cell.h, role);
        }
        inUseFrame(canvas, cell);
        return;
    case trace::BlockPhase::Leaving: {
        // What has still to leave stays at the top, so the block drains upwards, out of the chip.
        canvas.fill(cell.x, cell.y, cell.w, cell.h, mix(role, kWritten));
        canvas.fill(cell.x, cell.y, cell.w, std::round(cell.h * (1 - state.fraction)), role);
        canvas.frame(cell.x, cell.y, cell.w, cell.h, role);
        return;
    }
    }
}

} // namespace pallascope::layout
