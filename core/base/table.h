// Tables as text: CSV to read and to write (RFC 4180), and columns aligned for people.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope {

struct CsvRow
{
    std::int64_t line = 0; // in which it begins, from 1
    std::vector<std::string> cells;
    bool operator==(const CsvRow&) const = default;
};

inline constexpr std::size_t kMostCsvRows = 1'000'000;

// The rows of a text: cells between commas, as they are or between double quotes, of which two
// stand for one; rows end with LF or CRLF. Empty lines and a byte order mark are passed over. All
// rows have as many cells as the first. The error starts with `name` and the line.
[[nodiscard]] Result<std::vector<CsvRow>> parseCsv(std::string_view text, const std::string& name);

// A cell as it is written: between quotes where it has to be.
[[nodiscard]] std::string csvCell(const std::string& cell);

// Columns two spaces apart, each as wide as its longest cell; the last one is not padded. Rows have
// as many cells as the first, which must exist.
[[nodiscard]] std::string alignedText(const std::vector<std::vector<std::string>>& rows);

} // namespace pallascope
