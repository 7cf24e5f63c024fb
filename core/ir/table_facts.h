// Which tables in SMEM say what is copied: a number that a kernel loads from such a table chooses a
// part of an array, in an index map or in manual DMA.
#pragma once

#include "core/ir/program.h"

#include <string>
#include <vector>

namespace pallascope::ir {

struct TableFacts
{
    ValueId table;          // a ref in SMEM
    std::string array;      // the name of the array, or of the block spec that cuts it
    std::size_t axis = 0;   // of the array
    Extent unit = 1;        // elements along that axis for which a number stands
    bool isWritten = false; // whether operations of the program store into the table
};

// One for each table, with the array to which its numbers lead first, in program order. A number
// counts only if it is used as it was loaded.
[[nodiscard]] std::vector<TableFacts> tablesOf(const Program& program);

} // namespace pallascope::ir
