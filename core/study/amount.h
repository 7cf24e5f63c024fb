// Amounts of fields of a report, whose units follow from their names (docs/report_format.md).
#pragma once

#include "core/base/comparison.h"

#include <optional>
#include <string>
#include <string_view>

namespace pallascope::study {

struct Amount
{
    double value = 0;    // in the unit of the field: seconds, bytes, FLOP/s, ...
    std::string unit;    // that it was given in; empty: the field's
    double unitSize = 1; // of that unit
};

// A number, with a unit if the field is a time or counts bytes: "0.00007", "70us" or "70 us",
// "16777216" or "16MiB". nullopt for anything else.
[[nodiscard]] std::optional<Amount> parseAmount(std::string_view text, std::string_view field);

// A correct value for a field that takes units, and these: "70us, with a unit or without: ps, ns,
// us, ms or s". Empty for other fields.
[[nodiscard]] std::string exampleAmount(std::string_view field);

// Whether a share of one in the other means something.
[[nodiscard]] bool haveOneUnit(std::string_view a, std::string_view b);

// For people: "84.2 µs", "12 MiB", "813.2 TFLOP/s", "240.5 FLOP/B", "72.1 %", "64", "1.87".
[[nodiscard]] std::string amountText(std::string_view field, double value);

// Whole numbers in full. Of others as many digits as it takes to see how they compare with the
// bound, but at least `digits`.
[[nodiscard]] std::string comparedText(double number, Comparator comparator, double bound,
                                       int digits);

} // namespace pallascope::study
