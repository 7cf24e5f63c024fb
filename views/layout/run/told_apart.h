// Names of one list, told apart where several are the same.
#pragma once

#include "views/layout/run/run_view.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pallascope::layout {

// The names of some operands' arrays in a list. Where several are the same, each gets behind it
// what the program calls the array around kernels, "o_ref · y", or the kernel that copies it,
// "o_ref · softmax"; where that is the same, too, or does not fit, a number, "o_ref #2".
[[nodiscard]] std::vector<std::string>
toldApart(const RunView& run, const std::vector<std::int32_t>& operands,
          std::vector<std::string> names, const std::function<bool(const std::string&)>& fits);

} // namespace pallascope::layout
