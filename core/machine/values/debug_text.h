// What a debug_print of a kernel prints.
#pragma once

#include "core/machine/values/value.h"

#include <span>
#include <string>

namespace pallascope::machine {

// The values in place of the format's {}, one after the other, and those that are left behind it;
// {{ and }} are braces. Long axes are cut in the middle, undefined elements are "?".
[[nodiscard]] std::string debugText(const std::string& format,
                                    std::span<const RuntimeValue* const> values);

} // namespace pallascope::machine
