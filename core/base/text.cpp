#include "core/base/text.h"

#include "core/base/visible.h"

#include <algorithm>

namespace pallascope {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd"; // U+FFFD
constexpr std::size_t kStart = 500, kEnd = 400;           // bytes kept of a long text

bool continuesCharacter(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

} // namespace

std::size_t utf8Length(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto tail = [&](std::size_t i) { return i < text.size() && continuesCharacter(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xc2 && lead <= 0xdf && tail(1)) {
        return 2;
    }
    if (lead >= 0xe0 && lead <= 0xef && tail(1) && tail(2)) {
        const bool overlong = lead == 0xe0 && byte(1) < 0xa0;
        const bool surrogate = lead == 0xed && byte(1) > 0x9f;
        return overlong || surrogate ? 0 : 3;
    }
    if (lead >= 0xf0 && lead <= 0xf4 && tail(1) && tail(2) && tail(3)) {
        const bool overlong = lead == 0xf0 && byte(1) < 0x90;
        const bool beyond = lead == 0xf4 && byte(1) > 0x8f;
        return overlong || beyond ? 0 : 4;
    }
    return 0;
}

std::string validUtf8(std::string_view text)
{
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        valid += length > 0 ? text.substr(0, length) : kReplacement;
        text.remove_prefix(length > 0 ? length : 1);
    }
    return valid;
}

std::string oneLine(std::string_view text)
{
    std::string line = visible(text);
    if (line.size() <= kStart + kEnd) {
        return line;
    }
    std::size_t start = kStart, end = line.size() - kEnd;
    while (continuesCharacter(line[start])) {
        --start;
    }
    while (continuesCharacter(line[end])) {
        ++end;
    }
    return line.substr(0, start) + "..." + line.substr(end);
}

int bracketDepth(std::string_view text)
{
    int depth = 0, deepest = 0;
    for (const char c : text) {
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        deepest = std::max(deepest, depth);
    }
    return deepest;
}

} // namespace pallascope
