// Says in words why a text is not JSON, once a parser has refused it.
#pragma once

#include <string>
#include <string_view>

namespace pallascope::trace_file {

// Continues a file's name: "is cut short: ..." when brackets or a string stay open at the end,
// "holds the number 1e999 at byte 12, ..." when a number is malformed or past what JSON readers
// hold, else "is not JSON".
[[nodiscard]] std::string whyNotJson(std::string_view text);

} // namespace pallascope::trace_file
