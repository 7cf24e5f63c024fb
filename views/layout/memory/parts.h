// The pieces of the memory view, from top to bottom. Each is painted from `y` down and returns the
// y below it. Only the sources of the memory view use them.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

#include <vector>

namespace pallascope::layout {

// The arrays as strips of blocks with the bytes moved so far. One strip shows all operands that
// walk the same array in the same way: those of all cores, and the manual DMAs of several lines.
using Strips = std::vector<std::vector<std::int32_t>>; // the operands of each strip, at least one

// The strips of the pipeline under the playhead come first, then those of other pipelines, then
// those of manual DMAs, the largest arrays first.
[[nodiscard]] Strips stripsOf(const RunView& run, Picoseconds now);
// The height of as many strips as fit in `room` and in two fifths of the view, but at least three.
[[nodiscard]] double stripsHeight(const Strips& strips, double view, double room);
double paintStrips(Canvas& canvas, const RunView& run, const Strips& strips, Picoseconds now,
                   double y, double height);

// Where nothing ran: the choices nearest to what was asked for that fit, each with its bytes and
// its modelled time, to be clicked.
[[nodiscard]] Scene layoutNearest(const RunView& run, const ViewState& state, Size size);

// One link: its rate now against what it achieves and what the datasheet says, and its queue.
inline constexpr double kLinkHeight = 56;
double paintLink(Canvas& canvas, const RunView& run, Picoseconds now, std::int32_t link, double y);

// The units, and what each of them does now.
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

inline constexpr double kLeastSlot = 16;     // px; a lower slot loses its texts
inline constexpr double kLeastStripe = 6;    // px; in a lower row nothing can be told apart
inline constexpr double kMemoryHeading = 18; // px

// The buffers of a memory in the order of their addresses, with heights in proportion to their
// bytes. If the smallest buffers would be lower than kLeastSlot, they are raised to it. If there
// are too many for that, the slots of one operand merge. If even the merged rows would be lower
// than kLeastStripe, only the largest buffers get rows. `scaled` tells whether every height is in
// proportion.
struct SlotStack
{
    std::vector<SlotRow> rows;
    bool scaled = true;
    std::int64_t hidden = 0; // the number of buffers without a row
    Bytes hiddenBytes;
    double bottom = 0; // of the last row
};

[[nodiscard]] SlotStack stackSlots(const trace::Info& info,
                                   const std::vector<std::int32_t>& buffers, double y,
                                   double height);

// The height that a memory needs, with its heading, to show this many of its merged slots with
// their texts.
[[nodiscard]] double memoryHeight(const trace::Info& info, const std::vector<std::int32_t>& buffers,
                                  std::size_t slots);

// What happens in a slot, in words: "arriving 61 %", "ready for step 3".
[[nodiscard]] std::string slotWords(const trace::Trace& trace, std::int32_t buffer,
                                    Picoseconds now);

// Paints the heading alone if there is no room for a slot.
double paintMemory(Canvas& canvas, const RunView& run, Picoseconds now, std::int32_t memory,
                   const std::vector<std::int32_t>& buffers, double y, double height);

} // namespace pallascope::layout
