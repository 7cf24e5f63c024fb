// Times of kernels that somebody measured, as a table (CSV); docs/validation.md has its columns.
#pragma once

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/study/sweep.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::study {

struct Measurement
{
    std::int64_t line = 0; // of the table, from 1
    std::string family;    // rows are summed up by it
    std::string chip;      // a name or a file; empty: the kernel's own
    std::string kernel;    // built in, or a file's path as the table has it
    Parameters parameters;
    Seconds measured; // > 0
    Seconds host;     // of it, what passes outside the device; >= 0 and < measured
    std::string published, source, note;
    bool operator==(const Measurement&) const = default;
};

// "FILE, line 7, column \"measured\"": how sentences about a cell of the table begin.
[[nodiscard]] std::string cellName(const std::string& file, std::int64_t line,
                                   const std::string& column);

// The rows of such a table. A column that is not known, a cell that is not understood and a table
// without rows are errors that name `file`, the line, the column, and what would be right.
[[nodiscard]] Result<std::vector<Measurement>> measurementsFrom(const std::string& text,
                                                                const std::string& file);

} // namespace pallascope::study
