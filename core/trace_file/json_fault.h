// Says in words why a text is not JSON, after a parser has refused it.
#pragma once

#include <string>
#include <string_view>

namespace pallascope::trace_file {

// Returns the rest of a sentence that starts with a file's name: "is cut short: ..." if brackets
// or a string stay open at the end, "holds the number 1e999 at byte 12, ..." if a number is
// malformed or out of the range of JSON readers, otherwise "is not JSON".
[[nodiscard]] std::string whyNotJson(std::string_view text);

} // namespace pallascope::trace_file
