// What the L2 of a GPU holds of each array, and what of their reads came from there.
#pragma once

#include "views/layout/run/run_view.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::layout {

struct CachedArray
{
    // That walk the array; the first one stands for it.
    std::vector<std::int32_t> operands;
    Bytes held;
};

// The arrays of which the L2 of a device holds something at some time of the run, in an order that
// does not change, with what it holds now. None without an L2, and in traces of older versions.
[[nodiscard]] std::vector<CachedArray> cachedArrays(const RunView& run, std::int32_t device,
                                                    Picoseconds now);

// What of the bytes that kernels have read of these operands came from L2; none where there is no
// L2 or nothing was read.
struct FromL2
{
    Bytes hit, missed;

    [[nodiscard]] double share() const { return ratio(hit, hit + missed); } // 0 to 1
};

[[nodiscard]] std::optional<FromL2>
fromL2(const RunView& run, const std::vector<std::int32_t>& operands, Picoseconds now);

} // namespace pallascope::layout
