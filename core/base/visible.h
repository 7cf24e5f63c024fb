// Makes names and texts from files safe to show in terminals, pictures and windows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pallascope {

enum class Lines : std::uint8_t
{
    One,    // for a name
    Several // for a source, a listing or what a kernel prints: keeps line feeds and tabs
};

// Valid UTF-8 in which everything invisible is spelled out. Control characters (U+0000 to U+001F,
// U+007F to U+009F) become "\x1b" and the like. Characters that change the direction of text, or
// that XML does not allow (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069, U+FFFE,
// U+FFFF), become "\u202e" and the like. CR LF becomes LF.
[[nodiscard]] std::string visible(std::string_view text, Lines lines = Lines::One);

} // namespace pallascope
