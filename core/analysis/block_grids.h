// What is said about the blocks of kernels for GPUs, as JSON and in words.
#pragma once

#include "core/cost/block_grid.h"

#include <string>

namespace pallascope::analysis {

// A JSON object; `source` is the place of the core_map.
[[nodiscard]] std::string gridJson(const cost::BlockGrid& grid, const std::string& source);

// The same in words, on lines that begin as those of `run` do.
[[nodiscard]] std::string gridText(const cost::BlockGrid& grid);

} // namespace pallascope::analysis
