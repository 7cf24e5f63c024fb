// What a random program has in it, so that a test may hold the generator to making all of it.
#pragma once

#include "core/ir/program.h"

#include <set>
#include <string>
#include <vector>

namespace pallascope::machine_test {

// Words such as "a pipeline of Element blocks" or "a copy to another device".
[[nodiscard]] std::set<std::string> kindsIn(const ir::Program& program);

// All words that there are.
[[nodiscard]] const std::vector<std::string>& allKinds();

} // namespace pallascope::machine_test
