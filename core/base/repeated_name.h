// Finds names that occur twice in a JSON object. JSON does not say which of the two values counts,
// and readers differ, so files that people write are refused if they have one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pallascope {

// The RFC 6901 pointer of the first name that an object of `json` has twice. Spelling does not
// matter: "a" and "\u0061" are the same name. The text must be valid JSON.
[[nodiscard]] std::optional<std::string> repeatedName(std::string_view json);

} // namespace pallascope
