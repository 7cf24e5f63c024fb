// The rules of segment templates: what their operations and marks refer to, and that times and
// FLOPs can be counted.
#include "core/trace/validate.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace pallascope::trace {

namespace {

Status checkMarks(const Info& info, const SegmentTemplate& segment, std::size_t i)
{
    std::vector<std::size_t> rows(segment.marks.size());
    for (std::size_t m = 0; m < segment.marks.size(); ++m) {
        const Mark& mark = segment.marks[m];
        rows[m] = m;
        if (!isIndex(mark.unit, info.units) || !isIndexOrNone(mark.operation, info.operations)) {
            return broken("templates[{}].marks[{}] names unit {} of {} and operation {} of {}", i,
                          m, mark.unit, info.units.size(), mark.operation, info.operations.size());
        }
        if (mark.offset < Cycles(0) || mark.length < Cycles(0) || mark.offset > segment.cycles
            || mark.length > segment.cycles - mark.offset) {
            return broken("templates[{}].marks[{}] takes {} cycles from cycle {}, but the segment "
                          "has {}",
                          i, m, mark.length.value(), mark.offset.value(), segment.cycles.value());
        }
    }
    std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
        const Mark &l = segment.marks[a], &r = segment.marks[b];
        return std::tie(l.unit, l.offset, l.length, a) < std::tie(r.unit, r.offset, r.length, b);
    });
    for (std::size_t n = 1; n < rows.size(); ++n) {
        const Mark &before = segment.marks[rows[n - 1]], &mark = segment.marks[rows[n]];
        if (mark.unit == before.unit && mark.offset < before.offset + before.length) {
            return broken("templates[{}].marks[{}] and [{}] overlap on unit {}", i, rows[n - 1],
                          rows[n], info.units[static_cast<std::size_t>(mark.unit)].name);
        }
    }
    return Done{};
}

Status checkFlops(const Info& info, const SegmentTemplate& segment, std::size_t i)
{
    for (const auto* flops : {&segment.flopsByUnit, &segment.executedFlopsByUnit}) {
        if (flops->size() != info.units.size()) {
            return broken("templates[{}] has FLOPs of {} units, but there are {}", i, flops->size(),
                          info.units.size());
        }
        std::int64_t sum = 0;
        for (const Flops value : *flops) {
            if (value < Flops(0) || __builtin_add_overflow(sum, value.value(), &sum)) {
                return broken("templates[{}] has a negative or overflowing number of FLOPs", i);
            }
        }
    }
    if (segment.transcendentals < 0) {
        return broken("templates[{}].transcendentals is {}", i, segment.transcendentals);
    }
    for (const Products& products : segment.products) {
        if (products.passes < 1 || products.flops < Flops(0)) {
            return broken("templates[{}].products has {} passes and {} FLOPs", i, products.passes,
                          products.flops.value());
        }
    }
    return Done{};
}

} // namespace

Status validateTemplate(const Info& info, std::size_t i)
{
    const SegmentTemplate& segment = info.templates[i];
    if (segment.cycles < Cycles(0) || segment.clock <= Hertz(0) || segment.duration < Picoseconds(0)
        || segment.duration > Picoseconds(kMaxTime)) {
        return broken("templates[{}] lasts {} cycles at {} Hz, {} ps; none may be negative", i,
                      segment.cycles.value(), segment.clock.value(), segment.duration.value());
    }
    if (segment.retire.size() != segment.operations.size()) {
        return broken("templates[{}] has {} retire times for {} operations", i,
                      segment.retire.size(), segment.operations.size());
    }
    Cycles previous;
    for (std::size_t n = 0; n < segment.operations.size(); ++n) {
        if (!isIndex(segment.operations[n], info.operations)) {
            return broken("templates[{}].operations[{}] is {}, but there are {} operations", i, n,
                          segment.operations[n], info.operations.size());
        }
        if (segment.retire[n] < previous || segment.retire[n] > segment.cycles) {
            return broken("templates[{}].retire[{}] is cycle {}, but must lie between {} and {}", i,
                          n, segment.retire[n].value(), previous.value(), segment.cycles.value());
        }
        previous = segment.retire[n];
    }
    if (Status status = checkMarks(info, segment, i); !status) {
        return status;
    }
    return checkFlops(info, segment, i);
}

} // namespace pallascope::trace
