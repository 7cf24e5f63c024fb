// Text from files, made fit for people and for JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pallascope {

// Bytes of the well-formed UTF-8 character that a text, not empty, starts with (RFC 3629: shortest
// form, no surrogates); 0 if it starts with none.
[[nodiscard]] std::size_t utf8Length(std::string_view text);

// Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string validUtf8(std::string_view text);

// What a sentence may hold whatever a file says that it quotes: as visible() shows it, at most some
// 1000 bytes (the start and the end, with "..." between them).
[[nodiscard]] std::string oneLine(std::string_view text);

// How deep brackets and braces lie in one another, those in strings too. Parsers of JSON that
// recurse are asked this before they start, so that no file overflows their stack.
[[nodiscard]] int bracketDepth(std::string_view text);

} // namespace pallascope
