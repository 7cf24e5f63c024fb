#include "app/window/targets.h"

#include "core/trace/lookup.h"

#include <algorithm>
#include <functional>

namespace pallascope::app {
namespace {

using layout::TargetKind;
using trace::Trace;

std::optional<Picoseconds> at(const std::vector<std::int64_t>& column, std::int64_t row)
{
    if (row < 0 || static_cast<std::size_t>(row) >= column.size()) {
        return std::nullopt;
    }
    return Picoseconds(column[static_cast<std::size_t>(row)]);
}

// The body of the first visit behind `now` that `wanted` accepts, else of the first one at all.
std::optional<Picoseconds> nextVisit(const Trace& trace, Picoseconds now,
                                     const std::function<bool(std::size_t)>& wanted)
{
    std::optional<Picoseconds> first;
    for (std::size_t visit = 0; visit < trace.visits().size(); ++visit) {
        const auto use = at(trace.steps().bodyBegin, trace.visits().firstStep[visit]);
        if (!use || !wanted(visit)) {
            continue;
        }
        if (*use > now) {
            return use;
        }
        first = first ? first : use;
    }
    return first;
}

std::optional<Picoseconds> nextSegment(const Trace& trace, Picoseconds now, std::int64_t operation)
{
    const auto runs = [&](std::size_t segment) {
        const auto id = static_cast<std::size_t>(trace.segments().templateId[segment]);
        const auto& operations = trace.info().templates[id].operations;
        return std::find(operations.begin(), operations.end(), operation) != operations.end();
    };
    const auto& begins = trace.segments().begin;
    const auto after = std::upper_bound(begins.begin(), begins.end(), now.value()) - begins.begin();
    for (auto segment = static_cast<std::size_t>(after); segment < begins.size(); ++segment) {
        if (runs(segment)) {
            return Picoseconds(begins[segment]);
        }
    }
    for (std::size_t segment = 0; segment < begins.size(); ++segment) {
        if (runs(segment)) {
            return Picoseconds(begins[segment]);
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<Picoseconds> timeOf(const Trace& trace, const layout::Target& target, Picoseconds now)
{
    const auto& info = trace.info();
    const auto& visits = trace.visits();
    switch (target.kind) {
    case TargetKind::Copy:
        return at(trace.copies().start, target.a);
    case TargetKind::Step:
        return at(trace.steps().begin, target.a);
    case TargetKind::Wait:
        return at(trace.waits().begin, target.a);
    case TargetKind::Segment:
        return at(trace.segments().begin, target.a);
    case TargetKind::Operation:
        return target.b >= 0 ? at(trace.segments().begin, target.b)
                             : nextSegment(trace, now, target.a);
    case TargetKind::Time:
        return Picoseconds(target.a);
    case TargetKind::Finding:
        if (target.a < 0 || static_cast<std::size_t>(target.a) >= info.findings.size()) {
            return std::nullopt;
        }
        return at(trace.steps().begin, info.findings[static_cast<std::size_t>(target.a)].step);
    case TargetKind::Print:
        return target.a >= 0 && static_cast<std::size_t>(target.a) < info.prints.size()
                   ? std::optional(info.prints[static_cast<std::size_t>(target.a)].time)
                   : std::nullopt;
    case TargetKind::Block:
        return nextVisit(trace, now, [&](std::size_t visit) {
            return visits.operand[visit] == target.a && visits.block[visit] == target.b;
        });
    case TargetKind::Buffer:
        return nextVisit(trace, now, [&](std::size_t visit) {
            const auto& operand = info.operands[static_cast<std::size_t>(visits.operand[visit])];
            return operand.firstBuffer + visits.slot[visit] == target.a;
        });
    case TargetKind::ListingLine: {
        const auto line = static_cast<std::size_t>(target.a);
        return line < info.listing.size() && info.listing[line].operation >= 0
                   ? nextSegment(trace, now, info.listing[line].operation)
                   : std::nullopt;
    }
    case TargetKind::SourceLine:
        for (std::size_t i = 0; i < info.operations.size(); ++i) {
            const auto& source = info.operations[i].source;
            if (source.file == target.a && source.line == target.b) {
                return nextSegment(trace, now, static_cast<std::int64_t>(i));
            }
        }
        return std::nullopt;
    case TargetKind::None:
    case TargetKind::Alternative:
    case TargetKind::Lane:
        return std::nullopt;
    }
    return std::nullopt;
}

layout::TimeRange stepRange(const Trace& trace, Picoseconds t)
{
    constexpr std::int64_t kMargin = 20; // a twentieth of the step
    const std::int32_t step = trace::stepAt(trace, t);
    if (step == trace::kNone) {
        return {Picoseconds(0), trace.end()};
    }
    const auto row = static_cast<std::size_t>(step);
    const std::int64_t begin = trace.steps().begin[row];
    const std::int64_t end = trace.steps().end[row];
    const std::int64_t margin = (end - begin) / kMargin;
    return {std::max(Picoseconds(0), Picoseconds(begin - margin)),
            std::min(trace.end(), Picoseconds(end + margin))};
}

} // namespace pallascope::app
