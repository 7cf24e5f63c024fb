// Advance widths of the bundled fonts, so that layouts measure text without Qt and every painter
// agrees with them. The table is written by resources/fonts/make_metrics.py.
#pragma once

#include "views/layout/scene/scene.h"

#include <string_view>

namespace pallascope::layout {

// Of one code point, in thousandths of the font size; unknown ones are as wide as 'n'.
[[nodiscard]] int advance(char32_t codePoint, Weight weight);

// The code point that begins at text[at]; moves `at` behind it. A malformed byte counts as U+FFFD.
[[nodiscard]] char32_t nextCodePoint(std::string_view text, std::size_t& at);

// From the middle of a line box down to the baseline, per px of size; the same for both families
// within 0.004.
inline constexpr double kBaselineBelowMiddle = 0.364;

} // namespace pallascope::layout
