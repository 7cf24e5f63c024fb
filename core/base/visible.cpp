#include "core/base/visible.h"

#include "core/base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope {

namespace {

// The code point of a text that is one well-formed UTF-8 character.
char32_t codePoint(std::string_view character)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    char32_t code = character.size() == 1   ? byte(0)
                    : character.size() == 2 ? byte(0) & 0x1fU
                    : character.size() == 3 ? byte(0) & 0x0fU
                                            : byte(0) & 0x07U;
    for (std::size_t i = 1; i < character.size(); ++i) {
        code = code << 6U | (byte(i) & 0x3fU);
    }
    return code;
}

bool isControl(char32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f);
}

bool turnsText(char32_t code)
{
    return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e)
           || (code >= 0x2066 && code <= 0x2069) || code == 0xfffe || code == 0xffff;
}

} // namespace

std::string visible(std::string_view text, Lines lines)
{
    const auto isPlain = [](char c) { return c >= 0x20 && c < 0x7f; };
    if (std::all_of(text.begin(), text.end(), isPlain)) { // true for nearly all texts
        return std::string(text);
    }
    std::string shown;
    shown.reserve(text.size() + 16);
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
        text.remove_prefix(character.size());
        const char32_t code = length == 0 ? 0xfffd : codePoint(character);
        const bool several = lines == Lines::Several;
        if (several && code == '\r' && text.starts_with('\n')) {
            continue;
        }
        if (isControl(code) && !(several && (code == '\n' || code == '\t'))) {
            shown += fmt::format("\\x{:02x}", static_cast<unsigned>(code));
        } else if (turnsText(code)) {
            shown += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
        } else {
            shown += length == 0 ? std::string_view("\xef\xbf\xbd") : character;
        }
    }
    return shown;
}

} // namespace pallascope
