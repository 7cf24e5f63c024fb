// Which kinds of things a random program has, so that a test can check that the generator makes all
// of them.
#pragma once

#include "core/ir/program.h"

#include <set>
#include <string>
#include <vector>

namespace pallascope::machine_test {

// Words such as "a pipeline of Element blocks" or "a copy to another device".
[[nodiscard]] std::set<std::string> kindsIn(const ir::Program& program);

// All phrases that kindsIn() can return.
[[nodiscard]] const std::vector<std::string>& allKinds();

} // namespace pallascope::machine_test
