// What a stretch of a run's time comes to: how long units and links were busy in it, how many bytes
// of which array moved, and what was waited for.
#pragma once

#include "core/trace/lookup.h"

#include <string>
#include <vector>

namespace pallascope::analysis {

struct StretchTime
{
    std::string name;
    Picoseconds time; // summed over `over`
    // Agents or SMs that have the unit, links of that kind, or agents that may wait.
    std::int64_t over = 1;
    bool operator==(const StretchTime&) const = default;

    // From 0 to 1: what is busy or waits for it, on average over `over`.
    [[nodiscard]] double shareOf(Picoseconds length) const { return ratio(time, length * over); }
};

struct StretchBytes
{
    std::string array;
    // In HBM; of a copy under way, the share that moves in the stretch.
    double read = 0, written = 0;
    // Likewise, of it between other memories, of one device or of two; on a GPU what L2 serves.
    double outsideHbm = 0;
};

struct Stretch
{
    Picoseconds begin, end;
    std::int64_t agents = 1; // over which busy times and waits are summed
    bool hasL2 = false;      // whether copies go through it
    double flops = 0;        // useful ones
    // Those that are busy or waited for in it. Units in the order of the chip, then links by
    // direction; waits by their cause, the longest first.
    std::vector<StretchTime> busy;
    std::vector<StretchBytes> bytes;
    std::vector<StretchTime> waits;
};

// Between two times, of which the earlier one counts as the beginning; both are clamped to the run.
[[nodiscard]] Stretch stretchOf(const trace::Index& index, Picoseconds from, Picoseconds to);

// "busy", "bytes" and "waits", a line each, where there is something to say. The first line has the
// length and the FLOPs.
[[nodiscard]] std::vector<std::string> stretchLines(const Stretch& stretch);
[[nodiscard]] std::string toJson(const Stretch& stretch);

} // namespace pallascope::analysis
