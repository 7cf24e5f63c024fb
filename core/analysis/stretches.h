// What segments lose beyond the work of the unit whose peak is the roof.
#pragma once

#include "core/analysis/report.h"

#include <cstdint>
#include <map>
#include <optional>

namespace pallascope::analysis {

struct Stretches
{
    double useful = 0, executed = 0;       // FLOPs on that unit
    double busy = 0;                       // in s, summed over all agents
    double chains = 0, masks = 0;          // in s
    std::map<std::int32_t, double> others; // in s, keyed by row of Info::units
};

class StretchAdder
{
public:
    // `roof` is a row of Info::units; if there is none, all work is other units'.
    StretchAdder(const trace::Info& info, const chip::Chip& chip, std::optional<std::int32_t> roof)
        : m_info(info)
        , m_chip(chip)
        , m_roof(roof)
    {}

    // Adds this many instances of a segment.
    void add(const trace::SegmentTemplate& segment, std::int64_t instances, Stretches& sums) const;

private:
    [[nodiscard]] bool isOfMask(const trace::Mark& mark) const;
    [[nodiscard]] Cycles together(const std::map<std::int32_t, Cycles>& totals) const;
    [[nodiscard]] std::optional<std::int32_t>
    busiestOther(const std::map<std::int32_t, Cycles>& totals) const;

    const trace::Info& m_info;
    const chip::Chip& m_chip;
    std::optional<std::int32_t> m_roof;
};

} // namespace pallascope::analysis
