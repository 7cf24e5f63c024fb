// Makes the scene of the grid view: each operand's array as blocks, lined up by grid axis, and the
// path that the kernel has taken so far.
#include "views/layout/grid/grid.h"

#include "core/base/format.h"
#include "views/layout/grid/parts.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr double kMargin = 10;
constexpr double kLegend = 40;

GridMoment momentOf(const RunView& run, const ViewState& state)
{
    const Position position = positionAt(run, state.now);
    return {run, state.now, position.pipeline, position.step, position.index, position.finished};
}

// Of all agents that share the array, on the leading device.
std::string writtenText(Canvas& canvas, const GridMoment& moment, std::int32_t operand)
{
    const trace::Operand& op = moment.run.trace->info().operands[static_cast<std::size_t>(operand)];
    const std::int64_t written = moment.run.index->blocksWritten(operand, moment.now);
    const std::int64_t all = parts::blockTotal(op);
    canvas.state(
        {FactKind::BlocksWritten, operand, static_cast<double>(written), countText(written)});
    canvas.state({FactKind::BlocksOfArray, operand, static_cast<double>(all), countText(all)});
    return fmt::format("|{}| of |{}| {} written", countText(written), countText(all), op.name);
}

std::string captionOf(Canvas& canvas, const GridMoment& moment)
{
    const trace::Info& info = moment.run.trace->info();
    const trace::Pipeline& pipe = info.pipelines[static_cast<std::size_t>(moment.pipeline)];
    if (!moment.run.notRun.empty()) {
        const std::string blocks = blocksText(moment.run);
        return fmt::format("not run · |{}| {}{}", countText(pipe.steps),
                           pipe.steps == 1 ? "step" : "steps",
                           blocks.empty() ? "" : " of " + blocks);
    }
    const Position position = positionAt(moment.run, moment.now);
    canvas.state(factsOf(position));
    std::string caption = stepText(position);
    if (!moment.index.empty()) {
        caption += fmt::format(" · block |{}|", trace::indexText(moment.index));
    }
    for (std::int32_t i = 0; i < pipe.operandCount; ++i) {
        const std::int32_t operand = pipe.firstOperand + i;
        if (parts::writes(info.operands[static_cast<std::size_t>(operand)])) {
            caption += " · " + writtenText(canvas, moment, operand);
        }
    }
    return caption;
}

} // namespace

Scene layoutGrid(const RunView& run, const ViewState& state, Size size)
{
    const trace::Trace& trace = *run.trace;
    if (trace.info().pipelines.empty() || (trace.steps().size() == 0 && run.notRun.empty())) {
        return parts::nothing("Grid", "no grid steps",
                              "No blocks: this trace has no grid. What the program does is in the "
                              "time line and in the source.",
                              size);
    }
    const GridMoment moment = momentOf(run, state);
    Canvas canvas(size.width, size.height);
    const bool legend = size.height >= 240;
    const Rect area = {kMargin, 4, size.width - 2 * kMargin,
                       size.height - 4 - (legend ? kLegend : 4.0)};
    const GridArrangement arrangement =
        arrangeGrid(trace.info(), moment.pipeline, area, headWidths(trace.info(), moment.pipeline));

    double tick = 12;
    std::int64_t hidden = 0;
    for (const ArrayPanel& panel : arrangement.panels) {
        if (panel.y + panel.cellsHeight() > area.bottom() + 1
            || panel.x + panel.cellsWidth() > area.right() + 1) {
            ++hidden;
            continue;
        }
        tick = std::max(tick, std::min(panel.cellWidth, 28.0));
        paintHeading(canvas, moment, panel, size.width - 2);
        paintArray(canvas, moment, panel);
    }
    if (arrangement.anchor && hidden == 0) {
        paintGuides(canvas, moment, arrangement);
        if (run.notRun.empty()) {
            paintPath(canvas, moment, arrangement.panels[*arrangement.anchor]);
        }
    }
    paintOdometer(canvas, moment, arrangement.odometer, tick);
    if (legend && run.notRun.empty()) {
        paintLegend(canvas, moment, {kMargin, size.height - kLegend + 4, area.w, kLegend - 4});
    }
    std::string caption = captionOf(canvas, moment);
    if (hidden > 0) {
        caption += fmt::format(" · |{}| arrays need more room", countText(hidden));
    }
    return parts::finished(std::move(canvas), "Grid", std::move(caption), run, state);
}

} // namespace pallascope::layout
