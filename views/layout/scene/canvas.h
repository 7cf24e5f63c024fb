// What layouts draw with. It rounds to whole pixels, elides texts, drops what does not fit, and
// appends to a Scene. It measures texts with the advance widths of the bundled fonts
// (font_metrics.h).
#pragma once

#include "views/layout/scene/scene.h"

#include <string>
#include <string_view>
#include <vector>

namespace pallascope::layout {

// The advance width, in px, of one line of text in a bundled font.
[[nodiscard]] double textWidth(std::string_view text, int size = 11,
                               Weight weight = Weight::Regular);
// The text, cut to `width` with an ellipsis if needed; empty if not even the ellipsis fits.
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
    void dashedFrame(double x, double y, double w, double h, Color color); // 3 px on, 2 px off
    void dashedVertical(double x, double y0, double y1, Color color);      // 2 px on, 3 px off
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
    // Writes in black or white on a bar of colour `fill`, 5 px from its left edge, but only if the
    // whole text fits in the bar. Returns whether it did.
    bool label(double x, double y, double w, double h, std::string_view text, Color fill,
               int size = 11, Weight weight = Weight::Medium);
    void rotatedText(double x, double y, std::string_view text, double angle, TextStyle style);
    // Paints a text such as "step |2| of |512|" on one line, elided: the parts between bars are
    // Medium in the colour of text, the rest is Regular in `color`. Returns the x behind it.
    double rich(double x, double y, double w, double h, std::string_view text, int size = 11,
                Color color = Role::Text2);
    // Paints rich text on as many lines as it needs; strong parts are SemiBold. Returns the y below
    // it.
    double paragraph(double x, double y, double w, std::string_view text, int size = 12,
                     double lineHeight = 17, Color color = Role::Text);

    void hit(double x, double y, double w, double h, Target target);
    // What a text or a colour of the view says, in numbers.
    void state(Fact fact);
    void state(const std::vector<Fact>& facts);

    [[nodiscard]] const std::vector<Hit>& hits() const { return m_scene.hits; }

    [[nodiscard]] double width() const { return m_scene.width; }

    [[nodiscard]] double height() const { return m_scene.height; }

    [[nodiscard]] Scene finish(std::string title, std::string caption) &&;

private:
    Scene m_scene;
};

} // namespace pallascope::layout
