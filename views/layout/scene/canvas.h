// The painting vocabulary of the layouts: rounds to whole pixels, elides, drops what does not fit,
// and appends to a Scene. Text is measured with the bundled fonts' own advance widths
// (font_metrics.h).
#pragma once

#include "views/layout/scene/scene.h"

#include <string>
#include <string_view>
#include <vector>

namespace pallascope::layout {

// Advance width in px of one line of text in a bundled font.
[[nodiscard]] double textWidth(std::string_view text, int size = 11,
                               Weight weight = Weight::Regular);
// Cut to `width` with an ellipsis; the empty string when not even that fits.
[[nodiscard]] std::string elided(std::string_view text, double width, int size, Weight weight);

struct TextStyle
{
    int size = 11;
    Color color = Role::Text;
    Weight weight = Weight::Regular;
    Align align = Align::Left;
};

class Canvas
{
public:
    Canvas(double width, double height);

    void fill(double x, double y, double w, double h, Color color);
    void frame(double x, double y, double w, double h, Color color, double thickness = 1);
    void dashedFrame(double x, double y, double w, double h, Color color); // 3 on, 2 off
    void dashedVertical(double x, double y0, double y1, Color color);      // 2 on, 3 off
    void hatch(double x, double y, double w, double h, Color color, Color background, Hatch kind);
    void line(std::vector<Point> points, Color color, double width = 1,
              std::vector<double> dash = {});
    void polygon(std::vector<Point> points, Color fill);
    void polygon(std::vector<Point> points, Color fill, Color edge, double edgeWidth);
    void disc(double x, double y, double radius, Color fill, Color edge, double edgeWidth = 1.5);
    void image(Rect rect, int columns, int rows, std::vector<Color> palette,
               std::vector<std::uint8_t> cells);
    void pushClip(double x, double y, double w, double h);
    void popClip();

    void text(double x, double y, double w, double h, std::string_view text, TextStyle style = {});
    // Black or white on a bar of `fill`, 5 px from its left edge; drawn only if it fits in the bar
    // whole. Returns whether it did.
    bool label(double x, double y, double w, double h, std::string_view text, Color fill,
               int size = 11, Weight weight = Weight::Medium);
    void rotatedText(double x, double y, std::string_view text, double angle, TextStyle style);
    // "step |2| of |512|": parts between bars are Medium in Text, the rest Regular in `color`;
    // elided. Returns the x behind it.
    double rich(double x, double y, double w, double h, std::string_view text, int size = 11,
                Color color = Role::Text2);
    // Wrapped rich text; strong parts SemiBold. Returns the y below it.
    double paragraph(double x, double y, double w, std::string_view text, int size = 12,
                     double lineHeight = 17, Color color = Role::Text);

    void hit(double x, double y, double w, double h, Target target);

    [[nodiscard]] const std::vector<Hit>& hits() const { return m_scene.hits; }

    [[nodiscard]] double width() const { return m_scene.width; }

    [[nodiscard]] double height() const { return m_scene.height; }

    [[nodiscard]] Scene finish(std::string title, std::string caption) &&;

private:
    Scene m_scene;
};

} // namespace pallascope::layout
