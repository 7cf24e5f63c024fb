// Paints a layout::Scene with QPainter: fills in whole pixels without antialiasing, hatch tiles
// with a fixed origin, a few antialiased lines, and the bundled fonts. The same code paints
// windows, pictures and goldens.
#pragma once

#include "views/layout/scene/scene.h"

#include <QColor>
#include <QImage>
#include <QRectF>

class QPainter;

namespace pallascope::views {

[[nodiscard]] QColor color(layout::Rgb rgb);
[[nodiscard]] QColor color(layout::Color color, layout::Theme theme);

// Skips items outside `exposed`; an empty rectangle paints everything. The painter's state is the
// same afterwards.
void paint(QPainter& painter, const layout::Scene& scene, layout::Theme theme,
           const QRectF& exposed = {});

// The scene on the background of views.
[[nodiscard]] QImage render(const layout::Scene& scene, layout::Theme theme,
                            double devicePixelRatio = 1);

// Paints a text such as "step |2| of |512|" on one line: the parts between bars are Medium in
// `strong`, the rest is Regular in `normal`. The text is elided at the rectangle's width. Returns
// the x behind it.
struct RichColors
{
    layout::Color normal = layout::Role::Text2;
    layout::Color strong = layout::Role::Text;
};

double paintRich(QPainter& painter, const QRectF& rect, const QString& text, int pixelSize,
                 layout::Theme theme, RichColors colors = {});
[[nodiscard]] double richWidth(const QString& text, int pixelSize);

// A 2 px frame around the outside of a rectangle, for hover, selection, focus and errors.
void paintFrame(QPainter& painter, const QRectF& rect, layout::Color color, layout::Theme theme,
                int thickness = 2);

} // namespace pallascope::views
