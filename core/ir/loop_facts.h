// Which loops of a program copy or wait, and what they are called: loops whose rounds are worth
// recording and going through.
#pragma once

#include "core/ir/program.h"

#include <string>
#include <vector>

namespace pallascope::ir {

struct LoopFacts
{
    const Operation* operation = nullptr; // a scan or a while
    // The name of the author's function that is its body; otherwise "loop at line 57", or "loop".
    std::string name;
    // The line of the kernel's own file where it is: if a function of another file makes the loop,
    // the line that calls it.
    LocationId location = {};
    int parent = -1; // the innermost of these loops around it, by its place in the list; -1: none
};

// The loops whose body copies by manual DMA, waits, or holds such a loop or a pipeline; in program
// order.
[[nodiscard]] std::vector<LoopFacts> loopsThatCopy(const Program& program);

} // namespace pallascope::ir
