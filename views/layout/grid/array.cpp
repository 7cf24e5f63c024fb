// Paints one array of the grid view: its heading and its blocks. The blocks are cells or, if there
// are many, pixels of an image.
#include "core/base/format.h"
#include "views/layout/grid/block_cells.h"
#include "views/layout/grid/cells.h"
#include "views/layout/grid/parts.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace pallascope::layout {

namespace {

constexpr double kMarkedCell = 10; // px; from here on a cell has room for frames and heights
constexpr double kMostLabel = 64;  // px for the name of a row axis
constexpr double kPlainCell = 4;   // px; from here on each cell is a fill of its own
constexpr std::int64_t kMostCells = 20'000;
constexpr Extent kMostFolded =
    128; // cells per axis of a folded array; bounds the look-ups per frame

struct ArrayPainter
{
    Canvas& canvas;
    const GridMoment& moment;
    const ArrayPanel& panel;
    const trace::Operand& operand;
    ShownSlice slice;
    Role role;
    bool output;
    ArrayCells numbers;

    [[nodiscard]] trace::BlockState stateOf(std::optional<std::int64_t> block) const
    {
        return block ? moment.run.index->blockStateAt(panel.shape.operand, *block, moment.now)
                     : trace::BlockState{};
    }

    [[nodiscard]] std::optional<std::int64_t> blockAt(Extent row, Extent column) const
    {
        return numbers.blockAt(slice.firstCell + row * panel.shape.columns + column);
    }

    void hit(Rect rect, std::optional<std::int64_t> block) const
    {
        if (block) {
            canvas.hit(rect.x, rect.y, rect.w, rect.h,
                       target::Block{panel.shape.operand.number, *block});
        }
    }

    // A cell without the gap. Cells of the last row and column end where the array ends.
    [[nodiscard]] Rect cell(Extent row, Extent column) const
    {
        const ArrayShape& shape = panel.shape;
        const double gap = std::min(panel.cellWidth, panel.cellHeight) >= 3 ? 1 : 0;
        const double x = std::round(panel.x + static_cast<double>(column) * panel.cellWidth);
        const double y = std::round(panel.y + static_cast<double>(row) * panel.cellHeight);
        double w =
            std::round(panel.x + static_cast<double>(column + 1) * panel.cellWidth) - x - gap;
        double h = std::round(panel.y + static_cast<double>(row + 1) * panel.cellHeight) - y - gap;
        if (column == shape.columns - 1) {
            w = std::max(std::min(w, 2.0), std::round(w * shape.lastColumn));
        }
        if (row == shape.rows - 1) {
            h = std::max(std::min(h, 2.0), std::round(h * shape.lastRow));
        }
        return {x, y, w, h};
    }

    void frameInUse(Rect rect) const
    {
        canvas.frame(rect.x - 1, rect.y - 1, rect.w + 2, rect.h + 2, Role::Text,
                     rect.w >= kPlainCell ? 2 : 1);
    }

    void paintCells(bool marked) const;
    void paintImage() const;
    void paintHeld() const;
    void paintOverlapping(bool marked) const;
    [[nodiscard]] std::vector<Rect> placesOf(std::int64_t block) const;
};

// The places of a block in the slice that is shown: one for each cell, or for all cells of a block
// that may overlap others.
std::vector<Rect> ArrayPainter::placesOf(std::int64_t block) const
{
    std::vector<Rect> places;
    for (const std::int64_t number : numbers.cellsOf(block)) {
        const std::int64_t inSlice = number - slice.firstCell;
        if (inSlice < 0 || inSlice >= panel.shape.rows * panel.shape.columns) {
            continue;
        }
        const Rect rect = cell(inSlice / panel.shape.columns, inSlice % panel.shape.columns);
        if (numbers.mayOverlap() && !places.empty()) {
            places.front() = united(places.front(), rect);
        } else {
            places.push_back(rect);
        }
    }
    return places;
}

// Cells in which nothing goes on, then the blocks of the others, each as a whole: that in use lies
// on top.
void ArrayPainter::paintOverlapping(bool marked) const
{
    std::set<std::pair<int, std::int64_t>> live; // by liveliness
    for (Extent row = 0; row < panel.shape.rows; ++row) {
        for (Extent column = 0; column < panel.shape.columns; ++column) {
            const std::optional<std::int64_t> block = blockAt(row, column);
            const trace::BlockState state = stateOf(block);
            const Rect rect = cell(row, column);
            if (isLive(state.phase)) {
                live.emplace(trace::livelinessOf(state.phase), *block);
                continue;
            }
            canvas.fill(rect.x, rect.y, rect.w, rect.h, blockFill(state, role, output));
            hit({rect.x, rect.y, rect.w + 1, rect.h + 1}, block);
        }
    }
    for (const auto& [liveliness, block] : live) {
        const trace::BlockState state = stateOf(block);
        for (const Rect& rect : placesOf(block)) {
            if (marked) {
                paintBlock(canvas, rect, state, role, output);
            } else {
                canvas.fill(rect.x, rect.y, rect.w, rect.h, blockFill(state, role, output));
            }
            if (!marked && state.phase == trace::BlockPhase::InUse) {
                frameInUse(rect);
            }
            hit({rect.x, rect.y, rect.w + 1, rect.h + 1}, block);
        }
    }
}

void ArrayPainter::paintCells(bool marked) const
{
    if (numbers.mayOverlap()) {
        paintOverlapping(marked);
        return;
    }
    // Blocks in use come last, so that their frames lie on top of their neighbours.
    std::vector<std::pair<Rect, trace::BlockState>> inUse;
    for (Extent row = 0; row < panel.shape.rows; ++row) {
        for (Extent column = 0; column < panel.shape.columns; ++column) {
            const std::optional<std::int64_t> block = blockAt(row, column);
            const trace::BlockState state = stateOf(block);
            const Rect rect = cell(row, column);
            if (state.phase == trace::BlockPhase::InUse) {
                inUse.emplace_back(rect, state);
            } else if (marked) {
                paintBlock(canvas, rect, state, role, output);
            } else {
                canvas.fill(rect.x, rect.y, rect.w, rect.h, blockFill(state, role, output));
            }
            hit({rect.x, rect.y, rect.w + 1, rect.h + 1}, block);
        }
    }
    for (const auto& [rect, state] : inUse) {
        if (marked) {
            paintBlock(canvas, rect, state, role, output);
        } else {
            canvas.fill(rect.x, rect.y, rect.w, rect.h, blockFill(state, role, output));
            frameInUse(rect);
        }
    }
}

// Each block gets one pixel or more. If there are too many blocks for that, several share a cell,
// which shows the first of them. Blocks under way are drawn on top, each in its place, so that
// folding hides none.
void ArrayPainter::paintImage() const
{
    const ArrayShape& shape = panel.shape;
    const auto foldOf = [](Extent blocks, double pixels, bool many) {
        const Extent cells =
            std::clamp<Extent>(static_cast<Extent>(pixels), 1, many ? kMostFolded : blocks);
        return std::max<Extent>(1, ceilDiv(blocks, cells));
    };
    const bool many = shape.rows * shape.columns > kMostCells;
    const Extent foldRows = foldOf(shape.rows, panel.cellsHeight(), many);
    const Extent foldColumns = foldOf(shape.columns, panel.cellsWidth(), many);
    const Extent rows = ceilDiv(shape.rows, foldRows);
    const Extent columns = ceilDiv(shape.columns, foldColumns);
    const double w = panel.cellWidth * static_cast<double>(foldColumns);
    const double h = panel.cellHeight * static_cast<double>(foldRows);

    std::vector<Color> palette;
    std::vector<std::uint8_t> image;
    image.reserve(static_cast<std::size_t>(rows * columns));
    const auto entryOf = [&palette](Color color) {
        const auto found = std::find(palette.begin(), palette.end(), color);
        if (found != palette.end() || palette.size() == 256) {
            return static_cast<std::uint8_t>(
                std::min<std::ptrdiff_t>(found - palette.begin(), 255));
        }
        palette.push_back(color);
        return static_cast<std::uint8_t>(palette.size() - 1);
    };
    for (Extent row = 0; row < rows; ++row) {
        for (Extent column = 0; column < columns; ++column) {
            const std::optional<std::int64_t> block = blockAt(row * foldRows, column * foldColumns);
            image.push_back(entryOf(blockFill(stateOf(block), role, output)));
            const double x = panel.x + static_cast<double>(column) * w;
            const double y = panel.y + static_cast<double>(row) * h;
            hit({x, y, std::min(w, panel.x + panel.cellsWidth() - x),
                 std::min(h, panel.y + panel.cellsHeight() - y)},
                block);
        }
    }
    // The last cell may stand for fewer blocks than the others, so the image is cut where the array
    // ends.
    canvas.pushClip(panel.x, panel.y, panel.cellsWidth(), panel.cellsHeight());
    canvas.image(
        {panel.x, panel.y, w * static_cast<double>(columns), h * static_cast<double>(rows)},
        static_cast<int>(columns), static_cast<int>(rows), std::move(palette), std::move(image));
    canvas.popClip();
    paintHeld();
}

// Paints the blocks in slots over an image, each in its place and large enough to be seen.
void ArrayPainter::paintHeld() const
{
    std::vector<trace::SlotState> slots;
    for (std::int32_t slot = 0; slot < operand.slots; ++slot) {
        const trace::SlotState held = trace::slotStateAt(
            *moment.run.trace, trace::BufferRow{operand.firstBuffer + slot}, moment.now);
        if (held.block && held.phase != trace::SlotPhase::Free) {
            slots.push_back(held);
        }
    }
    if (numbers.mayOverlap()) { // that in use lies on top
        std::stable_partition(slots.begin(), slots.end(), [](const trace::SlotState& held) {
            return held.phase != trace::SlotPhase::InUse;
        });
    }
    for (const trace::SlotState& held : slots) {
        for (Rect rect : placesOf(*held.block)) {
            rect.w = std::max(rect.w, 2.0);
            rect.h = std::max(rect.h, 2.0);
            canvas.fill(rect.x, rect.y, rect.w, rect.h,
                        blockFill(stateOf(*held.block), role, output));
            if (held.phase == trace::SlotPhase::InUse) {
                frameInUse({rect.x - 1, rect.y - 1, rect.w + 2, rect.h + 2});
            }
            hit({rect.x - 1, rect.y - 1, rect.w + 2, rect.h + 2}, *held.block);
        }
    }
}

std::string axisName(const trace::Pipeline& pipeline, std::optional<std::int32_t> axis)
{
    const auto index = static_cast<std::size_t>(axis.value_or(0));
    return axis && index < pipeline.axisNames.size() ? pipeline.axisNames[index] : std::string();
}

// The text over the cells. It names the grid axis that columns follow, or says which cells are
// elements instead of blocks.
std::string columnText(const GridMoment& moment, const trace::Operand& operand,
                       const ArrayShape& shape)
{
    const trace::Pipeline& pipeline = moment.run.trace->info().pipelines[moment.pipeline.index()];
    const std::string axis = axisName(pipeline, shape.columnAxis);
    const std::string arrow = axis.empty() ? "" : axis + " →";
    if (const std::string cells = cellsText(moment.run, shape.operand); !cells.empty()) {
        return cells + (arrow.empty() ? "" : "  " + arrow);
    }
    if (!hasListedCells(operand)) {
        return arrow;
    }
    const std::size_t behind =
        operand.array.rank() - static_cast<std::size_t>(operand.indirectAxis);
    return std::string(behind == 1   ? "columns by list"
                       : behind == 2 ? "rows by list"
                                     : "by list")
           + (arrow.empty() ? "" : "  " + arrow);
}

double nameWidth(const trace::Operand& operand)
{
    return 12 + textWidth(operand.name, 12, Weight::SemiBold) + 6;
}

} // namespace

HeadWidths headWidths(const RunView& run, trace::PipelineRow pipeline)
{
    const trace::Info& info = run.trace->info();
    const trace::Pipeline& pipe = info.pipelines[pipeline.index()];
    HeadWidths heads;
    for (std::int32_t i = 0; i < pipe.operandCount; ++i) {
        const trace::Operand& operand =
            info.operands[static_cast<std::size_t>(pipe.firstOperand + i)];
        const double least = std::min(120.0, nameWidth(operand));
        heads.least.push_back(least);
        heads.whole.push_back(least + textWidth(parts::arrayText(operand.array, operand.dtype)));
        const std::optional<std::int32_t> row =
            arrayShape(run, trace::OperandRow{pipe.firstOperand + i}).rowAxis;
        heads.label =
            std::clamp(std::ceil(textWidth(axisName(pipe, row), 10)) + 4, heads.label, kMostLabel);
    }
    return heads;
}

ShownSlice shownSlice(const GridMoment& moment, const ArrayShape& shape)
{
    const trace::Trace& trace = *moment.run.trace;
    const trace::Operand& operand = trace.info().operands[shape.operand.index()];
    ShownSlice slice;
    std::int64_t block = 0;
    const trace::OptionalRow<trace::VisitRow> visit =
        moment.step ? trace::visitAt(trace, shape.operand, *moment.step) : std::nullopt;
    if (visit) {
        block = trace.visits().block[visit->index()];
    }
    const std::int64_t perSlice = shape.rows * shape.columns;
    const std::vector<std::int64_t> cells =
        visit ? ArrayCells(moment.run, shape.operand, moment.now).cellsOf(block)
              : std::vector<std::int64_t>{0};
    const std::int64_t cell = cells.empty() ? 0 : cells.front();
    slice.firstCell = cell / perSlice * perSlice;
    if (visit && !moment.finished && !hasListedCells(operand) && cells.size() == 1) {
        slice.current = cell - slice.firstCell;
    }
    return slice;
}

void paintHeading(Canvas& canvas, const GridMoment& moment, const ArrayPanel& panel, double right)
{
    const trace::Info& info = moment.run.trace->info();
    const trace::Operand& operand = info.operands[panel.shape.operand.index()];
    const trace::Pipeline& pipe = info.pipelines[moment.pipeline.index()];
    const double top = panel.y - 31;
    const double room = std::min(panel.width, right - panel.x);
    parts::swatch(canvas, moment.run, panel.x, top + 5, panel.shape.operand);
    canvas.text(panel.x + 12, top, room - 12, 17, operand.name,
                {12, Role::Text, Weight::SemiBold, Align::Left});
    const std::string shape = parts::arrayText(operand.array, operand.dtype);
    const double after = nameWidth(operand);
    if (after + textWidth(shape) <= right - panel.x
        && after + textWidth(shape) <= panel.width + 1) {
        canvas.text(panel.x + after, top, right - panel.x - after, 17, shape,
                    {11, Role::Text2, Weight::Regular, Align::Left});
    }
    const std::string column = columnText(moment, operand, panel.shape);
    const std::string row = axisName(pipe, panel.shape.rowAxis);
    const TextStyle small = {10, Role::Text3, Weight::Regular, Align::Left};
    if (!column.empty()) {
        canvas.text(panel.x, panel.y - 15, room, 13, column, small);
    }
    if (!row.empty()) {
        const double height = std::max(13.0, std::min(panel.cellHeight, panel.cellsHeight() - 13));
        canvas.text(panel.x - panel.label, panel.y - 1, panel.label, height, row, small);
        if (panel.cellsHeight() >= 26) {
            canvas.text(panel.x - panel.label, panel.y + height - 4, panel.label, 13, "↓", small);
        }
    }
}

void paintArray(Canvas& canvas, const GridMoment& moment, const ArrayPanel& panel)
{
    const trace::Operand& operand = moment.run.trace->info().operands[panel.shape.operand.index()];
    const ArrayPainter painter = {canvas,
                                  moment,
                                  panel,
                                  operand,
                                  shownSlice(moment, panel.shape),
                                  operandRole(moment.run, panel.shape.operand),
                                  parts::writes(operand),
                                  ArrayCells(moment.run, panel.shape.operand, moment.now)};
    const double least = std::min(panel.cellWidth, panel.cellHeight);
    if (least < kPlainCell || panel.shape.rows * panel.shape.columns > kMostCells) {
        painter.paintImage();
    } else {
        painter.paintCells(least >= kMarkedCell);
    }
}

} // namespace pallascope::layout
