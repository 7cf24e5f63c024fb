// What segments lose beyond the work of the unit whose peak is the roof.
#pragma once

#include "core/analysis/report.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace pallascope::analysis {

// By how many seconds segments would be shorter if one thing were different. A unit that works
// beside another one saves no more than until the other one is the busiest.
struct SavedSeconds
{
    double padding = 0, rate = 0, masks = 0; // without padding; at the peak; without masks
    std::map<std::int32_t, double> units;    // without what this row of Info::units does

    void add(const SavedSeconds& other, double times);
    // Nothing for losses of which segments do not tell.
    [[nodiscard]] std::optional<double> of(const Loss& loss, const trace::Info& info) const;
};

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
    // `roof` is a row of Info::units; if there is none, all work is other units'. `peak` is that of
    // one such unit, in FLOP/s.
    StretchAdder(const trace::Info& info, const chip::Chip& chip, std::optional<std::int32_t> roof,
                 double peak)
        : m_info(info)
        , m_chip(chip)
        , m_roof(roof)
        , m_peak(peak)
    {}

    // Adds this many instances of a segment.
    void add(const trace::SegmentTemplate& segment, std::int64_t instances, Stretches& sums) const;

    // Of one instance. What its operations wait for one another stays as it is.
    [[nodiscard]] SavedSeconds savedBy(const trace::SegmentTemplate& segment) const;

private:
    using Totals = std::map<std::int32_t, Cycles>;

    [[nodiscard]] std::pair<Totals, Totals> totalsOf(const trace::SegmentTemplate& segment) const;
    [[nodiscard]] Cycles unitsTogether(const trace::SegmentTemplate& segment,
                                       const Totals& totals) const;
    [[nodiscard]] bool isOfMask(const trace::Mark& mark) const;
    [[nodiscard]] Cycles together(const Totals& totals) const;
    [[nodiscard]] std::optional<std::int32_t> busiestOther(const Totals& totals) const;

    const trace::Info& m_info;
    const chip::Chip& m_chip;
    std::optional<std::int32_t> m_roof;
    double m_peak;
};

} // namespace pallascope::analysis
