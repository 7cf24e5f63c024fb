// Prints a program so that it reads like a jaxpr; every line knows its operation.
#pragma once

#include "core/ir/program.h"

#include <string>
#include <vector>

namespace pallascope::ir {

struct PrintedLine
{
    std::string text;
    std::int32_t operation = -1; // Operation::id, -1: none
    bool operator==(const PrintedLine&) const = default;
};

[[nodiscard]] std::vector<PrintedLine> print(const Program& program);
[[nodiscard]] std::string printText(const Program& program);

// Whether JAX takes the program for a TPU, as a sentence; empty where nobody asked. `accepted` is a
// verdictName, `reason` JAX's.
[[nodiscard]] std::string loweringText(std::string_view accepted, const std::string& reason);

} // namespace pallascope::ir
