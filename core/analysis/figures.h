// The numbers of two runs side by side. What `compare` prints and what the views say of a kept run
// are these.
#pragma once

#include "core/analysis/report.h"

#include <string>
#include <string_view>
#include <vector>

namespace pallascope::analysis {

struct Figure
{
    const char* name; // "exposed copies"
    const char* key;  // its place in the JSON report: "time_split_s.exposed_copies"
    double a = 0, b = 0;
    std::string textA, textB;

    enum class Better
    {
        Less,
        More,
        Neither
    } better = Better::Less;

    bool always = true;     // otherwise it is left out where both are 0
    bool isCounted = false; // a whole number: bytes, or how many

    [[nodiscard]] bool isShown() const { return always || a != 0 || b != 0; }
};

// The first one is the time.
[[nodiscard]] std::vector<Figure> figuresOf(const Report& a, const Report& b);

// From a to b: "-42.1 %", "same", "new" if a is 0, "under 0.1 %".
[[nodiscard]] std::string changeText(const Figure& figure);

// "A is 1.34 times as fast as B, surely: 1.2 to 1.4 times, as ratios of ..." with the names that
// the runs are called by, or that both take equally long; without a full stop. `b` begins a
// sentence where the second run is the faster one.
struct RunNames
{
    std::string_view a = "A", b = "B";
};

[[nodiscard]] std::string fasterText(const Report& a, const Report& b, RunNames names = {});

} // namespace pallascope::analysis
