// The advance widths of the bundled fonts. With them layouts measure text without Qt, and every
// painter agrees with the layout. resources/fonts/make_metrics.py writes the table.
#pragma once

#include "views/layout/scene/scene.h"

#include <string_view>

namespace pallascope::layout {

// The advance of one code point in thousandths of the font size. An unknown code point is as wide
// as 'n'.
[[nodiscard]] int advance(char32_t codePoint, Weight weight);

// Returns the code point that begins at text[at] and moves `at` behind it. A malformed byte counts
// as U+FFFD.
[[nodiscard]] char32_t nextCodePoint(std::string_view text, std::size_t& at);

// The distance from the middle of a line box down to the baseline, per px of font size. It differs
// between the two families by at most 0.004.
inline constexpr double kBaselineBelowMiddle = 0.364;

} // namespace pallascope::layout
