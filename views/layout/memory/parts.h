// The pieces of the memory view, from top to bottom. Each is painted from `y` down and returns the
// y below it. Only the sources of the memory view use them.
#pragma once

#include "views/layout/memory/strip_blocks.h"
#include "views/layout/run/copies.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout {

// The height of as many strips as fit in `room` and in two fifths of the view, but at least three.
// More than six stand in two columns.
[[nodiscard]] double stripsHeight(const Strips& strips, Size view, double room);
double paintStrips(Canvas& canvas, const RunView& run, const Strips& strips, Picoseconds now,
                   double y, double height);

// Where nothing ran: the choices nearest to what was asked for that fit, each with its bytes and
// its modelled time, to be clicked.
[[nodiscard]] Scene layoutNearest(const RunView& run, const ViewState& state, Size size);

// Each link: its rate now against what it achieves and what the datasheet says, and its queue. The
// first one is as wide as the view, those behind it stand two in a row if there is room.
[[nodiscard]] double linksHeight(const std::vector<std::int32_t>& links, double width);
double paintLinks(Canvas& canvas, const RunView& run, Picoseconds now,
                  const std::vector<std::int32_t>& links, double y);
// Without its device: "HBM", "ICI x+".
[[nodiscard]] std::string linkName(const trace::Info& info, std::int32_t link);

// The units, and what each of them does now.
[[nodiscard]] double unitsHeight(const RunView& run, double width);
void paintUnits(Canvas& canvas, const RunView& run, Picoseconds now, double y);

// Which agent's memory is shown: that of what is selected, or else on the chosen device that of the
// agent that leads the pipeline under the playhead, or else of the first one whose scratch is
// filled by manual DMA.
[[nodiscard]] std::int32_t shownAgent(const RunView& run, const ViewState& state);

// A place of an on-chip memory: a buffer or, of scratch that manual DMA addresses by its leading
// axis, one index of that axis.
struct Place
{
    std::int32_t buffer = 0; // row of Info::buffers
    // The number in Index::scratch; empty if no copy by manual DMA touches it.
    std::optional<std::size_t> slot;
    Bytes address, bytes;
    // Of a slot of a pipeline: the operand of the agent that is shown.
    std::int32_t operand = trace::kNone;
    std::int32_t agent = trace::kNone; // in whose memory it lies
};

// The places of buffers in the memory of an agent, in the order of their addresses.
[[nodiscard]] std::vector<Place>
placesOf(const RunView& run, const std::vector<std::int32_t>& buffers, std::int32_t agent);

// A row of the on-chip memory: a place, or several beside each other.
struct SlotRow
{
    std::size_t first = 0, last = 0; // places, inclusive
    Bytes address, bytes;
    double y = 0, height = 0;

    [[nodiscard]] bool merged() const { return first != last; }

    [[nodiscard]] std::size_t size() const { return last - first + 1; }
};

inline constexpr double kLeastSlot = 16;     // px; a lower slot loses its texts
inline constexpr double kLeastStripe = 6;    // px; in a lower row nothing can be told apart
inline constexpr double kMemoryHeading = 18; // px

// Places in the order of their addresses, with heights in proportion to their bytes. If the
// smallest would be lower than kLeastSlot, they are raised to it. If there are too many for that,
// the slots of one operand or scratch merge, and then other places stand two in a row. If even
// these rows would be lower than kLeastStripe, only the largest places get rows. `scaled` tells
// whether every height is in proportion.
struct SlotStack
{
    std::vector<Place> places;
    std::vector<SlotRow> rows;
    bool scaled = true;
    std::int64_t hidden = 0; // the number of places without a row
    Bytes hiddenBytes;
    double bottom = 0; // of the last row
};

[[nodiscard]] SlotStack stackSlots(const trace::Info& info, std::vector<Place> places, double y,
                                   double height);

// The height that a memory needs, with its heading, to show this many of its merged slots with
// their texts.
[[nodiscard]] double memoryHeight(const trace::Info& info, const std::vector<Place>& places,
                                  std::size_t slots);

// What happens in a slot of a pipeline, in words: "arriving 61 %", "ready for step 3".
[[nodiscard]] std::string slotWords(const RunView& run, const Place& place, Picoseconds now);

// Such a slot, or scratch that no copy touches. Without `texts` only its fill is painted.
void paintSlot(Canvas& canvas, const RunView& run, const Place& place, Rect rect, Picoseconds now,
               bool texts);

// A slot of scratch that manual DMA fills or empties. Without `texts` only its fill is painted.
void paintScratchSlot(Canvas& canvas, const RunView& run, const Place& place, Rect rect,
                      Picoseconds now, bool texts);
// Right of a slot: the semaphore that guards it, with its count. The width that these take of the
// room beside the addresses, with the gap before them; 0 if no slot has one.
inline constexpr double kGuardGap = 8; // px
[[nodiscard]] double guardWidth(const RunView& run, const std::vector<Place>& places, double room);
void paintGuard(Canvas& canvas, const RunView& run, const Place& place, Rect rect, Picoseconds now);

// The semaphores of an agent that stand beside no slot, as far as the run uses them: what they
// count, and who waits on them.
[[nodiscard]] std::vector<std::int32_t> listedSemaphores(const RunView& run, std::int32_t agent);
[[nodiscard]] double semaphoresHeight(const std::vector<std::int32_t>& semaphores);
double paintSemaphores(Canvas& canvas, const RunView& run, Picoseconds now,
                       const std::vector<std::int32_t>& semaphores, double y);

// The barriers of the block of an agent of a GPU, also those on which nothing ever arrives: for
// each its phases, its arrivals, and the bytes that copies will bring it. Those of one scratch
// share a line.
[[nodiscard]] std::vector<std::int32_t> barriersOf(const RunView& run, std::int32_t agent);
// With a line for each; 0 without any. With less room, the last lines are left out.
[[nodiscard]] double barriersHeight(const RunView& run, const std::vector<std::int32_t>& barriers);
void paintBarriers(Canvas& canvas, const RunView& run, Picoseconds now,
                   const std::vector<std::int32_t>& barriers, double y, double height);

// TMEM as its columns, and what holds them.
inline constexpr double kTensorHeight = 54; // px
void paintTensorMemory(Canvas& canvas, const RunView& run, std::int32_t memory,
                       const std::vector<std::int32_t>& buffers, double y);

// Registers, of a GPU's threads and of the blocks that an SM runs. Nothing where they are not
// known.
inline constexpr double kRegistersLine = 16; // px
void paintRegisters(Canvas& canvas, const RunView& run, const ViewState& state, double y);

// What the L2 of a device holds: a bar with a share for each array. 0 px where that is not known
// or there is no L2.
[[nodiscard]] double cacheHeight(const RunView& run);
void paintCache(Canvas& canvas, const RunView& run, std::int32_t device, Picoseconds now, double y);

// SMEM holds numbers rather than blocks: its buffers stand beside each other, each with its name
// and its size, in as many lines as there is room for.
[[nodiscard]] double scalarsHeight(const RunView& run, const std::vector<std::int32_t>& buffers,
                                   double width);
double paintScalars(Canvas& canvas, const RunView& run, std::int32_t memory,
                    const std::vector<std::int32_t>& buffers, double y, double height);

// Paints the name of a memory, and then as many notes as fit, the most important first. `slots`
// says in how much its bytes lie: "in 6 slots".
void paintMemoryHead(Canvas& canvas, const RunView& run, std::int32_t memory,
                     const std::vector<std::int32_t>& buffers, const std::string& slots,
                     bool scaled, double y);
[[nodiscard]] Role memoryRole(const trace::Memory& memory);

// Whether a memory is HBM, by its number, in which arrays lie that nobody gives back.
[[nodiscard]] inline bool isHbms(const trace::Info& info, std::int32_t memory)
{
    return !info.links.empty() && memory == info.links.front().from;
}

// Paints the heading alone if there is no room for a slot.
double paintMemory(Canvas& canvas, const RunView& run, Picoseconds now, std::int32_t memory,
                   const std::vector<std::int32_t>& buffers, const std::vector<Place>& places,
                   double y, double height);

} // namespace pallascope::layout
