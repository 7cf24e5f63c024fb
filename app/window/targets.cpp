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

// The next time behind `now` at which one of the operations runs, waits or copies, else the first.
std::optional<Picoseconds> nextRun(const Trace& trace, Picoseconds now,
                                   const std::vector<std::int64_t>& operations)
{
    const auto wanted = [&](std::int64_t operation) {
        return std::find(operations.begin(), operations.end(), operation) != operations.end();
    };
    const trace::Info& info = trace.info();
    std::vector<bool> templates, operands; // with such an operation; that it copies
    for (const trace::SegmentTemplate& segment : info.templates) {
        templates.push_back(
            std::any_of(segment.operations.begin(), segment.operations.end(), wanted));
    }
    for (const trace::Operand& operand : info.operands) {
        operands.push_back(
            operand.pipeline == trace::kNone
            && std::any_of(operations.begin(), operations.end(), [&](std::int64_t operation) {
                   const auto& of = info.operations[static_cast<std::size_t>(operation)];
                   return of.name == "dma_start" && of.source == operand.source;
               }));
    }
    std::optional<std::int64_t> first, next;
    const auto look = [&](const std::vector<std::int64_t>& times, const auto& isWanted) {
        for (std::size_t row = 0; row < times.size(); ++row) {
            if (isWanted(row)) {
                std::optional<std::int64_t>& least = times[row] > now.value() ? next : first;
                least = std::min(least.value_or(times[row]), times[row]);
            }
        }
    };
    const auto entry = [](const std::vector<bool>& list, std::int32_t index) {
        return list[static_cast<std::size_t>(index)];
    };
    look(trace.segments().begin,
         [&](std::size_t row) { return entry(templates, trace.segments().templateId[row]); });
    look(trace.copies().issue,
         [&](std::size_t row) { return entry(operands, trace.copies().operand[row]); });
    look(trace.waits().begin, [&](std::size_t row) {
        return wanted(trace::operationOfWait(trace, static_cast<std::int32_t>(row)));
    });
    const std::optional<std::int64_t> found = next ? next : first;
    return found ? std::optional(Picoseconds(*found)) : std::nullopt;
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
                             : nextRun(trace, now, {target.a});
    case TargetKind::Time:
        return Picoseconds(target.a);
    case TargetKind::Moment:
        return Picoseconds(target.b);
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
                   ? nextRun(trace, now, {info.listing[line].operation})
                   : std::nullopt;
    }
    case TargetKind::SourceLine: {
        std::vector<std::int64_t> operations;
        for (std::size_t i = 0; i < info.operations.size(); ++i) {
            const auto& source = info.operations[i].source;
            if (source.file == target.a && source.line == target.b) {
                operations.push_back(static_cast<std::int64_t>(i));
            }
        }
        return nextRun(trace, now, operations);
    }
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
