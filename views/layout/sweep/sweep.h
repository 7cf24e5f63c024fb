// Draws the predicted times of a sweep: across are the values of one parameter (or the chips, if
// only they vary), up is time on a log axis, and each combination of everything else that varies is
// a series. The window and `pallascope sweep --screenshot` show this picture.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout {

// A parameter, or the chips, with the values that the sweep gives it.
struct SweepAxis
{
    std::string name;
    std::vector<std::string> values;
};

enum class SweepStanding : std::uint8_t
{
    Other,
    Perhaps, // the model cannot tell it from the fastest
    Fastest  // as far as is known: without a band, the model does not say how far it is off
};

// A row of the sweep.
struct SweepPoint
{
    std::int64_t row = 0;        // of its target
    std::vector<std::size_t> at; // of each axis, which of its values
    // Absent if it did not run; then `reason` says why.
    std::optional<Picoseconds> time;
    std::optional<TimeRange> band; // in which the time lies, given the errors of the model
    std::string reason;
    std::string findings; // their kinds; empty if there are none
    SweepStanding standing = SweepStanding::Other;
    std::vector<std::string> more; // lines of its tip
};

struct SweepPicture
{
    std::string title;
    std::vector<SweepAxis> axes; // also those that have one value; the chips are the last one
    std::vector<SweepPoint> points;
};

// The scene without its head, which withHeader() adds. Every mark has the target of its row.
[[nodiscard]] Scene layoutSweep(const SweepPicture& picture, Size size);

// What a tip says about a row; the first line is shown strong.
[[nodiscard]] std::vector<std::string> sweepTip(const SweepPicture& picture, const Target& target);

} // namespace pallascope::layout
