// Makes the scene of the grid view: each operand's array as blocks, lined up by grid axis, and the
// path that the kernel has taken so far.
#include "views/layout/grid/grid.h"

#include "core/base/format.h"
#include "views/layout/grid/flow.h"
#include "views/layout/grid/tables.h"
#include "views/layout/grid/waves.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace pallascope::layout {

namespace {

constexpr double kMargin = 10;
constexpr double kLegend = 40;
constexpr double kReadable = 10; // px of a cell whose state can be seen

GridMoment momentOf(const RunView& run, const ViewState& state)
{
    const Position position = positionAt(run, state.now);
    const bool hasSteps = run.trace->steps().size() > 0 || !run.notRun.empty();
    return {run,
            state.now,
            state.device,
            chosenSm(run, state),
            position.pipeline,
            position.step,
            position.index,
            position.finished,
            hasSteps && !run.trace->info().pipelines.empty()};
}

// Of all agents that share the array, on the leading device.
std::string writtenText(Canvas& canvas, const GridMoment& moment, std::int32_t operand)
{
    const trace::Operand& op = moment.run.trace->info().operands[static_cast<std::size_t>(operand)];
    const std::int64_t written =
        moment.run.index->blocksWritten(trace::OperandRow{operand}, moment.now);
    const std::int64_t all = parts::blockTotal(op);
    canvas.state(
        {FactKind::BlocksWritten, operand, static_cast<double>(written), countText(written)});
    canvas.state({FactKind::BlocksOfArray, operand, static_cast<double>(all), countText(all)});
    return fmt::format("|{}| of |{}| {} written", countText(written), countText(all), op.name);
}

std::string notRunCaption(const RunView& run, const trace::Pipeline& pipe)
{
    const std::string blocks = blocksText(run);
    return fmt::format("not run · |{}| {}{}", countText(pipe.steps),
                       pipe.steps == 1 ? "step" : "steps", blocks.empty() ? "" : " of " + blocks);
}

std::string captionOf(Canvas& canvas, const GridMoment& moment,
                      const std::vector<ArrayPicture>& pictures)
{
    const trace::Info& info = moment.run.trace->info();
    const std::string manual = manualCaption(moment, pictures);
    if (!moment.hasPipeline) {
        return manual;
    }
    const trace::Pipeline& pipe = info.pipelines[moment.pipeline.index()];
    if (!moment.run.notRun.empty()) {
        return notRunCaption(moment.run, pipe);
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
    if (!manual.empty()) { // what pipelines do not copy
        caption += " · besides " + manual;
    }
    return caption;
}

// How arrays in lines share the room with what stands below them.
struct Shares
{
    Flow flow;
    double list = 0, legend = 0; // px
};

// Where cells would be too small to be told apart, the legend goes first, then the list of copies.
Shares sharesOf(const std::vector<ArrayPicture>& pictures, Rect area, double legend)
{
    const bool isManual = std::any_of(pictures.begin(), pictures.end(),
                                      [](const auto& one) { return one.manual != nullptr; });
    const double least = isManual ? kCopiesHead + kCopyLine + 8 : 0;
    const double list = isManual ? least + 3 * kCopyLine : 0;
    Shares best;
    for (const auto& [ofList, ofLegend] : {std::pair(list, legend), std::pair(list, 0.0),
                                           std::pair(least, 0.0), std::pair(0.0, 0.0)}) {
        Flow flow = flowOf(pictures, {area.x, area.y, area.w, area.h - ofList - ofLegend});
        const bool isMore = flow.panels.size() > best.flow.panels.size();
        if (isMore || flow.cell > best.flow.cell) {
            best = {std::move(flow), ofList, ofLegend};
        }
        if (best.flow.panels.size() == pictures.size() && best.flow.cell >= kReadable) {
            break;
        }
    }
    return best;
}

struct ChosenPictures
{
    std::vector<ArrayPicture> pictures;
    Shares shares;
};

// Where there is too little room, arrays of one index map share a picture, then tables go.
ChosenPictures chosen(const GridMoment& moment, const std::vector<ArrayPicture>& all, Rect room,
                      double legend)
{
    // How much larger the cells must be for arrays to share a picture, and for tables to go.
    constexpr double kToShare = 1.1, kToGo = 1.25;
    const std::vector<ArrayPicture> tables = withTables(moment, all);
    const bool haveTables = tables.size() > all.size();
    ChosenPictures best;
    bool isWhole = false;
    for (const auto& [from, isShared] : {std::pair(&tables, false), std::pair(&tables, true),
                                         std::pair(&all, false), std::pair(&all, true)}) {
        if (from == &all && !haveTables) {
            break;
        }
        ChosenPictures next{isShared ? sharedPictures(moment.run, *from, room.w) : *from, {}};
        if (isShared && next.pictures.size() == from->size()) {
            continue; // nothing is shared
        }
        next.shares = sharesOf(next.pictures, room, legend);
        const bool isAll = next.shares.flow.panels.size() == next.pictures.size();
        const double larger = from == &tables ? kToShare : kToGo;
        const bool isLarger = next.shares.flow.cell > larger * best.shares.flow.cell;
        if (best.pictures.empty() || (isAll && !isWhole) || (isAll == isWhole && isLarger)) {
            best = std::move(next);
            isWhole = isAll;
        }
        if (isWhole && best.shares.flow.cell >= kReadable) {
            break;
        }
    }
    return best;
}

// Odometer, arrays from left to right and from top to bottom, what copies are under way, and the
// legend. Returns how many arrays have no room.
std::int64_t paintInLines(Canvas& canvas, const GridMoment& moment, Rect area, double legend,
                          const std::vector<ArrayPicture>& all)
{
    const double y = paintAxes(canvas, moment, area);
    const Rect room{area.x, y, area.w, area.bottom() - y};
    const auto [pictures, shares] = chosen(moment, all, room, legend);
    paintFlow(canvas, moment, pictures, shares.flow);
    const double bottom = area.bottom() - shares.legend;
    if (shares.list > 0) {
        paintCopiesNow(canvas, moment,
                       {area.x, shares.flow.bottom + 6, area.w, bottom - shares.flow.bottom - 10});
    }
    if (shares.legend > 0 && moment.run.notRun.empty()) {
        paintLegend(canvas, moment, pictures, {area.x, bottom + 4, area.w, shares.legend - 4});
    }
    return static_cast<std::int64_t>(pictures.size() - shares.flow.panels.size());
}

// Long rows and columns that line up have small cells; broken into lines they may have larger ones.
bool isBetterInLines(const GridArrangement& arrangement, const std::vector<ArrayPicture>& pictures,
                     Rect area)
{
    constexpr double kFineCell = 8; // px; from here on lining up is worth more
    double least = kFineCell;
    for (const ArrayPanel& panel : arrangement.panels) {
        least = std::min({least, panel.cellWidth, panel.cellHeight});
        if (panel.shape.rowScale != 1 || panel.shape.columnScale != 1) {
            return false; // arrays to one scale show more than large cells
        }
    }
    if (least >= kFineCell) {
        return false;
    }
    const Flow flow = flowOf(pictures, area);
    return flow.panels.size() == pictures.size() && flow.cell >= 1.5 * least;
}

// Lines up the arrays of the pipeline by the grid axes that they follow. Returns false where such a
// picture would not show all blocks, or not well.
bool paintAligned(Canvas& canvas, const GridMoment& moment, Rect area,
                  const std::vector<ArrayPicture>& pictures)
{
    const bool isSuited = std::all_of(pictures.begin(), pictures.end(), [&](const auto& one) {
        return one.manual == nullptr && !hasOuterBlocks(moment.run, trace::OperandRow{one.operand});
    });
    if (!isSuited || !moment.hasPipeline || withTables(moment, pictures).size() > pictures.size()) {
        return false;
    }
    const GridArrangement arrangement =
        arrangeGrid(moment.run, moment.pipeline, area, headWidths(moment.run, moment.pipeline));
    const auto isOutside = [&](const ArrayPanel& panel) {
        return panel.y + panel.cellsHeight() > area.bottom() + 1
               || panel.x + panel.cellsWidth() > area.right() + 1;
    };
    const bool fits = std::none_of(arrangement.panels.begin(), arrangement.panels.end(), isOutside);
    if (!fits || (!arrangement.anchor && pictures.size() > 3)
        || isBetterInLines(arrangement, pictures, area)) {
        return false;
    }
    double tick = 12;
    for (const ArrayPanel& panel : arrangement.panels) {
        tick = std::max(tick, std::min(panel.cellWidth, 28.0));
        paintHeading(canvas, moment, panel, canvas.width() - 2);
        paintArray(canvas, moment, panel);
    }
    if (arrangement.anchor) {
        paintGuides(canvas, moment, arrangement);
        if (moment.run.notRun.empty()) {
            paintPath(canvas, moment, arrangement.panels[*arrangement.anchor]);
        }
    }
    paintOdometer(canvas, moment, arrangement.odometer, tick);
    return true;
}

// Paints the blocks of a GPU's grid, and returns what is left of the area.
Rect belowWaves(Canvas& canvas, const RunView& run, const ViewState& state,
                const trace::GridLaunch& launch, Rect area, bool isAlone)
{
    constexpr double kShare = 0.45, kApart = 8;
    const double height =
        wavesHeight(launch, area.w, isAlone ? area.h : std::floor(area.h * kShare));
    if (height > 0) {
        paintWaves(canvas, run, state, launch, {area.x, area.y, area.w, height});
        area.y += height + kApart;
        area.h -= height + kApart;
    }
    return area;
}

} // namespace

Scene layoutGrid(const RunView& run, const ViewState& state, Size size)
{
    const GridMoment moment = momentOf(run, state);
    const std::vector<ArrayPicture> pictures = picturesAt(moment);
    const trace::GridLaunch* const launch = run.index->launches().at(state.now, state.device);
    if (pictures.empty() && launch == nullptr) {
        return parts::nothing("Grid", "nothing copied",
                              "Nothing is copied: this program has no grid and starts no copies. "
                              "What it does is in the time line and in the source.",
                              size);
    }
    Canvas canvas(size.width, size.height);
    const double legend = size.height >= 240 ? kLegend : 4;
    Rect area = {kMargin, 4, size.width - 2 * kMargin, size.height - 4 - legend};
    if (launch != nullptr) {
        area = belowWaves(canvas, run, state, *launch, area, pictures.empty());
    }
    std::int64_t hidden = 0;
    if (pictures.empty()) {
        return parts::finished(std::move(canvas), "Grid", wavesCaption(canvas, run, state, *launch),
                               run, state);
    }
    if (paintAligned(canvas, moment, area, pictures)) {
        if (size.height >= 240 && run.notRun.empty()) {
            paintLegend(canvas, moment, pictures,
                        {kMargin, area.bottom() + 4, area.w, kLegend - 4});
        }
    } else {
        hidden = paintInLines(canvas, moment, {area.x, area.y, area.w, size.height - 4 - area.y},
                              size.height >= 240 ? kLegend : 0, pictures);
    }
    std::string caption = captionOf(canvas, moment, pictures);
    if (launch != nullptr) {
        caption =
            wavesCaption(canvas, run, state, *launch) + (caption.empty() ? "" : " · ") + caption;
    }
    if (hidden > 0) {
        caption += fmt::format(" · |{}| arrays need more room", countText(hidden));
    }
    if (run.report.hasSteps()) {
        caption = withKept(canvas, state, "steps", std::move(caption));
    }
    return parts::finished(std::move(canvas), "Grid", std::move(caption), run, state);
}

} // namespace pallascope::layout
