// Which scratch a program reads where: of each product the loads behind its operands.
#pragma once

#include "core/ir/program.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::ir {

struct ScratchRead
{
    ValueId scratch;            // a ref in on-chip memory that is no view
    std::int32_t operation = 0; // Operation::id of the product, or of the load by itself
    bool isProduct = false;
    // The index on the leading axis, if the program says it as a number.
    std::optional<std::int64_t> index;
    bool isWhole = false; // all indices of the leading axis
};

// Of a product, each scratch once for each index. What is loaded goes through conversions,
// elementwise operations and new arrangements; what comes of another product or of a sum is no
// longer what was loaded. Loads are listed by themselves as well.
[[nodiscard]] std::vector<ScratchRead> scratchReadsOf(const Program& program);

} // namespace pallascope::ir
