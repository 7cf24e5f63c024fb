// Scans a text once, for open brackets and strings and for malformed numbers.
#include "core/trace_file/json_fault.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <optional>

namespace pallascope::trace_file {

namespace {

constexpr std::int64_t kDeepest = 1024; // the parser's own limit
constexpr std::string_view kNumberCharacters = "+-.0123456789eE";

bool isDigit(char character)
{
    return character >= '0' && character <= '9';
}

// -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?, and in range of int64, uint64 or double.
bool isSoundNumber(std::string_view text)
{
    const std::string_view whole = text;
    const auto skipDigits = [&] {
        std::size_t count = 0;
        while (count < text.size() && isDigit(text[count])) {
            ++count;
        }
        text.remove_prefix(count);
        return count;
    };
    bool integer = true;
    if (text.starts_with('-')) {
        text.remove_prefix(1);
    }
    const bool zero = text.starts_with('0');
    const std::size_t digits = skipDigits();
    if (digits == 0 || (zero && digits > 1)) {
        return false;
    }
    if (text.starts_with('.')) {
        integer = false;
        text.remove_prefix(1);
        if (skipDigits() == 0) {
            return false;
        }
    }
    if (text.starts_with('e') || text.starts_with('E')) {
        integer = false;
        text.remove_prefix(1);
        if (text.starts_with('+') || text.starts_with('-')) {
            text.remove_prefix(1);
        }
        if (skipDigits() == 0) {
            return false;
        }
    }
    if (!text.empty()) {
        return false;
    }
    const char* const first = whole.data();
    const char* const last = first + whole.size();
    if (integer) {
        std::int64_t value = 0;
        std::uint64_t large = 0;
        return std::from_chars(first, last, value).ec == std::errc()
               || std::from_chars(first, last, large).ec == std::errc();
    }
    double value = 0;
    return std::from_chars(first, last, value).ec == std::errc();
}

struct Scan
{
    std::int64_t depth = 0; // open brackets at the end
    std::int64_t deepest = 0;
    bool inString = false;
    std::optional<std::size_t> badNumber;
    std::size_t badNumberLength = 0;
};

Scan scan(std::string_view text)
{
    Scan result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char character = text[i];
        if (result.inString) {
            if (character == '\\') {
                ++i;
            } else if (character == '"') {
                result.inString = false;
            }
        } else if (character == '"') {
            result.inString = true;
        } else if (character == '{' || character == '[') {
            result.deepest = std::max(result.deepest, ++result.depth);
        } else if (character == '}' || character == ']') {
            --result.depth;
        } else if (isDigit(character) || character == '-' || character == '+') {
            const std::size_t end = text.find_first_not_of(kNumberCharacters, i);
            const std::size_t length = (end == std::string_view::npos ? text.size() : end) - i;
            // A number at the end of the text may be malformed only because the text is cut short.
            if (!result.badNumber && end != std::string_view::npos
                && !isSoundNumber(text.substr(i, length))) {
                result.badNumber = i;
                result.badNumberLength = length;
            }
            i += length - 1;
        }
    }
    return result;
}

} // namespace

std::string whyNotJson(std::string_view text)
{
    constexpr std::size_t kShown = 40;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool structured =
        first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
    if (!structured) {
        return "is not JSON, so it is not a trace";
    }
    const Scan found = scan(text);
    if (found.deepest > kDeepest) {
        return "is nested too deeply to be a trace";
    }
    if (found.badNumber) {
        const std::string_view number = text.substr(*found.badNumber, found.badNumberLength);
        return fmt::format(
            "holds {}{} at byte {}, which is malformed or out of range for a JSON number",
            number.substr(0, kShown), number.size() > kShown ? "..." : "", *found.badNumber);
    }
    if (found.inString || found.depth > 0) {
        return fmt::format("is cut short: it ends inside {}",
                           found.inString     ? "a string"
                           : found.depth == 1 ? "an open bracket"
                                              : fmt::format("{} open brackets", found.depth));
    }
    return "is not JSON: brackets, commas or words in it are wrong";
}

} // namespace pallascope::trace_file
