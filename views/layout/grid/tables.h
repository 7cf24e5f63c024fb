// A table in SMEM whose entries choose what is copied, drawn as it lies there: each entry in the
// state of the part of the array to which it leads.
#pragma once

#include "views/layout/grid/picture.h"

#include <cstdint>
#include <vector>

namespace pallascope::layout {

// The tables that lead to the arrays of these pictures, each before the first of them.
[[nodiscard]] std::vector<ArrayPicture> withTables(const GridMoment& moment,
                                                   std::vector<ArrayPicture> pictures);

// The cells of an array, or blocks of the operand of a pipeline, to which an entry leads; none for
// an entry that is undefined or leads out of the array.
[[nodiscard]] std::vector<std::int64_t> cellsOfEntry(const GridMoment& moment,
                                                     const ArrayPicture& table, std::int64_t entry);

// What these do together: of several states the liveliest.
[[nodiscard]] trace::BlockState stateOfEntry(const GridMoment& moment, const ArrayPicture& table,
                                             const std::vector<std::int64_t>& cells);

} // namespace pallascope::layout
