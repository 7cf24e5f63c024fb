// Draws one picture of values. Only for the values picture: values.cpp has the map, legend.cpp what
// is beside it, numbers.cpp what is below it.
#pragma once

#include "views/layout/scene/canvas.h"
#include "views/layout/values/values.h"

#include <optional>
#include <string>

namespace pallascope::layout::values {

class Painter
{
public:
    Painter(const ValuesSight& sight, ValuesScale scale, const std::optional<ValuesRange>& held);

    [[nodiscard]] Scene paint() &&;

private:
    void map();
    [[nodiscard]] std::uint8_t colorOf(const Cell& cell) const; // an index into the palette
    void marks();
    void markRow(std::int64_t row);
    void pattern(const Rect& rect, Kind kind);
    void glyph(const Rect& cell, const Cell& what);
    void blocks();
    void blockName(std::int64_t row, std::int64_t column);
    void cursor();

    // Frames round what is in VMEM, in a picture of a region.
    struct Picture
    {
        Rect rect;
        Region region;
        double perRow = 1, perColumn = 1; // px of an element
    };

    void residents(const Picture& picture);
    void axes();

    void legend();
    void whole(double x, double& y);
    void figures(double x, double& y);
    void scaleBar(double x, double& y);
    void count(double x, double& y, Kind kind, const char* what, std::int64_t number);
    void labelled(double x, double y, const char* what, std::int64_t number);

    void numbers();
    void number(double x, double y, const ValuesNumber& number, bool isChosen);
    [[nodiscard]] std::string caption() const;
    [[nodiscard]] Scene nothing(std::string_view sentence) &&;

    [[nodiscard]] bool diverges() const
    {
        return m_scale == ValuesScale::Range && m_range.least < 0 && m_range.largest > 0;
    }

    // Where a value is on the scale: 0 to 1, or -1 to 1 if the scale diverges.
    [[nodiscard]] double level(double value) const;
    [[nodiscard]] Color colorAt(double level) const;

    // The px of a row or column of the plane.
    [[nodiscard]] double xOf(std::int64_t column) const;
    [[nodiscard]] double yOf(std::int64_t row) const;

    const ValuesSight& m_sight;
    const Frame& m_frame;
    ValuesScale m_scale;
    bool m_hasRange;
    ValuesRange m_range;
    Canvas m_canvas;
};

// A real minus sign, as in all texts but the table.
[[nodiscard]] std::string minus(std::string text);

} // namespace pallascope::layout::values
