// Names and texts of files, as terminals, pictures and windows may show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pallascope {

enum class Lines : std::uint8_t
{
    One,    // of a name
    Several // of a source, a listing or what a kernel prints: line feeds and tabs stay
};

// Valid UTF-8, in which all that shows nothing of itself is written out: control characters
// (U+0000 to U+001F, U+007F to U+009F) as "\x1b", and what turns the direction of text or is no
// character of XML (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069, U+FFFE, U+FFFF) as
// "\u202e". A line that ends in CR LF ends in LF alone.
[[nodiscard]] std::string visible(std::string_view text, Lines lines = Lines::One);

} // namespace pallascope
