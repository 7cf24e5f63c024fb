// Programs whose agents and kernels are several: those in which views have contradicted each other.
#pragma once

#include "core/ir/program.h"

#include <string>
#include <vector>

namespace pallascope::test {

struct NamedProgram
{
    std::string name, chip;
    ir::Program program;
};

[[nodiscard]] std::vector<NamedProgram> programsOfSeveral();

} // namespace pallascope::test
