// What the program prints and writes, held against the rules by which terminals and other programs
// read it. Each of these gives the first thing that is wrong, or "".
#pragma once

#include <string>
#include <string_view>

namespace pallascope::fuzz {

// Lines of UTF-8 that show all that they hold: no control characters but line feeds and tabs, none
// that turn the direction of text.
[[nodiscard]] std::string faultOfText(std::string_view text);

// One element of XML 1.0 with all that is in it. Comments, declarations and processing instructions
// are faults too: no picture has any.
[[nodiscard]] std::string faultOfXml(std::string_view text);

} // namespace pallascope::fuzz
