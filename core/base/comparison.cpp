#include "core/base/comparison.h"

#include "core/base/check.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pallascope {

namespace {

// The longer ones come first, since the shorter ones are their beginnings.
constexpr std::array<std::pair<std::string_view, Comparator>, 6> kComparators{{
    {">=", Comparator::GreaterOrEqual},
    {"<=", Comparator::LessOrEqual},
    {"!=", Comparator::NotEqual},
    {">", Comparator::Greater},
    {"<", Comparator::Less},
    {"=", Comparator::Equal},
}};

constexpr const char* kComparatorLetters = "<>=!";

std::string withoutSpaces(const std::string& text)
{
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? ""
                                      : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

} // namespace

std::string_view comparatorText(Comparator comparator)
{
    return std::find_if(kComparators.begin(), kComparators.end(),
                        [&](const auto& entry) { return entry.second == comparator; })
        ->first;
}

bool compared(double a, Comparator comparator, double b)
{
    switch (comparator) {
    case Comparator::Greater:
        return a > b;
    case Comparator::GreaterOrEqual:
        return a >= b;
    case Comparator::Less:
        return a < b;
    case Comparator::LessOrEqual:
        return a <= b;
    case Comparator::Equal:
        return a == b;
    case Comparator::NotEqual:
        return a != b;
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

std::optional<ParsedComparison> parseComparison(const std::string& text)
{
    const std::size_t at = text.find_first_of(kComparatorLetters);
    const auto found =
        std::find_if(kComparators.begin(), kComparators.end(), [&](const auto& entry) {
            return at != std::string::npos
                   && text.compare(at, entry.first.size(), entry.first) == 0;
        });
    if (found == kComparators.end()) {
        return std::nullopt;
    }
    ParsedComparison comparison{withoutSpaces(text.substr(0, at)), found->second,
                                withoutSpaces(text.substr(at + found->first.size()))};
    return comparison.left.empty() || comparison.right.empty()
                   || comparison.right.find_first_of(kComparatorLetters) != std::string::npos
               ? std::nullopt
               : std::optional(std::move(comparison));
}

} // namespace pallascope
