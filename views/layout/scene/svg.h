// Writes a scene as an SVG file.
#pragma once

#include "views/layout/scene/scene.h"

#include <string>

namespace pallascope::layout {

// A standalone file with the theme's background. It names fonts by family, with generic fallbacks.
// Magnified by `scale`.
[[nodiscard]] std::string toSvg(const Scene& scene, Theme theme, double scale = 1);

} // namespace pallascope::layout
