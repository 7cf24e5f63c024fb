// How large the texts of the window are, in percent. Everything else grows with them, so that no
// text needs more room than it has: the window is laid out as a smaller one and magnified.
#pragma once

#include <array>

namespace pallascope::app {

// Qt cuts what it paints where a window has fewer pixels than units, so none is smaller than usual.
inline constexpr std::array kTextSizes{100, 110, 125, 150};
inline constexpr int kUsualTextSize = 100;

// The next larger size (1), or the next smaller one (-1); the same if there is none.
[[nodiscard]] int nextTextSize(int percent, int direction);

// Sets the size for the next application, kUsualTextSize or more; before one is made. What the
// environment asks for is magnified, too, but a unit keeps at least a pixel.
void scaleApplication(int percent);
[[nodiscard]] int textSize(); // that was set last

} // namespace pallascope::app
