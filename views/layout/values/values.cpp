#include "views/layout/values/values.h"

#include "core/base/format.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/values/plane.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace values {

namespace {

constexpr double kLeft = 52, kTop = 20, kGap = 16; // px around the heat map
constexpr double kLegend = 132, kRow = 17;         // px: the legend's width, and one line
constexpr double kLargestCell = 20, kGlyphCell = 7;
constexpr std::int64_t kAround = 2; // rows and columns of numbers on each side of the element
constexpr double kNumberWidth = 92, kNumbers = 2 * kAround * kRow + 2 * kRow + 14; // px
constexpr int kLevels = 32;                                                        // of one colour

std::string minus(std::string text)
{
    if (!text.empty() && text.front() == '-') {
        text.replace(0, 1, "−");
    }
    return text;
}

int digitsOf(DType dtype)
{
    constexpr int kFewest = 3;
    const int bits = dtypeEntry(dtype).format.mantissaBits + 1;
    return std::max(kFewest, static_cast<int>(bits * std::log10(2.0)));
}

std::string numberText(double value, DType dtype, int most = 7)
{
    return isFloat(dtype) ? fmt::format("{:.{}g}", value, std::min(most, digitsOf(dtype)))
                          : fmt::format("{:.0f}", value);
}

// The index of an element, as "2100, 2664".
std::string indexText(const Shape& shape, std::int64_t element)
{
    std::string text;
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        text = std::to_string(element % shape[axis]) + (text.empty() ? "" : ", ") + text;
        element /= shape[axis];
    }
    return text;
}

std::int64_t numberOf(const Shape& shape, const std::vector<std::int64_t>& index)
{
    std::int64_t number = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const std::int64_t asked = axis < index.size() ? index[axis] : 0;
        number = number * shape[axis]
                 + std::clamp<std::int64_t>(asked, 0, std::max<std::int64_t>(shape[axis] - 1, 0));
    }
    return number;
}

class Painter
{
public:
    Painter(const ValuesView& view, const ValuesChoice& choice, Size size)
        : m_view(view)
        , m_scale(choice.scale)
        , m_canvas(size.width, size.height)
        , m_element(choice.element ? numberOf(view.elements.shape, *choice.element)
                                   : notableElement(view))
        , m_plane(planeOf(view.elements.shape, m_element))
        , m_all(countsOf(view))
        , m_counts(countsOf(view, m_plane))
    {
        const double room = std::max(1.0, size.width - kLeft - kGap - kLegend);
        const double height = std::max(1.0, size.height - kTop - kNumbers - kGap);
        std::int64_t side = 1;
        while (room / static_cast<double>((m_plane.columns + side - 1) / side) < 2
               || height / static_cast<double>((m_plane.rows + side - 1) / side) < 2) {
            ++side;
        }
        m_cells = cellsOf(view, m_plane, side);
        m_px = std::min({std::floor(room / static_cast<double>(m_cells.columns)),
                         std::floor(height / static_cast<double>(m_cells.rows)), kLargestCell});
        m_map = {kLeft, kTop, m_px * static_cast<double>(m_cells.columns),
                 m_px * static_cast<double>(m_cells.rows)};
    }

    Scene paint() &&;

private:
    void map();
    void marks();
    void axes();
    void legend();
    void scaleBar(double x, double y);
    void count(double x, double y, Kind kind, const char* what, std::int64_t number);
    void numbers();
    void number(double right, double y, std::int64_t element);
    void glyph(Rect cell, const Cell& what);
    [[nodiscard]] std::string caption() const;

    [[nodiscard]] bool diverges() const
    {
        return m_scale == ValuesScale::Range && m_counts.least < 0 && m_counts.largest > 0;
    }

    // Where a value is on the scale: 0 to 1, or -1 to 1 if the scale diverges.
    [[nodiscard]] double level(double value) const;
    [[nodiscard]] Color colorAt(double level) const;

    const ValuesView& m_view;
    ValuesScale m_scale;
    Canvas m_canvas;
    std::int64_t m_element;
    Plane m_plane;
    Counts m_all, m_counts;
    Cells m_cells;
    double m_px = 1;
    Rect m_map;
};

double Painter::level(double value) const
{
    if (m_scale == ValuesScale::Log) {
        const double low = m_counts.leastMagnitude;
        const double high = std::max(std::fabs(m_counts.least), std::fabs(m_counts.largest));
        return value == 0 || low == 0 ? 0
               : high <= low          ? 1
                                      : std::log(std::fabs(value) / low) / std::log(high / low);
    }
    if (diverges()) {
        return value / std::max(-m_counts.least, m_counts.largest);
    }
    const double span = m_counts.largest - m_counts.least;
    return span == 0 ? (value == 0 ? 0 : 1) : (value - m_counts.least) / span;
}

Color Painter::colorAt(double level) const
{
    constexpr double kFaintest = 0.06; // the least value is not the background
    if (diverges()) {
        return mix(level < 0 ? Role::Operand1 : Role::Operand2, std::fabs(level));
    }
    return mix(m_view.color.role, kFaintest + (1 - kFaintest) * level);
}

Scene Painter::paint() &&
{
    if (m_view.elements.shape.elements() == 0) {
        m_canvas.text(kLeft, kTop, m_canvas.width() - kLeft, kRow,
                      m_view.name + " has no elements.", {11, Role::Text2});
        return std::move(m_canvas).finish("Values", caption());
    }
    map();
    marks();
    axes();
    legend();
    numbers();
    return std::move(m_canvas).finish("Values", caption());
}

// One image for all cells. Cells of undefined elements are hatched by runs; other marks follow.
void Painter::map()
{
    std::vector<Color> palette;
    for (int i = -kLevels; i <= kLevels; ++i) {
        palette.push_back(colorAt(static_cast<double>(i) / kLevels));
    }
    const auto special = static_cast<std::uint8_t>(palette.size());
    palette.insert(palette.end(), {Color(Role::View), mix(Role::Poison, 0.08), Color(Role::Warning),
                                   Color(Role::Error)});
    std::vector<std::uint8_t> pixels;
    for (const Cell& cell : m_cells.cells) {
        switch (cell.kind) {
        case Kind::None:
            pixels.push_back(special);
            break;
        case Kind::Undefined:
            pixels.push_back(static_cast<std::uint8_t>(special + 1));
            break;
        case Kind::Inf:
            pixels.push_back(static_cast<std::uint8_t>(special + 2));
            break;
        case Kind::Nan:
            pixels.push_back(static_cast<std::uint8_t>(special + 3));
            break;
        case Kind::Value:
            pixels.push_back(static_cast<std::uint8_t>(
                kLevels + std::lround(std::clamp(level(cell.value), -1.0, 1.0) * kLevels)));
            break;
        }
    }
    m_canvas.image(m_map, static_cast<int>(m_cells.columns), static_cast<int>(m_cells.rows),
                   std::move(palette), std::move(pixels));
    m_canvas.frame(m_map.x - 1, m_map.y - 1, m_map.w + 2, m_map.h + 2, Role::Edge);
}

void Painter::glyph(Rect cell, const Cell& what)
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

void Painter::marks()
{
    for (std::int64_t row = 0; row < m_cells.rows; ++row) {
        const double y = m_map.y + static_cast<double>(row) * m_px;
        std::int64_t begin = -1; // of a run of undefined cells
        for (std::int64_t column = 0; column <= m_cells.columns; ++column) {
            const Cell cell =
                column == m_cells.columns
                    ? Cell()
                    : m_cells.cells[static_cast<std::size_t>(row * m_cells.columns + column)];
            const double x = m_map.x + static_cast<double>(column) * m_px;
            if (cell.kind == Kind::Undefined) {
                begin = begin < 0 ? column : begin;
                continue;
            }
            if (begin >= 0) {
                const double from = m_map.x + static_cast<double>(begin) * m_px;
                m_canvas.hatch(from, y, x - from, m_px, mix(Role::Poison, 0.75),
                               mix(Role::Poison, 0.08), Hatch::Undefined);
                begin = -1;
            }
            if (m_px >= kGlyphCell) {
                glyph({x, y, m_px, m_px}, cell);
            }
        }
    }
    const std::int64_t at = m_element - m_plane.first;
    const std::int64_t row = at / m_plane.columns / m_cells.side,
                       column = at % m_plane.columns / m_cells.side;
    m_canvas.frame(m_map.x + static_cast<double>(column) * m_px - 2,
                   m_map.y + static_cast<double>(row) * m_px - 2, m_px + 4, m_px + 4, Role::Text,
                   2);
}

// The first and the last index on both axes.
void Painter::axes()
{
    const TextStyle style{10, Role::Text2};
    const std::string last = countText(m_plane.columns - 1);
    m_canvas.text(m_map.x, 2, 60, 14, "0", style);
    const double width = textWidth(last, 10);
    if (m_plane.columns > 1 && m_map.w >= width + 14) {
        m_canvas.text(m_map.right() - width - 1, 2, width + 1, 14, last,
                      {10, Role::Text2, Weight::Regular, Align::Right});
    }
    const TextStyle right{10, Role::Text2, Weight::Regular, Align::Right};
    m_canvas.text(0, m_map.y - 3, kLeft - 8, 14, "0", right);
    if (m_plane.rows > 1 && m_map.h >= 2 * kRow) {
        m_canvas.text(0, m_map.bottom() - 12, kLeft - 8, 14, countText(m_plane.rows - 1), right);
    }
}

void Painter::scaleBar(double x, double y)
{
    constexpr double kHeight = 8;
    const double from = diverges() ? -1 : 0;
    const double width = kLegend - 12;
    for (int i = 0; i < static_cast<int>(width); ++i) {
        m_canvas.fill(x + i, y, 1, kHeight, colorAt(from + (1 - from) * i / width));
    }
    const double most = std::max(-m_counts.least, m_counts.largest);
    const bool log = m_scale == ValuesScale::Log;
    const double high = diverges() || log ? most : m_counts.largest;
    const double low = diverges() ? -most : log ? m_counts.leastMagnitude : m_counts.least;
    const auto text = [&](double value) { return minus(fmt::format("{:.4g}", value)); };
    m_canvas.text(x, y + kHeight + 1, width / 2, 14, text(low), {10, Role::Text2});
    m_canvas.text(x + width / 2, y + kHeight + 1, width / 2, 14, text(high),
                  {10, Role::Text2, Weight::Regular, Align::Right});
    if (diverges()) {
        m_canvas.text(x + width / 2 - 8, y + kHeight + 1, 16, 14, "0",
                      {10, Role::Text2, Weight::Regular, Align::Center});
    }
}

void Painter::count(double x, double y, Kind kind, const char* what, std::int64_t number)
{
    constexpr double kSwatch = 11;
    const Rect swatch{x, y + 3, kSwatch, kSwatch};
    if (kind == Kind::Undefined) {
        m_canvas.hatch(swatch.x, swatch.y, kSwatch, kSwatch, mix(Role::Poison, 0.75),
                       mix(Role::Poison, 0.08), Hatch::Undefined);
    } else {
        m_canvas.fill(swatch.x, swatch.y, kSwatch, kSwatch,
                      kind == Kind::Nan ? Role::Error : Role::Warning);
        glyph(swatch, {kind, 1});
    }
    m_canvas.text(x + kSwatch + 6, y, 60, kRow, what);
    m_canvas.text(x, y, kLegend - 12, kRow, countText(number),
                  {11, Role::Text, Weight::Medium, Align::Right});
}

// What the plane in sight holds.
void Painter::legend()
{
    const double x = m_canvas.width() - kLegend + 4;
    double y = m_map.y - 4;
    const DType dtype = m_view.elements.dtype;
    const std::array<std::pair<const char*, double>, 3> figures{
        {{"min", m_counts.least}, {"max", m_counts.largest}, {"mean", m_counts.mean}}};
    for (const auto& [name, value] : figures) {
        m_canvas.text(x, y, 40, kRow, name, {11, Role::Text2});
        const bool isMean = value == m_counts.mean && std::string_view(name) == "mean";
        m_canvas.text(x + 40, y, kLegend - 52, kRow,
                      m_counts.values == 0 ? "none"
                      : isMean             ? minus(fmt::format("{:.4g}", value))
                                           : minus(numberText(value, dtype, 5)),
                      {11, Role::Text, Weight::Medium, Align::Right});
        y += kRow;
    }
    y += 6;
    if (m_counts.values > 0) {
        scaleBar(x, y);
        y += 30;
    }
    count(x, y, Kind::Nan, "NaN", m_counts.nan);
    count(x, y + kRow, Kind::Inf, "Inf", m_counts.inf);
    count(x, y + 2 * kRow, Kind::Undefined, "undefined", m_counts.undefined);
    if (m_cells.side > 1) {
        y = m_canvas.paragraph(x, y + 3 * kRow + 6, kLegend - 12,
                               fmt::format("A cell stands for {0} × {0} elements. It shows the "
                                           "worst of them, else the value farthest from 0.",
                                           m_cells.side),
                               10, 13, Role::Text3);
    }
}

void Painter::number(double right, double y, std::int64_t element)
{
    const Kind kind = kindOf(m_view, element);
    if (kind == Kind::None) {
        return;
    }
    const double left = right - kNumberWidth;
    if (element == m_element) {
        m_canvas.frame(left + 2, y, kNumberWidth, kRow, Role::Text, 2);
    }
    const double value = m_view.elements.at(element);
    const Color color = kind == Kind::Nan         ? Color(Role::Error)
                        : kind == Kind::Inf       ? Color(Role::Warning)
                        : kind == Kind::Undefined ? Color(Role::Text3)
                                                  : Color(Role::Text);
    const std::string text = kind == Kind::Nan         ? "NaN"
                             : kind == Kind::Inf       ? (value > 0 ? "Inf" : "-Inf")
                             : kind == Kind::Undefined ? "undefined"
                                                       : numberText(value, m_view.elements.dtype);
    m_canvas.text(left, y, kNumberWidth - 4, kRow, text,
                  {11, color, kind == Kind::Nan ? Weight::MonoBold : Weight::Mono, Align::Right});
}

// Numbers around the element.
void Painter::numbers()
{
    const double top = m_canvas.height() - kNumbers;
    const std::int64_t at = m_element - m_plane.first;
    const std::int64_t row = at / m_plane.columns, column = at % m_plane.columns;
    const auto range = [](std::int64_t middle, std::int64_t count) {
        const std::int64_t first = std::clamp<std::int64_t>(
            middle - kAround, 0, std::max<std::int64_t>(0, count - 2 * kAround - 1));
        return std::pair(first, std::min(count, first + 2 * kAround + 1));
    };
    const auto [firstRow, endRow] = range(row, m_plane.rows);
    auto [firstColumn, endColumn] = range(column, m_plane.columns);
    const auto fitting = static_cast<std::int64_t>((m_canvas.width() - 16) / kNumberWidth);
    while (endColumn - firstColumn > std::max<std::int64_t>(1, fitting)) {
        (column - firstColumn > endColumn - 1 - column ? ++firstColumn : --endColumn);
    }
    const std::string index = indexText(m_view.elements.shape, m_element);
    m_canvas.text(12, top, m_canvas.width() - 24, kRow,
                  m_view.name + (index.empty() ? "" : "[" + index + "]"),
                  {11, Role::Text, Weight::SemiBold});
    if (m_view.elements.shape.rank() > 1) {
        m_canvas.text(12, top, m_canvas.width() - 24, kRow,
                      fmt::format("rows {}–{}, columns {}–{}", firstRow, endRow - 1, firstColumn,
                                  endColumn - 1),
                      {10, Role::Text2, Weight::Regular, Align::Right});
    }
    for (std::int64_t r = firstRow; r < endRow; ++r) {
        for (std::int64_t c = firstColumn; c < endColumn; ++c) {
            number(12 + static_cast<double>(c - firstColumn + 1) * kNumberWidth,
                   top + kRow + 4 + static_cast<double>(r - firstRow) * kRow, m_plane.at(r, c));
        }
    }
}

std::string Painter::caption() const
{
    const Array& elements = m_view.elements;
    std::string text =
        fmt::format("{} |{}{}|", m_view.name, dtypeName(elements.dtype), toString(elements.shape));
    text += m_view.memory.empty() ? "" : " in " + m_view.memory;
    if (m_all.values > 0) {
        text += fmt::format(" · {} to {}", minus(numberText(m_all.least, elements.dtype, 4)),
                            minus(numberText(m_all.largest, elements.dtype, 4)));
    }
    return text
           + fmt::format(" · |{}| NaN · |{}| Inf · |{}| undefined", countText(m_all.nan),
                         countText(m_all.inf), countText(m_all.undefined));
}

} // namespace

} // namespace values

Scene layoutValues(const ValuesView& view, const ValuesChoice& choice, Size size)
{
    return values::Painter(view, choice, size).paint();
}

} // namespace pallascope::layout
