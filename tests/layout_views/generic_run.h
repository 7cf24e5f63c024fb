// Runs of kernels other than a matmul, with any grid, any operands and any rank. They follow the
// double-buffered schedule by plain arithmetic, with one operation per body.
#pragma once

#include "views/layout/run/run_view.h"

#include <string>
#include <vector>

namespace pallascope::test {

struct GenericOperand
{
    std::string name;
    trace::Direction direction = trace::Direction::In;
    std::vector<Extent> array, block;
    // For each axis of the array; -1: the whole axis is in one block.
    std::vector<std::int32_t> gridAxes;
    DType dtype = DType::F32;
};

struct GenericKernel
{
    std::vector<Extent> grid;
    std::vector<GenericOperand> operands;
    std::vector<std::pair<std::string, std::int64_t>> scratch; // names and bytes
    std::int64_t bodyCycles = 1500;
    bool sources = true;
};

[[nodiscard]] trace::TraceBuilder genericBuilder(const GenericKernel& kernel);
[[nodiscard]] layout::RunView genericRun(const GenericKernel& kernel);
// A RunView of any trace, with the figures of the report that layouts read.
[[nodiscard]] layout::RunView viewOf(trace::TraceBuilder builder);

// The sum of two vectors in 8 blocks, the last of which overhangs.
[[nodiscard]] GenericKernel vectorSum();
// The same without a grid, so in one step.
[[nodiscard]] GenericKernel gridless();
// Two arrays of rank 4 and their elementwise product, with blocks along all axes.
[[nodiscard]] GenericKernel rankFour();
// Five inputs of different ranks, one output and scratch buffers.
[[nodiscard]] GenericKernel sixOperands();
// x(i,k), y(k,j) -> out(i,j) with `blocks` blocks along i and j, and `depth` blocks along k.
[[nodiscard]] GenericKernel product(Extent blocks, Extent depth);

// Four steps with windows of 6 of the 18 rows, of which neighbours share two; the output has 16
// rows in blocks of 4. All of that `outer` times.
[[nodiscard]] layout::RunView windowsRun(Extent outer);

} // namespace pallascope::test
