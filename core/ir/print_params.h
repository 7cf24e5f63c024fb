// The text of an operation's parameters in a listing.
#pragma once

#include "core/ir/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::ir {

// "[axis=0]". Empty if there is nothing to show, as for control operations and loads and stores.
[[nodiscard]] std::string parametersText(const Operation& operation);

// "(0,1)"
[[nodiscard]] std::string tupleText(const std::vector<std::int32_t>& numbers);

} // namespace pallascope::ir
