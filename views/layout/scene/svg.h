// Writes a scene as an SVG file.
#pragma once

#include "views/layout/scene/scene.h"

#include <string>

namespace pallascope::layout {

// Standalone, with the theme's background; fonts by family name with generic fallbacks.
[[nodiscard]] std::string toSvg(const Scene& scene, Theme theme);

} // namespace pallascope::layout
