// What bounds a run: the class of work that was busy longest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pallascope::analysis {

enum class BoundKind : std::uint8_t
{
    Compute, // by a unit
    Memory,  // by a link, or by the on-chip memory that load and store units access
    StepOverhead,
    Launches,
    Latency // nothing is busy most of the time
};

struct Bound
{
    BoundKind kind = BoundKind::Latency;
    std::string of = {}; // "MXU", "HBM"; empty unless compute or memory
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

// As reports print it: "memory(HBM)", "step_overhead".
[[nodiscard]] inline std::string toString(const Bound& bound)
{
    std::string text(boundKindName(bound.kind));
    if (!bound.of.empty()) {
        text += "(" + bound.of + ")";
    }
    return text;
}

} // namespace pallascope::analysis
