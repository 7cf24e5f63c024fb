#include "views/layout/grid/flow.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pallascope::layout {

namespace {

constexpr double kBetweenPanels = 20, kUnderPanel = 8;
constexpr double kHead = 18, kAxesLine = 13;
constexpr double kTileGap = 3;
constexpr double kWholeCell = 72; // px of an array that is one cell
constexpr std::array kCells{28.0, 26.0, 24.0, 22.0, 20.0, 18.0, 16.0, 15.0, 14.0, 13.0, 12.0, 11.0,
                            10.0, 9.0,  8.0,  7.0,  6.0,  5.0,  4.0,  3.0,  2.0,  1.5,  1.0,  0.5};

double pixels(std::int64_t count)
{
    return static_cast<double>(count);
}

// How many columns of a row go into a line of at most `most`: whole eights where these fit, so that
// the numbers of cells can be read off, and lines of equal lengths if possible.
std::int64_t perLineOf(std::int64_t columns, std::int64_t most)
{
    most = std::max<std::int64_t>(most, 1);
    if (columns <= most) {
        return columns;
    }
    const std::int64_t equal = ceilDiv(columns, ceilDiv(columns, most));
    for (std::int64_t eights = most / 8 * 8; eights > most / 2; eights -= 8) {
        if (columns % eights == 0) {
            return eights;
        }
    }
    return most >= 16 ? most / 8 * 8 : equal;
}

// `room` is the width of the area, `rowRoom` that of a row.
void sizeTile(FlowPanel& panel, const ArrayPicture& of, double cell, double room, double rowRoom)
{
    constexpr double kLeastHeight = 8; // px of a row of narrow cells
    panel.cellWidth = panel.cellHeight = cell;
    panel.perLine = of.columns;
    if (!of.weights.empty()) {
        panel.cellWidth = room / pixels(of.columns);
        panel.cellHeight = std::max(cell, 14.0);
    } else if (of.cells() == 1) {
        panel.cellWidth = std::min(kWholeCell, room);
        panel.cellHeight = std::clamp(cell, 10.0, 16.0);
    } else if (of.isRow()) {
        const auto most = static_cast<std::int64_t>(rowRoom / (cell * of.columnScale));
        const bool almost = most >= 12 && most < 16 && of.columns > most; // narrower cells
        panel.cellWidth = almost ? std::floor(rowRoom / 16) : cell * of.columnScale;
        panel.perLine = perLineOf(of.columns, almost ? 16 : most);
        panel.lines = ceilDiv(of.columns, panel.perLine);
        panel.cellHeight = panel.lines == 1 && of.tiles == 1 ? std::max(cell, kLeastHeight) : cell;
    } else {
        panel.cellWidth = std::min(cell * of.columnScale, room / pixels(of.columns));
        panel.cellHeight = std::min(cell * of.rowScale, 3 * std::max(cell, panel.cellWidth));
    }
    panel.width = panel.cellWidth * pixels(panel.perLine);
    panel.height = panel.cellHeight * pixels(of.rows * panel.lines);
}

FlowPanel sizedPanel(const ArrayPicture& of, double cell, double room, double rowRoom)
{
    FlowPanel panel;
    sizeTile(panel, of, cell, room, rowRoom);
    panel.head = kHead + (of.axes.empty() ? 0 : kAxesLine);
    const double gap = of.tiles > 1 ? (cell >= 4 ? kTileGap : 1) : 0;
    panel.tileWidth = panel.width + gap;
    panel.tileHeight = panel.height + gap;
    const auto most = std::clamp<std::int64_t>(
        static_cast<std::int64_t>((room + gap) / panel.tileWidth), 1, of.tiles);
    panel.tilesAcross = ceilDiv(of.tiles, ceilDiv(of.tiles, most));
    panel.width = panel.tileWidth * pixels(panel.tilesAcross) - gap;
    panel.height = panel.tileHeight * pixels(ceilDiv(of.tiles, panel.tilesAcross)) - gap;
    return panel;
}

// For each picture: what its heading needs.
std::vector<double> headingWidths(const std::vector<ArrayPicture>& pictures, bool whole)
{
    std::vector<double> widths;
    for (const ArrayPicture& of : pictures) {
        const double name = of.marks() + textWidth(of.name, 12, Weight::SemiBold);
        const double axes = textWidth(of.axes, 10) + 2;
        const double note = of.table == nullptr ? 0 : 12 + textWidth(of.note, 10);
        const double least = of.sharing.empty() ? std::min(name, 140.0) : name;
        widths.push_back(
            std::ceil(whole ? std::max(name + 8 + textWidth(of.shape) + note, axes) : least));
    }
    return widths;
}

struct FlowChoice
{
    const std::vector<double>* heads = nullptr;
    double cell = 0, rowRoom = 0;
};

Flow placed(const std::vector<ArrayPicture>& pictures, std::size_t count, Rect area,
            const FlowChoice& choice)
{
    const double cell = choice.cell;
    Flow flow;
    flow.cell = cell;
    double x = 0, y = 0, tallest = 0;
    std::size_t lineBegin = 0;
    const auto endLine = [&] { // the last panel has the rest of the line for its heading
        for (std::size_t i = lineBegin; i < flow.panels.size(); ++i) {
            const bool isLast = i + 1 == flow.panels.size();
            flow.panels[i].room =
                (isLast ? area.right() : flow.panels[i + 1].x - kBetweenPanels) - flow.panels[i].x;
        }
        lineBegin = flow.panels.size();
    };
    for (std::size_t i = 0; i < count; ++i) {
        FlowPanel panel = sizedPanel(pictures[i], cell, area.w, choice.rowRoom);
        panel.picture = i;
        const double width = std::min(area.w, std::max(panel.width, (*choice.heads)[i]));
        if (x > 0 && x + width > area.w) {
            endLine();
            x = 0;
            y += tallest;
            tallest = 0;
        }
        panel.x = area.x + x;
        panel.y = area.y + y + panel.head;
        x += width + kBetweenPanels;
        tallest = std::max(tallest, panel.head + panel.height + kUnderPanel);
        flow.panels.push_back(panel);
    }
    endLine();
    flow.bottom = area.y + y + tallest;
    return flow;
}

} // namespace

Rect FlowPanel::cell(const ArrayPicture& of, std::int64_t tile, std::int64_t row,
                     std::int64_t column) const
{
    const double left = x + pixels(tile % tilesAcross) * tileWidth;
    const double top = y + pixels(tile / tilesAcross) * tileHeight;
    if (!of.weights.empty()) {
        double before = 0;
        for (std::int64_t i = 0; i < column; ++i) {
            before += of.weights[static_cast<std::size_t>(i)];
        }
        return {left + before * width, top,
                std::max(3.0, of.weights[static_cast<std::size_t>(column)] * width), cellHeight};
    }
    return {left + pixels(column % perLine) * cellWidth,
            top + pixels(row + column / perLine) * cellHeight, cellWidth, cellHeight};
}

Flow flowOf(const std::vector<ArrayPicture>& pictures, Rect area)
{
    constexpr double kWorthIt = 1.2; // how much larger the cells of the less usual must be
    const std::vector<double> whole = headingWidths(pictures, true);
    const std::vector<double> least = headingWidths(pictures, false);
    for (std::size_t count = pictures.size(); count > 0; --count) {
        Flow best;
        for (const std::vector<double>* heads : {&whole, &least}) {
            for (const double across : {1.0, 2.0, 3.0}) { // rows beside each other
                const double rowRoom =
                    std::floor((area.w - (across - 1) * kBetweenPanels) / across);
                for (const double cell : kCells) {
                    Flow flow = placed(pictures, count, area, {heads, cell, rowRoom});
                    if (flow.bottom <= area.bottom() + kUnderPanel) {
                        if (flow.cell > best.cell * kWorthIt) {
                            best = std::move(flow);
                        }
                        break;
                    }
                }
            }
        }
        if (best.cell > 0 || count == 1) {
            return best.cell > 0 ? best
                                 : placed(pictures, count, area, {&least, kCells.back(), area.w});
        }
    }
    return {};
}

} // namespace pallascope::layout
