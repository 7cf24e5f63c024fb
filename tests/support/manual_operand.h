// An array that manual DMA copies, for tests that make traces by hand.
#pragma once

#include "core/trace/trace.h"

#include <string>

namespace pallascope::test {

// Of one block, and of no pipeline.
[[nodiscard]] inline trace::Operand manualOperand(const std::string& name)
{
    trace::Operand operand;
    operand.name = name;
    operand.array = operand.block = Shape({8, 128});
    operand.blockCounts = {1, 1};
    operand.gridAxes = {trace::kNone, trace::kNone};
    operand.pipeline = trace::kNone;
    operand.slots = 0;
    return operand;
}

} // namespace pallascope::test
