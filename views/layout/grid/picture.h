// What the grid view draws of one array of any rank: which of its axes become rows and columns, and
// what each of its cells stands for. An operand of a pipeline is cut into its blocks, an array of
// manual DMA where its copies cut it.
#pragma once

#include "core/trace/manual_arrays.h"
#include "views/layout/grid/parts.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout {

// Only axes with several cells are shown. With one such axis the array is a row that may be broken
// into lines; with more, the last two are rows and columns, and each index of the axes before them
// has a tile of its own.
struct ArrayPicture
{
    std::int32_t operand = 0; // that gives name and colour
    // All operands whose arrays share the picture, the one above first; empty: it is alone.
    std::vector<std::int32_t> sharing;
    const trace::ManualArray* manual = nullptr; // null: the operand of a pipeline
    // A table in SMEM: its cells are its entries, in the state of what they lead to, which lies in
    // the operand's array (`manual`, or the blocks of a pipeline).
    const PageTable* table = nullptr;
    std::string name, shape, axes, note;
    std::int64_t tiles = 1, rows = 1, columns = 1;
    // The number of the first cell. It is not 0 where there are too many tiles: then only those at
    // the current index of the first axes are shown.
    std::int64_t firstCell = 0;
    std::vector<double> weights;        // of columns that differ in size: their shares of the width
    double lastRow = 1, lastColumn = 1; // the share of the last cell that lies inside of the array
    // How large a cell is compared with the smallest one of the arrays beside it, where blocks may
    // overlap.
    double rowScale = 1, columnScale = 1;
    std::vector<std::string> labels; // of columns or, in a tile, of rows; empty: none

    [[nodiscard]] std::int64_t cells() const { return tiles * rows * columns; }

    // Whether it is one row, which may be broken into lines.
    [[nodiscard]] bool isRow() const { return rows == 1; }

    // Px of the marks before the name: one for each array.
    [[nodiscard]] double marks() const
    {
        return 12 + 10 * static_cast<double>(std::max<std::size_t>(sharing.size(), 1) - 1);
    }
};

// The arrays of the pipeline under the playhead, then those that manual DMA copies meanwhile.
[[nodiscard]] std::vector<ArrayPicture> picturesAt(const GridMoment& moment);

// The same, without those of pipelines.
[[nodiscard]] std::vector<ArrayPicture> manualPictures(const GridMoment& moment);

// The same with one picture for all arrays of one index map (Index::alike), in the place of the
// first: "l, m, di"; as many as have room for their names in this width.
[[nodiscard]] std::vector<ArrayPicture>
sharedPictures(const RunView& run, const std::vector<ArrayPicture>& pictures, double width);

// What the blocks of this number of several arrays of one index map do together. They come one
// after the other over a link, so for a moment some may be there and others not: then bytes that
// have arrived, or left, are a share of the bytes of all.
[[nodiscard]] trace::BlockState stateOfAll(const RunView& run,
                                           const std::vector<std::int32_t>& operands,
                                           std::int64_t block, Picoseconds now);

// Whether rows and columns alone do not show all blocks of an operand.
[[nodiscard]] bool hasOuterBlocks(const RunView& run, trace::OperandRow operand);

} // namespace pallascope::layout
