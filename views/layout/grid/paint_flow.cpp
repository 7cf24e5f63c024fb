// Paints the pictures of arrays that a flow has placed: headings, and cells or images of them.
#include "core/base/format.h"
#include "views/layout/grid/block_cells.h"
#include "views/layout/grid/cells.h"
#include "views/layout/grid/flow.h"
#include "views/layout/grid/tables.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace pallascope::layout {

namespace {

constexpr double kMarked = 10;   // px; from here on a cell has room for frames and heights
constexpr double kCellAlone = 4; // px; from here on each cell is a fill of its own
constexpr std::int64_t kMostAlone = 20'000;

class PicturePainter
{
public:
    PicturePainter(Canvas& canvas, const GridMoment& moment, const ArrayPicture& picture,
                   const FlowPanel& panel)
        : m_canvas(canvas)
        , m_moment(moment)
        , m_picture(picture)
        , m_panel(panel)
        , m_operand(moment.run.trace->info().operands[static_cast<std::size_t>(picture.operand)])
        , m_role(operandRole(moment.run, trace::OperandRow{picture.operand}))
        , m_output(picture.manual == nullptr && parts::writes(m_operand))
    {
        if (picture.manual == nullptr) {
            m_blocks = std::make_unique<ArrayCells>(moment.run, trace::OperandRow{picture.operand},
                                                    moment.now);
        }
    }

    void paintHead() const
    {
        const double top = m_panel.y - m_panel.head - 1;
        const double x = m_panel.x;
        const double marks = m_picture.marks();
        if (m_picture.table != nullptr) {
            m_canvas.fill(x, top + 5, 8, 8, Role::Smem);
        }
        for (std::size_t i = 0;
             m_picture.table == nullptr && i < std::max<std::size_t>(m_picture.sharing.size(), 1);
             ++i) {
            const std::int32_t operand =
                m_picture.sharing.empty() ? m_picture.operand : m_picture.sharing[i];
            parts::swatch(m_canvas, m_moment.run, x + 10 * static_cast<double>(i), top + 5,
                          trace::OperandRow{operand});
        }
        const double name = marks + textWidth(m_picture.name, 12, Weight::SemiBold) + 8;
        m_canvas.text(x + marks, top, m_panel.room - marks, 17, m_picture.name,
                      {12, Role::Text, Weight::SemiBold, Align::Left});
        const double shape = textWidth(m_picture.shape);
        const double room = m_panel.room - name;
        if (shape <= room) {
            m_canvas.text(x + name, top, room, 17, m_picture.shape,
                          {11, Role::Text2, Weight::Regular, Align::Left});
        }
        for (const std::string& note :
             {m_picture.note, m_picture.note.substr(0, m_picture.note.find(" · "))}) {
            if (shape + 12 + textWidth(note, 10) <= room) {
                m_canvas.text(x + name, top, room, 17, note,
                              {10, Role::Text3, Weight::Regular, Align::Right});
                break;
            }
        }
        if (!m_picture.axes.empty()) {
            m_canvas.text(x, m_panel.y - 15, m_panel.room, 13, m_picture.axes,
                          {10, Role::Text3, Weight::Regular, Align::Left});
        }
    }

    void paint() const
    {
        constexpr std::int64_t kMostDrawn = 1 << 26; // more would take seconds
        if (m_picture.cells() > kMostDrawn || m_picture.tiles > kMostDrawn) {
            m_canvas.fill(m_panel.x, m_panel.y, m_panel.width, m_panel.height,
                          blockFill({}, m_role, m_output));
            return;
        }
        const double least = std::min(m_panel.cellWidth, m_panel.cellHeight);
        if (least < kCellAlone || m_picture.cells() > kMostAlone) {
            for (std::int64_t tile = 0; tile < m_picture.tiles; ++tile) {
                paintImage(tile);
            }
        } else {
            paintCells(least >= kMarked);
        }
    }

private:
    struct Cell
    {
        std::int64_t number = 0;           // in the array
        std::optional<std::int64_t> block; // of the operand of a pipeline; none if none comes there
        trace::BlockState state;
        std::vector<std::int64_t> leadsTo; // of an entry of a table: cells or blocks
    };

    [[nodiscard]] Cell cellAt(std::int64_t tile, std::int64_t row, std::int64_t column) const
    {
        const trace::Index& index = *m_moment.run.index;
        Cell cell;
        cell.number =
            m_picture.firstCell + (tile * m_picture.rows + row) * m_picture.columns + column;
        if (m_picture.table != nullptr) {
            cell.leadsTo = cellsOfEntry(m_moment, m_picture, cell.number);
            cell.state = stateOfEntry(m_moment, m_picture, cell.leadsTo);
            return cell;
        }
        if (m_picture.manual != nullptr) {
            cell.state =
                index.manualArrays(m_moment.device)
                    .stateAt(*m_moment.run.trace, *m_picture.manual, cell.number, m_moment.now);
            return cell;
        }
        cell.block = m_blocks->blockAt(cell.number);
        if (cell.block) {
            cell.state = stateOf(*cell.block);
        }
        return cell;
    }

    // Of a block of the operand of a pipeline.
    [[nodiscard]] trace::BlockState stateOf(std::int64_t block) const
    {
        return m_picture.sharing.empty()
                   ? m_moment.run.index->blockStateAt(trace::OperandRow{m_picture.operand}, block,
                                                      m_moment.now)
                   : stateOfAll(m_moment.run, m_picture.sharing, block, m_moment.now);
    }

    // Without the gap. Cells of the last row and column end where the array ends.
    [[nodiscard]] Rect inner(Rect rect, std::int64_t row, std::int64_t column) const
    {
        const double gap = std::min(rect.w, rect.h) >= 3 ? 1 : 0;
        const double x = std::round(rect.x), y = std::round(rect.y);
        double w = std::round(rect.right()) - x - gap;
        double h = std::round(rect.bottom()) - y - gap;
        if (column + 1 == m_picture.columns) {
            w = std::max(std::min(w, 2.0), std::round(w * m_picture.lastColumn));
        }
        if (row + 1 == m_picture.rows) {
            h = std::max(std::min(h, 2.0), std::round(h * m_picture.lastRow));
        }
        return {x, y, w, h};
    }

    // Whether the copy's operand goes over another array, from which it brings data here.
    [[nodiscard]] bool isFromElsewhere(const trace::ManualPart& part) const
    {
        const std::int32_t operand = m_moment.run.trace->copies().operand[part.copy];
        return m_moment.run.index->arrays().ofOperand[static_cast<std::size_t>(operand)]
               != m_picture.manual->array;
    }

    // An entry of a table is the partner of all blocks to which it leads, at most of a few.
    void hitEntry(Rect rect, const Cell& entry) const
    {
        constexpr std::size_t kMostHits = 8;
        const trace::Index& index = *m_moment.run.index;
        for (std::size_t i = 0; i < std::min(entry.leadsTo.size(), kMostHits); ++i) {
            std::vector<std::pair<std::int32_t, std::int64_t>> blocks{
                {m_picture.operand, entry.leadsTo[i]}};
            if (m_picture.manual != nullptr) {
                blocks = index.manualArrays(m_moment.device)
                             .blocksOver(*m_moment.run.trace, index.arrays(), *m_picture.manual,
                                         entry.leadsTo[i], {});
            }
            for (const auto& [operand, block] : blocks) {
                m_canvas.hit(rect.x, rect.y, rect.w, rect.h, target::Block{operand, block});
            }
        }
    }

    // All copies of manual DMA that go over the cell, so that it is the partner of each of them;
    // the one that decides its state lies on top.
    void hit(Rect rect, const Cell& cell) const
    {
        const auto add = [&](std::int64_t operand, std::int64_t block) {
            m_canvas.hit(rect.x, rect.y, rect.w, rect.h, target::Block{operand, block});
        };
        if (m_picture.table != nullptr) {
            hitEntry(rect, cell);
            return;
        }
        if (m_picture.manual == nullptr) {
            for (std::size_t i = m_picture.sharing.size(); cell.block && i > 1; --i) {
                add(m_picture.sharing[i - 1], *cell.block);
            }
            if (cell.block) { // the first one lies on top
                add(m_picture.operand, *cell.block);
            }
            return;
        }
        const trace::Index& index = *m_moment.run.index;
        const trace::ManualArrays& all = index.manualArrays(m_moment.device);
        const auto deciding =
            all.decidingAt(*m_moment.run.trace, *m_picture.manual, cell.number, m_moment.now);
        const auto blocks = all.blocksOver(*m_moment.run.trace, index.arrays(), *m_picture.manual,
                                           cell.number, deciding);
        for (const auto& [operand, block] : blocks) {
            add(operand, block);
        }
        if (deciding && isFromElsewhere(*deciding)) {
            m_canvas.hit(rect.x, rect.y, rect.w, rect.h, target::Copy{deciding->copy});
        } else if (blocks.empty() && m_operand.blockCounts == m_picture.manual->counts()) {
            add(m_picture.operand, cell.number); // never copied, but it has a name
        }
    }

    void paintOne(Rect rect, const Cell& cell, bool marked) const
    {
        if (marked) {
            paintBlock(m_canvas, rect, cell.state, m_role, m_output);
            label(rect, cell);
            return;
        }
        m_canvas.fill(rect.x, rect.y, rect.w, rect.h, blockFill(cell.state, m_role, m_output));
        if (cell.state.phase == trace::BlockPhase::InUse) {
            m_canvas.frame(rect.x - 1, rect.y - 1, rect.w + 2, rect.h + 2, Role::Text,
                           rect.w >= kCellAlone ? 2 : 1);
        }
    }

    // The number of a column, or what an entry of a table says; empty for none.
    [[nodiscard]] std::string labelOf(const Cell& cell) const
    {
        if (m_picture.table != nullptr) {
            const std::vector<std::int64_t>& entries = m_picture.table->entries;
            const auto number = static_cast<std::size_t>(cell.number);
            return number >= entries.size()      ? ""
                   : entries[number] == kNoEntry ? "–"
                                                 : std::to_string(entries[number]);
        }
        const auto column = static_cast<std::size_t>(cell.number % m_picture.columns);
        return column < m_picture.labels.size() ? m_picture.labels[column] : "";
    }

    void label(Rect rect, const Cell& cell) const
    {
        const std::string text = labelOf(cell);
        if (text.empty()) {
            return;
        }
        const double width = textWidth(text, 10);
        const double around = m_picture.table == nullptr ? 4 : 1; // a table is there to be read
        if (width + around > rect.w || rect.h < 13) {
            return;
        }
        const bool isFilled = cell.state.phase == trace::BlockPhase::Ready
                              || cell.state.phase == trace::BlockPhase::InUse;
        if (isFilled) {
            m_canvas.label(std::round(rect.x + (rect.w - width) / 2) - 5, rect.y, width + 9, rect.h,
                           text, m_role, 10, Weight::Medium);
        } else {
            m_canvas.text(rect.x, rect.y, rect.w, rect.h, text,
                          {10,
                           cell.state.phase == trace::BlockPhase::Never ? Role::Text3 : Role::Text,
                           Weight::Regular, Align::Center});
        }
    }

    using LiveBlocks = std::set<std::pair<int, std::int64_t>>; // by liveliness

    // Whether the cell is a part of a block in which something goes on and that may overlap others:
    // paintLive paints it as a whole.
    bool isPartOfLive(const Cell& cell, LiveBlocks& live) const
    {
        const bool is =
            m_blocks && m_blocks->mayOverlap() && cell.block && isLive(cell.state.phase);
        if (is) {
            live.emplace(trace::livelinessOf(cell.state.phase), *cell.block);
        }
        return is;
    }

    // That in use lies on top. A block has a place in each tile, and in each line of a broken row.
    void paintLive(const LiveBlocks& live, bool marked, std::optional<std::int64_t> onlyTile) const
    {
        for (const auto& [liveliness, block] : live) {
            Cell cell;
            cell.block = block;
            cell.state = stateOf(block);
            std::map<std::pair<std::int64_t, std::int64_t>, Rect> places;
            for (const std::int64_t number : m_blocks->cellsOf(block)) {
                const std::int64_t place = number - m_picture.firstCell;
                const std::int64_t perTile = m_picture.rows * m_picture.columns;
                const std::int64_t tile = place / perTile;
                if (place < 0 || place >= m_picture.cells() || tile != onlyTile.value_or(tile)) {
                    continue;
                }
                const std::int64_t row = place % perTile / m_picture.columns;
                const std::int64_t column = place % m_picture.columns;
                const Rect rect = inner(m_panel.cell(m_picture, tile, row, column), row, column);
                const auto [at, isNew] = places.try_emplace(
                    {tile, m_panel.lines > 1 ? column / m_panel.perLine : 0}, rect);
                at->second = united(at->second, rect);
            }
            for (const auto& [where, rect] : places) {
                const Rect seen{rect.x, rect.y, std::max(2.0, rect.w), std::max(2.0, rect.h)};
                paintOne(seen, cell, marked);
                hit({seen.x, seen.y, seen.w + 1, seen.h + 1}, cell);
            }
        }
    }

    void paintCells(bool marked) const
    {
        LiveBlocks live;
        std::vector<std::pair<Rect, Cell>> inUse; // last: their frames lie on their neighbours
        for (std::int64_t tile = 0; tile < m_picture.tiles; ++tile) {
            for (std::int64_t row = 0; row < m_picture.rows; ++row) {
                for (std::int64_t column = 0; column < m_picture.columns; ++column) {
                    const Cell cell = cellAt(tile, row, column);
                    const Rect whole = m_panel.cell(m_picture, tile, row, column);
                    const Rect rect = inner(whole, row, column);
                    if (isPartOfLive(cell, live)) {
                        continue;
                    }
                    if (cell.state.phase == trace::BlockPhase::InUse) {
                        inUse.emplace_back(rect, cell);
                    } else {
                        paintOne(rect, cell, marked);
                    }
                    hit({rect.x, rect.y, rect.w + 1, rect.h + 1}, cell);
                }
            }
        }
        for (const auto& [rect, cell] : inUse) {
            paintOne(rect, cell, marked);
        }
        paintLive(live, marked, {});
    }

    void paintImage(std::int64_t tile) const;

    Canvas& m_canvas;
    const GridMoment& m_moment;
    const ArrayPicture& m_picture;
    const FlowPanel& m_panel;
    const trace::Operand& m_operand;
    Role m_role;
    bool m_output;
    std::unique_ptr<ArrayCells> m_blocks; // of the operand of a pipeline
};

// Gives each cell a pixel or more. Where several cells share a pixel, it shows the first of them;
// cells with something going on are drawn on top, each in its place.
void PicturePainter::paintImage(std::int64_t tile) const
{
    const std::int64_t imageRows = m_picture.rows * m_panel.lines;
    const auto foldOf = [](double size) {
        return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(1 / size - 1e-9)));
    };
    const std::int64_t across = foldOf(m_panel.cellWidth), down = foldOf(m_panel.cellHeight);
    const std::int64_t columns = ceilDiv(m_panel.perLine, across);
    const std::int64_t rows = ceilDiv(imageRows, down);
    std::vector<Color> palette{Role::View};
    std::vector<std::uint8_t> image(static_cast<std::size_t>(rows * columns), 0);
    std::vector<std::pair<Rect, Cell>> live;
    LiveBlocks liveBlocks;
    const auto entryOf = [&palette](Color color) {
        const auto found = std::find(palette.begin(), palette.end(), color);
        if (found == palette.end() && palette.size() < 256) {
            palette.push_back(color);
            return palette.size() - 1;
        }
        return std::min<std::size_t>(static_cast<std::size_t>(found - palette.begin()), 255);
    };
    for (std::int64_t row = 0; row < imageRows; ++row) {
        for (std::int64_t inLine = 0; inLine < m_panel.perLine; ++inLine) {
            const bool isBroken = m_panel.lines > 1;
            const std::int64_t column = isBroken ? row * m_panel.perLine + inLine : inLine;
            const std::int64_t ofRow = isBroken ? 0 : row;
            if (column >= m_picture.columns) {
                continue;
            }
            const Cell cell = cellAt(tile, ofRow, column);
            const Rect rect = m_panel.cell(m_picture, tile, ofRow, column);
            if (!isPartOfLive(cell, liveBlocks) && isLive(cell.state.phase)) {
                live.emplace_back(rect, cell);
            }
            if (row % down == 0 && inLine % across == 0) {
                image[static_cast<std::size_t>(row / down * columns + inLine / across)] =
                    static_cast<std::uint8_t>(entryOf(blockFill(cell.state, m_role, m_output)));
                hit({rect.x, rect.y, std::max(1.0, rect.w), std::max(1.0, rect.h)}, cell);
            }
        }
    }
    const Rect first = m_panel.cell(m_picture, tile, 0, 0);
    const double w = m_panel.cellWidth * static_cast<double>(m_panel.perLine);
    const double h = m_panel.cellHeight * static_cast<double>(imageRows);
    m_canvas.pushClip(first.x, first.y, w, h); // the last cell may stand for fewer than the others
    m_canvas.image({first.x, first.y, m_panel.cellWidth * static_cast<double>(columns * across),
                    m_panel.cellHeight * static_cast<double>(rows * down)},
                   static_cast<int>(columns), static_cast<int>(rows), std::move(palette),
                   std::move(image));
    m_canvas.popClip();
    for (const auto& [rect, cell] : live) {
        const Rect seen{rect.x, rect.y, std::max(2.0, rect.w), std::max(2.0, rect.h)};
        paintOne(seen, cell, false);
        hit(seen, cell);
    }
    paintLive(liveBlocks, false, tile);
}

} // namespace

void paintFlow(Canvas& canvas, const GridMoment& moment, const std::vector<ArrayPicture>& pictures,
               const Flow& flow)
{
    for (const FlowPanel& panel : flow.panels) {
        const PicturePainter painter(canvas, moment, pictures[panel.picture], panel);
        painter.paintHead();
        painter.paint();
    }
}

} // namespace pallascope::layout
