// Numbers as text for people. Reports, captions, axes and tooltips all use these rules
// (docs/glossary.md).
#pragma once

#include "core/base/units.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pallascope {

// ns below 0.1 µs; µs with 2 decimals below 10 and with 1 below 1000; then ms and s with 2: "43
// ns", "1.37 µs", "945.1 µs", "2.06 ms".
[[nodiscard]] std::string timeText(Picoseconds time);
// Binary units; exact if whole, otherwise with 3 digits: "512 KiB", "1.81 MiB", "0 B".
[[nodiscard]] std::string bytesText(Bytes bytes);
// A thin space (U+2009) between groups of three digits from 10 000 on: "262 144".
[[nodiscard]] std::string countText(std::int64_t count);
// "1 step", "512 steps": the noun is in its plural unless the count is 1.
[[nodiscard]] std::string counted(std::int64_t count, const std::string& one,
                                  const std::string& many);
// "655 GB/s"; "145.4 TFLOP/s" (GFLOP/s below 0.1 TFLOP/s); "227.6"
[[nodiscard]] std::string bandwidthText(double bytesPerSecond);
[[nodiscard]] std::string flopRateText(double flopsPerSecond);
[[nodiscard]] std::string intensityText(double flopsPerByte);
// "61 %", "73.8 %". A share below 1 never prints as "100 %".
[[nodiscard]] std::string percentText(double share, int decimals);
// At most the first four numbers: "[3,1,1]", "[0,1,2,3,…]".
[[nodiscard]] std::string listText(std::span<const std::int32_t> numbers);
// "a", "a or b", "a, b or c"
[[nodiscard]] std::string orList(const std::vector<std::string>& words);
// With this many significant digits and without an exponent: 1.60, 14.7, 945.
[[nodiscard]] std::string significant(double value, int digits);

} // namespace pallascope
