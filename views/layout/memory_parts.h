// The pieces of the memory view, from top to bottom. Each paints from `y` and returns the y below
// it. Used by memory.cpp alone.
#pragma once

#include "views/layout/canvas.h"
#include "views/layout/run_view.h"

#include <vector>

namespace pallascope::layout {

// The arrays as strips of blocks with the bytes moved so far.
[[nodiscard]] double stripsHeight(const RunView& run, double available);
double paintStrips(Canvas& canvas, const RunView& run, Picoseconds now, double y, double height);

// One link: its rate now against what it achieves and what the datasheet says, and its queue.
inline constexpr double kLinkHeight = 56;
double paintLink(Canvas& canvas, const RunView& run, Picoseconds now, std::int32_t link, double y);

// The units with what they do now.
[[nodiscard]] double unitsHeight(const RunView& run, double width);
void paintUnits(Canvas& canvas, const RunView& run, Picoseconds now, double y);

// A row of the on-chip memory: a buffer, or the merged slots of one operand.
struct SlotRow
{
    std::int32_t firstBuffer = 0, lastBuffer = 0; // indices into Info::buffers, inclusive
    Bytes address, bytes;
    double y = 0, height = 0;

    [[nodiscard]] bool merged() const { return firstBuffer != lastBuffer; }
};

inline constexpr double kLeastSlot = 16; // px; below it a slot loses its texts

// Buffers of a memory at their addresses, heights in proportion to their bytes. Where the smallest
// would get less than kLeastSlot they are raised to it; where all would, the slots of one operand
// merge. `scaled` tells whether every height is in proportion.
struct SlotStack
{
    std::vector<SlotRow> rows;
    bool scaled = true;
    double bottom = 0;
};

[[nodiscard]] SlotStack stackSlots(const trace::Info& info, std::int32_t memory, double y,
                                   double height);

// What a slot does, in words: "arriving 61 %", "ready for step 3".
[[nodiscard]] std::string slotWords(const trace::Trace& trace, std::int32_t buffer,
                                    Picoseconds now);

double paintMemory(Canvas& canvas, const RunView& run, Picoseconds now, std::int32_t memory,
                   double y, double height);

} // namespace pallascope::layout
