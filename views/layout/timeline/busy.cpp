#include "views/layout/timeline/busy.h"

#include "core/trace/columns.h"
#include "core/trace/mark_time.h"

#include <algorithm>

namespace pallascope::layout::timeline {

bool isBusyMark(const trace::Info& info, const trace::Mark& mark, std::int32_t unit)
{
    const bool isOf = unit == kAllButMatrix
                          ? info.units[trace::at(mark.unit)].kind != UnitKind::Matrix
                          : mark.unit == unit;
    return isOf && mark.length.value() > 0;
}

Busy busyIn(const trace::Info& info, const trace::SegmentTemplate& segment, std::int32_t unit)
{
    Busy busy;
    for (const trace::Mark& mark : segment.marks) {
        if (isBusyMark(info, mark, unit)) {
            busy.times.emplace_back(trace::markTime(segment, mark.offset),
                                    trace::markTime(segment, mark.offset + mark.length));
        }
    }
    std::sort(busy.times.begin(), busy.times.end());
    std::size_t last = 0;
    for (std::size_t i = 1; i < busy.times.size(); ++i) {
        if (busy.times[i].first <= busy.times[last].second) {
            busy.times[last].second = std::max(busy.times[last].second, busy.times[i].second);
        } else {
            busy.times[++last] = busy.times[i];
        }
    }
    busy.times.resize(std::min(busy.times.size(), last + 1));
    for (const auto& [since, until] : busy.times) {
        busy.sum += until - since;
    }
    return busy;
}

const Busy& BusyTimes::of(std::int32_t templateId)
{
    std::optional<Busy>& busy = m_known[trace::at(templateId)];
    if (!busy) {
        busy = busyIn(m_info, m_info.templates[trace::at(templateId)], m_unit);
    }
    return *busy;
}

} // namespace pallascope::layout::timeline
