// Makes text from files safe for people and for JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pallascope {

// The length in bytes of the well-formed UTF-8 character with which the text starts (RFC 3629:
// shortest form, no surrogates); 0 if it starts with none. The text must not be empty.
[[nodiscard]] std::size_t utf8Length(std::string_view text);

// Replaces bytes that are not UTF-8 by U+FFFD.
[[nodiscard]] std::string validUtf8(std::string_view text);

// A quotation that is safe in a sentence, whatever the file contains: as visible() shows it, and
// cut to about 1000 bytes (the start and the end, with "..." between them).
[[nodiscard]] std::string oneLine(std::string_view text);

// The deepest nesting of brackets and braces, counting those in strings too. It is checked before a
// recursive JSON parser starts, so that no file can overflow its stack.
[[nodiscard]] int bracketDepth(std::string_view text);

} // namespace pallascope
