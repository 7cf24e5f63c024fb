// Paints a layout::Scene with QPainter: whole-pixel fills without antialiasing, hatch tiles with a
// fixed origin, a few antialiased lines, the bundled fonts. The same code paints windows, pictures
// and goldens.
#pragma once

#include "views/layout/scene/scene.h"

#include <QColor>
#include <QImage>
#include <QRectF>

class QPainter;

namespace pallascope::views {

[[nodiscard]] QColor color(layout::Rgb rgb);
[[nodiscard]] QColor color(layout::Color color, layout::Theme theme);

// Items outside `exposed` are skipped; an empty rectangle paints all. Leaves the painter as it was.
void paint(QPainter& painter, const layout::Scene& scene, layout::Theme theme,
           const QRectF& exposed = {});

// The scene on the view background.
[[nodiscard]] QImage render(const layout::Scene& scene, layout::Theme theme,
                            double devicePixelRatio = 1);

// "step |2| of |512|" on one line: parts between bars are Medium in `strong`, the rest Regular in
// `normal`; elided at `width`. Returns the x behind it.
struct RichColors
{
    layout::Color normal = layout::Role::Text2;
    layout::Color strong = layout::Role::Text;
};

double paintRich(QPainter& painter, const QRectF& rect, const QString& text, int pixelSize,
                 layout::Theme theme, RichColors colors = {});
[[nodiscard]] double richWidth(const QString& text, int pixelSize);

// A 2 px frame around a rectangle, outside of it; for hover, selection, focus and errors.
void paintFrame(QPainter& painter, const QRectF& rect, layout::Color color, layout::Theme theme,
                int thickness = 2);

} // namespace pallascope::views
