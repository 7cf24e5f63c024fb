#include "core/base/repeated_name.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace pallascope {

namespace {

// An object or list around the place.
struct Level
{
    bool object = false;
    bool nameIsNext = false;
    std::set<std::string> names; // without escapes
    std::string name;            // of the value that the place is in
    std::size_t index = 0;
};

std::string pointerOf(const std::vector<Level>& levels)
{
    std::string pointer;
    for (const Level& level : levels) {
        pointer += level.object ? "/" + level.name : "/" + std::to_string(level.index);
    }
    return pointer;
}

// Behind the string that begins at `begin`.
std::size_t endOfString(std::string_view json, std::size_t begin)
{
    std::size_t at = begin + 1;
    while (at < json.size() && json[at] != '"') {
        at += json[at] == '\\' ? 2U : 1U;
    }
    return at + 1;
}

// The four digits of an escape.
char32_t hexAt(std::string_view text, std::size_t at)
{
    const std::string_view digits = text.substr(std::min(at, text.size()), 4);
    std::uint32_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    return number;
}

void addUtf8(std::string& text, char32_t code)
{
    const auto byte = [&](char32_t bits) { text += static_cast<char>(bits); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xc0U | code >> 6U);
        byte(0x80U | (code & 0x3fU));
    } else if (code < 0x10000) {
        byte(0xe0U | code >> 12U);
        byte(0x80U | (code >> 6U & 0x3fU));
        byte(0x80U | (code & 0x3fU));
    } else {
        byte(0xf0U | code >> 18U);
        byte(0x80U | (code >> 12U & 0x3fU));
        byte(0x80U | (code >> 6U & 0x3fU));
        byte(0x80U | (code & 0x3fU));
    }
}

// What stands between the quotes of a string, as readers take it.
std::string unescaped(std::string_view text)
{
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\\' || at + 1 == text.size()) {
            plain += text[at];
            continue;
        }
        const char c = text[++at];
        constexpr std::string_view kShort = "bfnrt", kMeant = "\b\f\n\r\t";
        if (const std::size_t which = kShort.find(c); which != std::string_view::npos) {
            plain += kMeant[which];
        } else if (c != 'u') { // a quote, a stroke
            plain += c;
        } else {
            char32_t code = hexAt(text, at + 1);
            at += 4;
            const char32_t low = text.substr(std::min(at + 1, text.size())).starts_with("\\u")
                                     ? hexAt(text, at + 3)
                                     : 0;
            if (code >= 0xd800 && code < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
                code = 0x10000 + ((code - 0xd800) << 10U) + (low - 0xdc00);
                at += 6;
            }
            addUtf8(plain, code);
        }
    }
    return plain;
}

} // namespace

std::optional<std::string> repeatedName(std::string_view json)
{
    std::vector<Level> levels;
    for (std::size_t at = 0; at < json.size(); ++at) {
        const char c = json[at];
        if (c == '{' || c == '[') {
            levels.push_back({.object = c == '{', .nameIsNext = c == '{'});
        } else if (levels.empty()) {
            continue;
        } else if (c == '}' || c == ']') {
            levels.pop_back();
        } else if (c == ',') {
            levels.back().nameIsNext = levels.back().object;
            ++levels.back().index;
        } else if (c == '"') {
            const std::size_t end = endOfString(json, at);
            if (Level& level = levels.back(); level.nameIsNext) {
                level.nameIsNext = false;
                level.name = unescaped(json.substr(at + 1, end - at - 2));
                if (!level.names.insert(level.name).second) {
                    return pointerOf(levels);
                }
            }
            at = end - 1;
        }
    }
    return std::nullopt;
}

} // namespace pallascope
