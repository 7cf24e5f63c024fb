// Prints a program in the style of a jaxpr. Each line knows its operation, so that views can link
// the two.
#pragma once

#include "core/ir/program.h"

#include <string>
#include <vector>

namespace pallascope::ir {

struct PrintedLine
{
    std::string text;
    std::int32_t operation = -1; // Operation::id; -1: none
    bool operator==(const PrintedLine&) const = default;
};

[[nodiscard]] std::vector<PrintedLine> print(const Program& program);
[[nodiscard]] std::string printText(const Program& program);

// One sentence about whether JAX accepts the program for a TPU; empty if nobody asked. `accepted`
// is a verdictName, `reason` is JAX's message.
[[nodiscard]] std::string loweringText(std::string_view accepted, const std::string& reason);

} // namespace pallascope::ir
