// Finds the things of a run that words name. It is pure and without Qt.
#pragma once

#include "views/layout/run/run_view.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::navigation {

struct Found
{
    std::string name; // "step 304 (4,6,0)", "x(0,3)", "line 42: acc[...] += dot(x, y)"
    layout::Target target;
    bool operator==(const Found&) const = default;
};

// At most `most` things, in this order: the step of a number ("304", "step 304", "step 2 of mix"),
// counted in each kernel as the views do, in the kernel of `now` first; a moment of the run
// ("20 us"); the line of a number ("line 14", ":14", "attention.py:14"); the SM of a name ("SM
// 47"); the block of a name with indices ("x(0,3)"), or the first block of every operand in whose
// name the words occur; findings in whose title or sentence they occur; lines of the source in
// which they occur, where those that take time come first. Words are separated by spaces, and all
// of them must occur, in any order; upper and lower case do not differ. No words find nothing.
[[nodiscard]] std::vector<Found> search(const layout::RunView& run, std::string_view words,
                                        std::size_t most, Picoseconds now = {});

} // namespace pallascope::navigation
