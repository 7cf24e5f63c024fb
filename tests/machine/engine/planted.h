// A program with a bug, and the findings that its run must have.
#pragma once

#include "core/ir/program.h"

#include <string>
#include <vector>

namespace pallascope::machine_test {

// A program, and the line of its bug (or where the bug would be).
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
    // Kinds of further findings that follow from the same bug.
    std::vector<std::string> consequences;
};

} // namespace pallascope::machine_test
