// The parameters of an operation as a listing shows them.
#pragma once

#include "core/ir/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::ir {

// "[axis=0]"; empty where there is nothing to say, as of control and memory.
[[nodiscard]] std::string parametersText(const Operation& operation);

// "(0,1)"
[[nodiscard]] std::string tupleText(const std::vector<std::int32_t>& numbers);

} // namespace pallascope::ir
