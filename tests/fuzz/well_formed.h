// Checks what the program prints and writes against the rules by which terminals and other programs
// read it. Each function returns the first fault, or "".
#pragma once

#include <string>
#include <string_view>

namespace pallascope::fuzz {

// Lines of UTF-8 that show everything they hold: no control characters except line feeds and tabs,
// and no characters that turn the direction of text.
[[nodiscard]] std::string faultOfText(std::string_view text);

// One element of XML 1.0 with everything in it. Comments, declarations and processing instructions
// count as faults, because our pictures have none.
[[nodiscard]] std::string faultOfXml(std::string_view text);

} // namespace pallascope::fuzz
