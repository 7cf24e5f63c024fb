// Marks of the points of a chart. Series differ in colour and in shape, so that colour is never the
// only thing that tells them apart.
#pragma once

#include "views/layout/scene/canvas.h"

namespace pallascope::layout {

inline constexpr double kMarkRadius = 4.5;

// The mark of the series with this number, from 0: solid, or only its outline.
void drawMark(Canvas& canvas, Point at, int series, bool isSolid);

// Two crossed strokes, for what has no place on the axes.
void drawCross(Canvas& canvas, Point at, Color color);

// A small triangle, for what has findings.
void drawWarning(Canvas& canvas, Point at);

} // namespace pallascope::layout
