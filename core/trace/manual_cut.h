// Which parts of which arrays manual DMA copies, and where its copies cut an array into cells.
#pragma once

#include "core/trace/lookup.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::trace {

using ManualBox = std::vector<AxisRange>; // for each axis of an array

// The end of a copy that lies in an array.
struct ManualEnd
{
    std::uint32_t copy = 0; // row of Copies
    bool writes = false;
    ManualBox box;
    std::int64_t bytes = 0; // of the box that the copy moves
};

// All ends in one array, in the order of their copies.
struct ManualEnds
{
    std::string name;
    std::int32_t operand = 0; // the first that names the array
    std::int32_t array = 0;   // its number in Arrays
    bool isAround = false;    // whether operations around kernels copy it
    std::vector<Extent> shape;
    std::vector<ManualEnd> ends;
};

// Those on a device of the copies `rows`, which are manual DMA. In traces that do not say where
// copies begin and end, they go over whole blocks of one array.
[[nodiscard]] std::vector<ManualEnds> manualEndsOf(const Trace& trace, const Arrays& arrays,
                                                   const std::vector<std::uint32_t>& rows,
                                                   std::int32_t device);

// Where cells begin along each axis, from 0 on, and the extent behind them. Cells are equally large
// where all copies begin at multiples of their smallest size, otherwise they begin and end where
// copies do. Some thousand cells at most: if copies cut the array finer, cells are as large as its
// largest copies.
[[nodiscard]] std::vector<std::vector<Extent>> cutOf(const std::vector<Extent>& shape,
                                                     const std::vector<ManualEnd>& ends);

[[nodiscard]] bool isEvenCut(const std::vector<Extent>& edges);

} // namespace pallascope::trace
