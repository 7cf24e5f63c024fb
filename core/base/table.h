// Tables as text: reads and writes CSV (RFC 4180), and aligns columns for people.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope {

struct CsvRow
{
    std::int64_t line = 0; // the line on which the row begins, from 1
    std::vector<std::string> cells;
    bool operator==(const CsvRow&) const = default;
};

inline constexpr std::size_t kMostCsvRows = 1'000'000;

// The rows of a text. Commas separate cells; a cell may stand in double quotes, inside of which two
// quotes stand for one. Rows end with LF or CRLF. Empty lines and a byte order mark are skipped.
// All rows must have as many cells as the first. An error starts with `name` and the line.
[[nodiscard]] Result<std::vector<CsvRow>> parseCsv(std::string_view text, const std::string& name);

// A cell as CSV has it: quoted where necessary.
[[nodiscard]] std::string csvCell(const std::string& cell);

// Columns are two spaces apart, each as wide as its longest cell; the last one is not padded. There
// must be a first row, and all rows must have as many cells as it.
[[nodiscard]] std::string alignedText(const std::vector<std::vector<std::string>>& rows);

} // namespace pallascope
