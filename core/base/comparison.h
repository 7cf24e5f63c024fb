// Comparisons of numbers as people write them: "vmem>90%", "count[0]>=3". For conditions on a
// report and for breakpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pallascope {

enum class Comparator : std::uint8_t
{
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Equal,
    NotEqual
};

// ">="
[[nodiscard]] std::string_view comparatorText(Comparator comparator);

[[nodiscard]] bool compared(double a, Comparator comparator, double b);

// Both sides as they were written.
struct ParsedComparison
{
    std::string left;
    Comparator comparator = Comparator::Equal;
    std::string right;
};

// LEFT OPERATOR RIGHT with one of > >= < <= = !=; spaces are allowed around both sides. Nullopt for
// any other text.
[[nodiscard]] std::optional<ParsedComparison> parseComparison(const std::string& text);

} // namespace pallascope
