// How far two words are apart, to guess which one was meant.
#pragma once

#include <cstddef>
#include <string>

namespace pallascope::study {

// The fewest insertions, deletions and replacements of bytes that make one text of the other.
[[nodiscard]] std::size_t editDistance(const std::string& a, const std::string& b);

} // namespace pallascope::study
