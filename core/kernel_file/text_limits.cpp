#include "core/kernel_file/text_limits.h"

#include "core/base/format.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::kernel_file {

namespace {

constexpr int kDeepest = 512;               // brackets inside each other
constexpr std::size_t kLargest = 8U << 20U; // bytes of text; parsed, it takes some 20 times that

// Refuses texts that are nested too deeply before the parser starts, because the parser's results
// are nested like the text.
int depthOf(std::string_view text)
{
    int depth = 0, deepest = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inString) {
            i += c == '\\' ? 1 : 0;
            inString = c != '"';
        } else if (c == '"') {
            inString = true;
        } else if (c == '{' || c == '[') {
            deepest = std::max(deepest, ++depth);
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return deepest;
}

} // namespace

Status checkLimits(std::string_view text)
{
    if (text.size() > kLargest) {
        return userError(fmt::format("has {} of JSON; {} at most are read",
                                     bytesText(Bytes(static_cast<std::int64_t>(text.size()))),
                                     bytesText(Bytes(static_cast<std::int64_t>(kLargest)))));
    }
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return userError("is empty");
    }
    if (const int depth = depthOf(text); depth > kDeepest) {
        return userError(
            fmt::format("is nested {} levels deep; {} at most are read", depth, kDeepest));
    }
    return Done{};
}

} // namespace pallascope::kernel_file
