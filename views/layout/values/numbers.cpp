// The table of numbers around the chosen element, below the heat map of values.
#include "views/layout/values/painter.h"

#include <fmt/format.h>

namespace pallascope::layout::values {

void Painter::number(double x, double y, const ValuesNumber& number, bool isChosen)
{
    if (number.kind == Kind::None) {
        return;
    }
    const Kind kind = number.kind;
    const double width = m_frame.numberWidth;
    if (isChosen) {
        m_canvas.frame(x + 2, y, width, kLine, Role::Text, 2);
    }
    const Color color = kind == Kind::Nan     ? Color(Role::Error)
                        : kind == Kind::Inf   ? Color(Role::Warning)
                        : kind == Kind::Value ? Color(Role::Text)
                                              : Color(Role::Text3);
    const bool isWord = kind == Kind::Undefined || kind == Kind::Arriving;
    m_canvas.text(x, y, width - 4, kLine, valueText(number, m_sight.dtype),
                  {isWord ? 10 : 11, color,
                   kind == Kind::Nan ? Weight::MonoBold
                   : isWord          ? Weight::Regular
                                     : Weight::Mono,
                   Align::Right});
}

void Painter::numbers()
{
    const Region& table = m_frame.numbers;
    const double top = m_frame.numbersY;
    // In a low picture, the four counts of the legend go on beside the head of the table.
    const double legendEnd = m_frame.map.y - 4 + 4 * kLine;
    const bool isBesideLegend = legendEnd > top;
    const double width =
        isBesideLegend ? m_frame.legendX - kNumbersLeft - 6 : m_canvas.width() - 2 * kNumbersLeft;
    const std::string index =
        fmt::format("{}", fmt::join(indexOf(m_sight.shape, m_sight.element), ", "));
    const std::string name = m_sight.name + (index.empty() ? "" : "[" + index + "]");
    const std::string place =
        fmt::format("rows {}–{}, columns {}–{}", table.row, table.row + table.rows - 1,
                    table.column, table.column + table.columns - 1);
    m_canvas.text(kNumbersLeft, top, width, kLine, name, {11, Role::Text, Weight::SemiBold});
    if (m_sight.shape.rank() > 1
        && textWidth(name, 11, Weight::SemiBold) + textWidth(place, 10) + 12 <= width) {
        m_canvas.text(kNumbersLeft, top, width, kLine, place,
                      {10, Role::Text2, Weight::Regular, Align::Right});
    }
    std::size_t next = 0;
    for (std::int64_t row = 0; row < table.rows; ++row) {
        const double y = top + kLine + 4 + static_cast<double>(row) * kLine;
        for (std::int64_t column = 0; column < table.columns; ++column, ++next) {
            const double x = kNumbersLeft + static_cast<double>(column) * m_frame.numberWidth;
            if (y < legendEnd && x + m_frame.numberWidth > m_frame.legendX - 6) {
                continue; // the legend is there
            }
            const bool isChosen =
                m_sight.plane.at(table.row + row, table.column + column) == m_sight.element;
            number(x, y, m_sight.numbers[next], isChosen);
        }
    }
}

} // namespace pallascope::layout::values
