// Names with an index, as people write them: "out[3,5]" for an element, "x(0,3)" for a block.
#pragma once

#include "core/base/extents.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope {

struct IndexedName
{
    std::string name;
    std::vector<std::int64_t> index; // none below 0; empty for "total[]"
    bool operator==(const IndexedName&) const = default;
};

// A name, and behind it numbers from 0 in brackets; of a name with brackets the last ones are the
// index. Nullopt for any other text.
[[nodiscard]] std::optional<IndexedName> parseIndexedName(std::string_view text, char open,
                                                          char close);

// The row-major number of an index of an array; nullopt if the array has no such index.
[[nodiscard]] std::optional<std::int64_t> rowMajorNumber(std::span<const Extent> extents,
                                                         std::span<const std::int64_t> index);

} // namespace pallascope
