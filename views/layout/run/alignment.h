// Two runs of the same steps, or rounds of loops, laid beside one another so that each step begins
// at the same place in both. A place is a time on an axis that both runs share: each step has the
// length of the longer one of the two, and in the shorter run a gap follows it.
#pragma once

#include "core/base/units.h"

#include <cstdint>
#include <vector>

namespace pallascope::layout {

// Of one of the two runs.
struct Alignment
{
    std::vector<std::int64_t> begins; // of its parts, ascending, from 0 on; the last is the end
    std::vector<std::int64_t> places; // where these begin on the shared axis

    // Times beyond the end go on behind it.
    [[nodiscard]] std::int64_t place(std::int64_t time) const;
    // A place within a gap is the last moment of the part before it.
    [[nodiscard]] std::int64_t time(std::int64_t place) const;

    [[nodiscard]] std::size_t partAt(std::int64_t time) const;
    // On the shared axis: how long the gap at the end of a part is.
    [[nodiscard]] std::int64_t gapBehind(std::size_t part) const;
};

struct AlignedPair
{
    Alignment one, other;
};

// Of two runs whose parts begin at these times, as many in both; each run's last one is its end.
[[nodiscard]] AlignedPair align(std::vector<std::int64_t> one, std::vector<std::int64_t> other);

} // namespace pallascope::layout
