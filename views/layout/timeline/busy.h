// When units are busy in a segment.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace pallascope::layout::timeline {

// Stands, in place of a unit, for all units that are no matrix units.
inline constexpr std::int32_t kAllButMatrix = -1;

// Whether a mark is of the unit, or of these units, and lasts.
[[nodiscard]] bool isBusyMark(const trace::Info& info, const trace::Mark& mark, std::int32_t unit);

// Times in ps from the start of a segment, ascending. Those without a gap between them are joined.
struct Busy
{
    std::vector<std::pair<std::int64_t, std::int64_t>> times;
    std::int64_t sum = 0; // of these times
};

[[nodiscard]] Busy busyIn(const trace::Info& info, const trace::SegmentTemplate& segment,
                          std::int32_t unit);

// The busy times of one unit in the templates of a run, each found when it is asked for.
class BusyTimes
{
public:
    BusyTimes(const trace::Info& info, std::int32_t unit) // `info` outlives it
        : m_info(info)
        , m_unit(unit)
        , m_known(info.templates.size())
    {}

    [[nodiscard]] const Busy& of(std::int32_t templateId);

private:
    const trace::Info& m_info;
    std::int32_t m_unit;
    std::vector<std::optional<Busy>> m_known;
};

} // namespace pallascope::layout::timeline
