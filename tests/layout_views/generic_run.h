// Runs of kernels that are no matmul: any grid, any operands, any rank. The double-buffered
// schedule by plain arithmetic, with one operation per body.
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
    std::vector<std::int32_t> gridAxes; // per array axis; -1: the whole axis in one block
    DType dtype = DType::F32;
};

struct GenericKernel
{
    std::vector<Extent> grid;
    std::vector<GenericOperand> operands;
    std::vector<std::pair<std::string, std::int64_t>> scratch; // name, bytes
    std::int64_t bodyCycles = 1500;
    bool sources = true;
};

[[nodiscard]] trace::TraceBuilder genericBuilder(const GenericKernel& kernel);
[[nodiscard]] layout::RunView genericRun(const GenericKernel& kernel);
// A RunView with the report's figures that the layouts read, around any trace.
[[nodiscard]] layout::RunView viewOf(trace::TraceBuilder builder);

// x + y of vectors in 8 blocks, the last one overhanging.
[[nodiscard]] GenericKernel vectorSum();
// The same without a grid: one step.
[[nodiscard]] GenericKernel gridless();
// Two arrays of rank 4 and their elementwise product, blocks over all axes.
[[nodiscard]] GenericKernel rankFour();
// Five inputs of different ranks, one output, and a scratch buffer.
[[nodiscard]] GenericKernel sixOperands();
// x(i,k), y(k,j) -> out(i,j) with `blocks` blocks along i and j, `depth` along k.
[[nodiscard]] GenericKernel product(Extent blocks, Extent depth);

} // namespace pallascope::test
