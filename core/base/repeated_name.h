// JSON says nothing of two values for one name, so readers differ in which of them they take. Files
// that people write are refused for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pallascope {

// The RFC 6901 pointer of the first name that an object of `json` has twice, however it is written:
// "a" and "\u0061" are one name. The text must be JSON.
[[nodiscard]] std::optional<std::string> repeatedName(std::string_view json);

} // namespace pallascope
