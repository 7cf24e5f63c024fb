// What a run is bound by: the class of work that was busy longest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pallascope::analysis {

enum class BoundKind : std::uint8_t
{
    Compute, // by a unit
    Memory,  // by a link, or the on-chip memory that load and store units use
    StepOverhead,
    Launches,
    Latency // most of the time nothing is busy
};

struct Bound
{
    BoundKind kind = BoundKind::Latency;
    std::string of = {}; // "MXU", "HBM"; of compute and memory only
    bool operator==(const Bound&) const = default;
};

[[nodiscard]] constexpr std::string_view boundKindName(BoundKind kind)
{
    switch (kind) {
    case BoundKind::Compute:
        return "compute";
    case BoundKind::Memory:
        return "memory";
    case BoundKind::StepOverhead:
        return "step_overhead";
    case BoundKind::Launches:
        return "launches";
    case BoundKind::Latency:
        break;
    }
    return "latency";
}

// As in reports: "memory(HBM)", "step_overhead".
[[nodiscard]] inline std::string toString(const Bound& bound)
{
    std::string text(boundKindName(bound.kind));
    if (!bound.of.empty()) {
        text += "(" + bound.of + ")";
    }
    return text;
}

} // namespace pallascope::analysis
