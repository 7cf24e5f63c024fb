// The arrays that manual DMA reads and writes, cut into cells where its copies cut them, and what
// each cell does at a moment. Built once for each open trace, because a view asks for every cell in
// every frame.
#pragma once

#include "core/trace/lookup.h"
#include "core/trace/scratch_slots.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pallascope::trace {

// A copy that reads or writes a cell, or a part of it.
struct ManualPart
{
    std::uint32_t copy = 0; // row of Copies
    bool writes = false;
};

struct ManualArray
{
    std::string name;
    std::int32_t operand = 0;           // the first that names the array, which has its colour
    std::int32_t array = 0;             // its number in Arrays
    bool isAround = false;              // whether only operations around kernels copy it
    std::vector<std::int32_t> operands; // those whose copies it shows, ascending
    // For each axis where its cells begin, from 0 on, and the extent behind them.
    std::vector<std::vector<Extent>> edges;
    // For each axis whether all of its cells are equally large, but for the last.
    std::vector<bool> isEven;
    std::vector<std::uint32_t> copies; // rows of Copies, ascending
    // The bytes that those before each of them read of the array and write to it; one entry more
    // than copies.
    std::vector<std::int64_t> readBefore, writtenBefore;
    // The parts of cell c are parts[firstPart[c]] to parts[firstPart[c + 1] - 1], by issue.
    std::vector<std::uint32_t> firstPart;
    std::vector<ManualPart> parts;

    [[nodiscard]] std::vector<Extent> counts() const; // of cells along each axis
    [[nodiscard]] std::int64_t cells() const;         // numbered in row-major order
    // The elements [from, to) along an axis.
    [[nodiscard]] AxisRange rangeOf(std::int64_t cell, std::size_t axis) const;
};

class ManualArrays
{
public:
    ManualArrays() = default;
    // Of one device, with its rows of manualRows(); keeps none of the others.
    ManualArrays(const Trace& trace, const Arrays& arrays, const ScratchSlots& scratch,
                 std::int32_t device, std::vector<std::uint32_t> rows);

    // In the order in which operands bring them up.
    [[nodiscard]] const std::vector<ManualArray>& all() const { return m_arrays; }

    // Rows of Copies of all manual DMA that begins or ends on the device, ascending.
    [[nodiscard]] const std::vector<std::uint32_t>& copies() const { return m_rows; }

    // Never, Queued, Arriving, Ready (landed, and not waited for so far), InUse (waited for, and
    // not overwritten in its slot), Leaving or Written; Before after reads that are none of these.
    [[nodiscard]] BlockState stateAt(const Trace& trace, const ManualArray& array,
                                     std::int64_t cell, Picoseconds t) const;
    // The part that decides the state, otherwise the one that comes first. Without parts: none.
    [[nodiscard]] std::optional<ManualPart> decidingAt(const Trace& trace, const ManualArray& array,
                                                       std::int64_t cell, Picoseconds t) const;

    // The bytes read and written by t, linear over each copy.
    struct Moved
    {
        double read = 0, written = 0;
    };

    [[nodiscard]] static Moved movedBy(const Trace& trace, const ManualArray& array, Picoseconds t);

    // The operands over this array and their blocks that copies take from a cell or bring there,
    // each once, at most the first 16; that of `last` comes last. Copies from another array belong
    // to operands over that one.
    [[nodiscard]] std::vector<std::pair<std::int32_t, std::int64_t>>
    blocksOver(const Trace& trace, const Arrays& arrays, const ManualArray& array,
               std::int64_t cell, const std::optional<ManualPart>& last) const;

    // The copies of one block of an operand: rows of Copies in the order of issue.
    [[nodiscard]] std::span<const std::uint32_t> copiesOf(const Trace& trace, OperandRow operand,
                                                          std::int64_t block) const;

    // When the program has waited for a copy by manual DMA, and until when what it brought lies in
    // its slot. Without such times, as in traces that do not say where copies go, what is brought
    // is not known to be anywhere.
    struct Stay
    {
        std::int64_t waited = std::numeric_limits<std::int64_t>::max(), kept = 0; // ps
    };

    [[nodiscard]] Stay stayOf(std::uint32_t copy) const;

private:
    struct Deciding
    {
        std::optional<ManualPart> part;
        bool isMoving = false; // or queued
        std::int64_t landed = 0;
    };

    [[nodiscard]] Deciding deciding(const Trace& trace, const ManualArray& array, std::int64_t cell,
                                    std::int64_t t) const;
    void collectStays(const Trace& trace, const ScratchSlots& scratch);

    std::vector<ManualArray> m_arrays;
    std::vector<std::uint32_t> m_rows;    // of the manual DMA, ascending
    std::vector<Stay> m_stays;            // for each of them
    std::vector<std::uint32_t> m_byBlock; // the same rows by (operand, block, row)
};

// For each device the manual DMA that begins or ends in its memory: rows of Copies, ascending. In
// traces that do not say where copies begin and end, all of it counts as the first device's.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> manualRows(const Trace& trace);

} // namespace pallascope::trace
