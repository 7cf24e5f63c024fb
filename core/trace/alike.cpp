#include "core/trace/alike.h"

#include "core/trace/columns.h"

#include <algorithm>
#include <utility>

namespace pallascope::trace {

namespace {

using Range = std::pair<std::size_t, std::size_t>; // rows of Visits

std::vector<Range> visitsOf(const Trace& trace)
{
    const std::vector<std::int32_t>& operands = trace.visits().operand; // sorted
    std::vector<Range> ranges;
    auto first = operands.begin();
    for (std::size_t operand = 0; operand < trace.info().operands.size(); ++operand) {
        const auto last =
            std::upper_bound(first, operands.end(), static_cast<std::int32_t>(operand));
        ranges.emplace_back(first - operands.begin(), last - operands.begin());
        first = last;
    }
    return ranges;
}

bool mayBeAlike(const Operand& a, const Operand& b)
{
    const auto isPlain = [](const Operand& one) {
        return one.pipeline >= 0 && one.indirectAxis < 0 && one.elementAxes.empty()
               && one.sliceAxes.empty();
    };
    return isPlain(a) && isPlain(b) && a.pipeline == b.pipeline && a.direction == b.direction
           && a.blockCounts == b.blockCounts && a.gridAxes == b.gridAxes;
}

bool areAlike(const Visits& visits, Range a, Range b)
{
    if (a.second - a.first != b.second - b.first || a.first == a.second) {
        return false;
    }
    const std::size_t count = a.second - a.first;
    const auto same = [&](const auto& column) {
        const auto from = column.begin() + static_cast<std::ptrdiff_t>(a.first);
        return std::equal(from, from + static_cast<std::ptrdiff_t>(count),
                          column.begin() + static_cast<std::ptrdiff_t>(b.first));
    };
    return same(visits.block) && same(visits.firstStep) && same(visits.lastStep);
}

} // namespace

std::vector<std::vector<std::int32_t>> alikeOf(const Trace& trace)
{
    const auto& operands = trace.info().operands;
    const std::vector<Range> ranges = visitsOf(trace);
    std::vector<std::vector<std::int32_t>> alike(operands.size());
    std::vector<bool> isGrouped(operands.size(), false);
    for (std::size_t first = 0; first < operands.size(); ++first) {
        if (isGrouped[first]) {
            continue;
        }
        std::vector<std::int32_t> group{static_cast<std::int32_t>(first)};
        const std::int32_t pipeline = operands[first].pipeline;
        for (std::size_t other = first + 1;
             other < operands.size() && operands[other].pipeline == pipeline; ++other) {
            if (mayBeAlike(operands[first], operands[other])
                && areAlike(trace.visits(), ranges[first], ranges[other])) {
                group.push_back(static_cast<std::int32_t>(other));
                isGrouped[other] = true;
            }
        }
        for (const std::int32_t one : group) {
            alike[at(one)] = group;
        }
    }
    return alike;
}

} // namespace pallascope::trace
