// What copies move over HBM's own links and over those between devices: how much of it is padding,
// and how much was moved before.
#pragma once

#include "core/trace/info.h"
#include "core/trace/summary.h"

#include <string>

namespace pallascope::analysis {

struct MovedBytes
{
    // Over HBM's links, which copies between devices do not take.
    double moved = 0, once = 0; // each byte of an array counted once
    double useful = 0;          // the same without the padding of tiles
    // The operand with the most re-fetched bytes, and the one with the most bytes of padding, each
    // with how many others have at least a tenth: "x and 1 other".
    std::string mostAgain, mostPadded;

    double paddingBetweenDevices = 0; // of the bytes that links between devices move; 0 to 1
    std::string mostPaddedBetweenDevices;
};

// All bytes that HBM's links read and write, around kernels too.
[[nodiscard]] Bytes bytesOverHbm(const trace::Summary& sums);

// What fusions read and write over HBM's links counts only without a kernel.
[[nodiscard]] MovedBytes movedBytesOf(const trace::Info& info, const trace::Summary& sums,
                                      bool hasKernel);

} // namespace pallascope::analysis
