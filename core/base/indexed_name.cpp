#include "core/base/indexed_name.h"

#include <charconv>

namespace pallascope {

std::optional<IndexedName> parseIndexedName(std::string_view text, char open, char close)
{
    const std::size_t bracket = text.rfind(open);
    if (bracket == std::string_view::npos || bracket == 0 || text.back() != close) {
        return std::nullopt;
    }
    IndexedName result{std::string(text.substr(0, bracket)), {}};
    const char* at = text.data() + bracket + 1;
    const char* const end = text.data() + text.size() - 1;
    while (at != end) {
        std::int64_t number = 0;
        const auto [next, failed] = std::from_chars(at, end, number);
        if (failed != std::errc() || number < 0
            || (next != end && (*next != ',' || next + 1 == end))) {
            return std::nullopt;
        }
        result.index.push_back(number);
        at = next == end ? end : next + 1;
    }
    return result;
}

std::optional<std::int64_t> rowMajorNumber(std::span<const Extent> extents,
                                           std::span<const std::int64_t> index)
{
    if (index.size() != extents.size()) {
        return std::nullopt;
    }
    std::int64_t number = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        if (index[axis] < 0 || index[axis] >= extents[axis]) {
            return std::nullopt;
        }
        number = number * extents[axis] + index[axis];
    }
    return number;
}

} // namespace pallascope
