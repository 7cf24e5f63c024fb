// Writes a scene as an SVG file.
#pragma once

#include "views/layout/scene/scene.h"

#include <string>

namespace pallascope::layout {

// A standalone file with the theme's background. It names fonts by family, with generic fallbacks.
[[nodiscard]] std::string toSvg(const Scene& scene, Theme theme);

} // namespace pallascope::layout
