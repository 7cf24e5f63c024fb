// The heat map of a picture of values, with its axes, the lines where blocks meet and the cursor.
#include "views/layout/values/values.h"

#include "core/base/format.h"
#include "views/layout/values/painter.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace values {

namespace {

constexpr double kGlyphCell = 7;  // px from which a cell shows a shape
constexpr int kLevels = 32;       // of one colour
constexpr double kBlockLines = 8; // px that lines of blocks are apart at least

// What the kept run has where the legend says what this one has.
std::string keptText(const Counts& now, const Counts& kept)
{
    if (now.values == kept.values && now.least == kept.least && now.largest == kept.largest
        && now.mean == kept.mean && now.nan == kept.nan) {
        return " · in sight the min, max, mean and NaN count of the kept run";
    }
    const auto number = [](double value) { return minus(fmt::format("{:.4g}", value)); };
    return (kept.values == 0
                ? " · kept, in sight: no numbers"
                : fmt::format(" · kept, in sight: |{} to {}|, mean |{}|", number(kept.least),
                              number(kept.largest), number(kept.mean)))
           + fmt::format(", |{}| NaN", countText(kept.nan));
}

} // namespace

Painter::Painter(const ValuesSight& sight, ValuesScale scale,
                 const std::optional<ValuesRange>& held)
    : m_sight(sight)
    , m_frame(sight.frame)
    , m_scale(scale)
    , m_hasRange(rangeOf(sight, held).has_value())
    , m_range(rangeOf(sight, held).value_or(ValuesRange{}))
    , m_canvas(sight.size.width, sight.size.height)
{}

double Painter::xOf(std::int64_t column) const
{
    return m_frame.map.x
           + static_cast<double>(column - m_frame.region.column) * m_frame.px
                 / static_cast<double>(m_frame.side);
}

double Painter::yOf(std::int64_t row) const
{
    return m_frame.map.y
           + static_cast<double>(row - m_frame.region.row) * m_frame.px
                 / static_cast<double>(m_frame.side);
}

double Painter::level(double value) const
{
    if (m_scale == ValuesScale::Log) {
        const double low = m_range.leastMagnitude;
        const double high = std::max(std::fabs(m_range.least), std::fabs(m_range.largest));
        return value == 0 || low == 0 ? 0
               : high <= low          ? 1
                                      : std::log(std::fabs(value) / low) / std::log(high / low);
    }
    if (diverges()) {
        return value / std::max(-m_range.least, m_range.largest);
    }
    const double span = m_range.largest - m_range.least;
    return span == 0 ? (value == 0 ? 0 : 1) : (value - m_range.least) / span;
}

Color Painter::colorAt(double level) const
{
    constexpr double kFaintest = 0.06; // the least value is not the background
    if (diverges()) {
        return mix(level < 0 ? Role::Operand1 : Role::Operand2, std::fabs(level));
    }
    return mix(m_sight.color.role, kFaintest + (1 - kFaintest) * std::max(level, 0.0));
}

Scene Painter::nothing(std::string_view sentence) &&
{
    m_canvas.paragraph(12, 8, m_canvas.width() - 24, sentence, 11, 16, Role::Text2);
    return std::move(m_canvas).finish("Values", caption());
}

Scene Painter::paint() &&
{
    if (!m_sight.unknown.empty()) {
        return std::move(*this).nothing(m_sight.unknown);
    }
    if (m_sight.shape.elements() == 0) {
        return std::move(*this).nothing(m_sight.name + " has no elements.");
    }
    map();
    marks();
    blocks();
    const double perElement = m_frame.px / static_cast<double>(m_frame.side);
    residents({m_frame.map, m_frame.region, perElement, perElement});
    cursor();
    axes();
    legend();
    numbers();
    return std::move(m_canvas).finish("Values", caption());
}

std::uint8_t Painter::colorOf(const Cell& cell) const
{
    constexpr auto kSpecial = static_cast<std::uint8_t>(2 * kLevels + 1);
    switch (cell.kind) {
    case Kind::None:
    case Kind::Arriving:
        break;
    case Kind::Undefined:
        return kSpecial + 1;
    case Kind::Inf:
        return kSpecial + 2;
    case Kind::Nan:
        return kSpecial + 3;
    case Kind::Value:
        return static_cast<std::uint8_t>(
            kLevels + std::lround(std::clamp(level(cell.value), -1.0, 1.0) * kLevels));
    }
    return kSpecial;
}

// One image for all cells; patterns and shapes follow.
void Painter::map()
{
    std::vector<Color> palette;
    for (int i = -kLevels; i <= kLevels; ++i) {
        palette.push_back(colorAt(static_cast<double>(i) / kLevels));
    }
    palette.insert(palette.end(), {Color(Role::View), mix(Role::Poison, 0.08), Color(Role::Warning),
                                   Color(Role::Error)});
    std::vector<std::uint8_t> pixels;
    pixels.reserve(m_sight.cells.cells.size());
    for (const Cell& cell : m_sight.cells.cells) {
        pixels.push_back(colorOf(cell));
    }
    m_canvas.image(m_frame.map, static_cast<int>(m_sight.cells.columns),
                   static_cast<int>(m_sight.cells.rows), std::move(palette), std::move(pixels));
    const Rect& map = m_frame.map;
    m_canvas.frame(map.x - 1, map.y - 1, map.w + 2, map.h + 2, Role::Edge);
}

// Undefined elements are hatched. Those on their way are dotted, a dot for each cell of a readable
// size.
void Painter::pattern(const Rect& rect, Kind kind)
{
    if (kind == Kind::Undefined) {
        m_canvas.hatch(rect.x, rect.y, rect.w, rect.h, mix(Role::Poison, 0.75),
                       mix(Role::Poison, 0.08), Hatch::Undefined);
        return;
    }
    constexpr double kDots = 8, kDot = 2; // px
    const double apart = m_frame.px >= kGlyphCell ? m_frame.px : kDots;
    const auto firstIn = [apart](double from, double origin) {
        return origin + std::ceil((from - origin) / apart - 0.5) * apart + apart / 2;
    };
    for (double y = firstIn(rect.y, m_frame.map.y); y < rect.bottom(); y += apart) {
        for (double x = firstIn(rect.x, m_frame.map.x); x < rect.right(); x += apart) {
            m_canvas.fill(std::floor(x - kDot / 2), std::floor(y - kDot / 2), kDot, kDot,
                          m_sight.color);
        }
    }
}

void Painter::glyph(const Rect& cell, const Cell& what)
{
    const double inset = std::max(2.0, cell.w * 0.25);
    const double x0 = cell.x + inset, x1 = cell.right() - inset;
    const double y0 = cell.y + inset, y1 = cell.bottom() - inset;
    if (what.kind == Kind::Nan) {
        m_canvas.line({{x0, y0}, {x1, y1}}, Role::View, 1.6);
        m_canvas.line({{x0, y1}, {x1, y0}}, Role::View, 1.6);
    } else if (what.kind == Kind::Inf) {
        const double foot = what.value > 0 ? y1 : y0, top = what.value > 0 ? y0 : y1;
        m_canvas.polygon({{x0, foot}, {(x0 + x1) / 2, top}, {x1, foot}}, Role::View);
    }
}

// Cells without a number have a pattern, by runs of equal ones, or a shape.
void Painter::markRow(std::int64_t row)
{
    const double y = m_frame.map.y + static_cast<double>(row) * m_frame.px;
    const auto at = [&](std::int64_t column) {
        return m_sight.cells.cells[static_cast<std::size_t>(row * m_sight.cells.columns + column)];
    };
    const auto isPattern = [](Kind kind) {
        return kind == Kind::Undefined || kind == Kind::Arriving;
    };
    for (std::int64_t column = 0; column < m_sight.cells.columns; ++column) {
        const Cell cell = at(column);
        const double x = m_frame.map.x + static_cast<double>(column) * m_frame.px;
        if (isPattern(cell.kind) && (column == 0 || at(column - 1).kind != cell.kind)) {
            std::int64_t end = column + 1;
            while (end < m_sight.cells.columns && at(end).kind == cell.kind) {
                ++end;
            }
            pattern({x, y, static_cast<double>(end - column) * m_frame.px, m_frame.px}, cell.kind);
        } else if (m_frame.px >= kGlyphCell) {
            glyph({x, y, m_frame.px, m_frame.px}, cell);
        }
    }
}

void Painter::marks()
{
    for (std::int64_t row = 0; row < m_sight.cells.rows; ++row) {
        markRow(row);
    }
}

void Painter::blockName(std::int64_t row, std::int64_t column)
{
    std::vector<std::int64_t> index = indexOf(m_sight.shape, *m_sight.plane.at(row, column));
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        index[axis] /= m_sight.block[axis];
    }
    const std::string name = fmt::format("{}({})", m_sight.name, fmt::join(index, ","));
    const std::size_t rank = m_sight.shape.rank();
    const auto end = [](std::int64_t at, std::int64_t block) { return (at / block + 1) * block; };
    const double left = xOf(column), top = yOf(row);
    const double right = std::min(xOf(end(column, m_sight.block[rank - 1])), m_frame.map.right());
    const double bottom = std::min(yOf(end(row, m_sight.block[rank - 2])), m_frame.map.bottom());
    constexpr double kHigh = 14;
    const double width = textWidth(name, 10) + 8;
    if (width + 4 > right - left || bottom - top < 3 * kHigh) {
        return;
    }
    m_canvas.fill(left + 2, bottom - kHigh - 2, width, kHigh, Role::View);
    m_canvas.text(left + 2, bottom - kHigh - 2, width, kHigh, name,
                  {10, Role::Text, Weight::Regular, Align::Center});
}

void Painter::blocks()
{
    const std::size_t rank = m_sight.shape.rank();
    if (m_sight.block.rank() != rank || rank < 2) {
        return;
    }
    const Region& region = m_frame.region;
    const std::int64_t high = m_sight.block[rank - 2], wide = m_sight.block[rank - 1];
    const Rect& map = m_frame.map;
    const auto drawn = [&](std::int64_t block) {
        return static_cast<double>(block) * m_frame.px / static_cast<double>(m_frame.side)
               >= kBlockLines;
    };
    if (!drawn(high) || !drawn(wide)) {
        return;
    }
    const auto next = [](std::int64_t from, std::int64_t block) {
        return (from / block + 1) * block;
    };
    for (auto row = next(region.row, high); row < region.row + region.rows; row += high) {
        m_canvas.fill(map.x, std::round(yOf(row)), map.w, 1, Role::Text2);
    }
    for (auto column = next(region.column, wide); column < region.column + region.columns;
         column += wide) {
        m_canvas.fill(std::round(xOf(column)), map.y, 1, map.h, Role::Text2);
    }
    for (auto row = region.row; row < region.row + region.rows; row = next(row, high)) {
        for (auto column = region.column; column < region.column + region.columns;
             column = next(column, wide)) {
            blockName(row, column);
        }
    }
}

void Painter::cursor()
{
    const std::int64_t row = m_sight.plane.rowOf(m_sight.element) - m_frame.region.row;
    const std::int64_t column = m_sight.plane.columnOf(m_sight.element) - m_frame.region.column;
    if (row < 0 || column < 0 || row >= m_frame.region.rows || column >= m_frame.region.columns) {
        return; // scrolled away
    }
    const auto px = [&](std::int64_t elements) {
        return static_cast<double>(elements / m_frame.side) * m_frame.px;
    };
    m_canvas.frame(m_frame.map.x + px(column) - 2, m_frame.map.y + px(row) - 2, m_frame.px + 4,
                   m_frame.px + 4, Role::Text, 2);
}

// The first and the last index on both axes, and where blocks meet.
void Painter::axes()
{
    const TextStyle style{10, Role::Text2};
    const TextStyle right{10, Role::Text2, Weight::Regular, Align::Right};
    const Region& region = m_frame.region;
    const Rect& map = m_frame.map;
    const std::string first = countText(region.column);
    const std::string last = countText(region.column + region.columns - 1);
    m_canvas.text(map.x, 2, textWidth(first, 10) + 1, 14, first, style);
    const double width = textWidth(last, 10);
    if (region.columns > 1 && map.w >= width + textWidth(first, 10) + 8) {
        m_canvas.text(map.right() - width - 1, 2, width + 1, 14, last, right);
    }
    m_canvas.text(0, map.y - 3, map.x - 6, 14, countText(region.row), right);
    if (region.rows > 1 && map.h >= 2 * kLine) {
        m_canvas.text(0, map.bottom() - 12, map.x - 6, 14, countText(region.row + region.rows - 1),
                      right);
    }
}

std::string Painter::caption() const
{
    std::string text =
        fmt::format("{} |{}{}|", m_sight.name, dtypeName(m_sight.dtype), toString(m_sight.shape));
    text += m_sight.memory.empty() ? "" : " in " + m_sight.memory;
    if (!m_sight.unknown.empty()) {
        return text + " · not known";
    }
    const Counts& all = m_sight.all;
    text += fmt::format(" · |{}| NaN", countText(all.nan));
    const auto add = [&](std::int64_t number, const char* what) {
        text += number > 0 ? fmt::format(" · |{}| {}", countText(number), what) : "";
    };
    add(all.inf, "Inf");
    add(all.arriving, "on their way");
    add(all.undefined, "undefined");
    if (all.values > 0) {
        text += fmt::format(" · {} to {}", minus(fmt::format("{:.4g}", all.least)),
                            minus(fmt::format("{:.4g}", all.largest)));
    }
    return m_sight.kept ? text + keptText(m_sight.inSight, *m_sight.kept) : text;
}

} // namespace values

Scene layoutSight(const ValuesSight& sight, ValuesScale scale,
                  const std::optional<ValuesRange>& held)
{
    return values::Painter(sight, scale, held).paint();
}

} // namespace pallascope::layout
