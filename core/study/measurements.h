// A table (CSV) of measured times of kernels. docs/validation.md describes its columns.
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
    std::string family;    // rows are summarized by family
    std::string chip;      // a name or a file; if empty, the kernel's own chip
    std::string kernel;    // a built-in kernel, or a file's path as written in the table
    Parameters parameters;
    Seconds measured; // > 0
    Seconds host;     // the part of it that passes outside the device; >= 0 and < measured
    std::string published, source, note;
    bool operator==(const Measurement&) const = default;
};

// "FILE, line 7, column \"measured\"": the start of a sentence about a cell of the table.
[[nodiscard]] std::string cellName(const std::string& file, std::int64_t line,
                                   const std::string& column);

// Reads the rows of such a table. An unknown column, a cell that cannot be read and a table
// without rows are errors. They name `file`, the line, the column, and what is expected.
[[nodiscard]] Result<std::vector<Measurement>> measurementsFrom(const std::string& text,
                                                                const std::string& file);

} // namespace pallascope::study
