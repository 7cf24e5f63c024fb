// Limits of a text, checked before it is parsed, that keep the parser from taking all memory or the
// whole stack.
#pragma once

#include "core/base/result.h"

#include <string_view>

namespace pallascope::kernel_file {

// An error continues a sentence that begins with the file's name: "is empty".
[[nodiscard]] Status checkLimits(std::string_view text);

} // namespace pallascope::kernel_file
