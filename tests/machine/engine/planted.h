// A bug that was put into a program, and what the run must say of it.
#pragma once

#include "core/ir/program.h"

#include <string>
#include <vector>

namespace pallascope::machine_test {

// A program and the line that is wrong with it, or would be.
struct Planted
{
    ir::Program program;
    std::int64_t line = 0;
};

struct Found
{
    std::string kind, operand;
    std::int64_t step = -1;
    std::int64_t count = 1;
    // Findings of other kinds that follow from the same bug.
    std::vector<std::string> consequences;
};

} // namespace pallascope::machine_test
