#include "views/navigation/times.h"

#include "core/trace/findings.h"
#include "core/trace/lookup.h"
#include "core/trace/loop_rounds.h"
#include "views/layout/run/finding_text.h"
#include "views/navigation/break_lines.h"

#include <algorithm>
#include <functional>

namespace pallascope::navigation {
namespace {

namespace target = layout::target;
using trace::Trace;

bool isIn(std::int64_t index, std::size_t size)
{
    return index >= 0 && static_cast<std::size_t>(index) < size;
}

std::optional<Picoseconds> at(const std::vector<std::int64_t>& column, std::int64_t row)
{
    return isIn(row, column.size())
               ? std::optional(Picoseconds(column[static_cast<std::size_t>(row)]))
               : std::nullopt;
}

// When the body begins in the first visit after `now` that `wanted` accepts; if there is none after
// `now`, in the first visit that it accepts at all.
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

// The next time after `now` at which one of the operations runs, waits or copies; if there is none,
// the first such time.
std::optional<Picoseconds> nextRun(const Trace& trace, Picoseconds now,
                                   const std::vector<std::int64_t>& operations)
{
    const auto wanted = [&](std::int64_t operation) {
        return std::find(operations.begin(), operations.end(), operation) != operations.end();
    };
    const trace::Info& info = trace.info();
    // whether they hold such an operation; whether its manual DMAs use them
    std::vector<bool> templates, operands;
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
        const auto operation = trace::operationOfWait(trace, trace::WaitRow::at(row));
        return operation && wanted(operation->number);
    });
    const std::optional<std::int64_t> found = next ? next : first;
    return found ? std::optional(Picoseconds(*found)) : std::nullopt;
}

struct TimeOf
{
    const Trace& trace;
    Picoseconds now;
    const trace::Info& info = trace.info();

    using Time = std::optional<Picoseconds>;

    Time operator()(const target::Copy& copy) const { return at(trace.copies().start, copy.row); }

    Time operator()(const target::Steps& steps) const
    {
        return at(trace.steps().begin, steps.first);
    }

    Time operator()(const target::Round& round) const
    {
        return at(trace.rounds().begin, round.row);
    }

    Time operator()(const target::Wait& wait) const { return at(trace.waits().begin, wait.row); }

    Time operator()(const target::Segment& segment) const
    {
        return at(trace.segments().begin, segment.row);
    }

    Time operator()(const target::Operation& of) const
    {
        return of.segment ? at(trace.segments().begin, *of.segment)
                          : nextRun(trace, now, {of.operation});
    }

    Time operator()(const target::Time& time) const { return time.time; }

    Time operator()(const target::Moment& moment) const { return moment.time; }

    Time operator()(const target::Piece& piece) const { return piece.begin; }

    Time operator()(const target::Finding& finding) const
    {
        return finding.index && isIn(*finding.index, info.findings.size())
                   ? Time(timesOf(info.findings[static_cast<std::size_t>(*finding.index)]).back())
                   : std::nullopt;
    }

    Time operator()(const target::Print& print) const
    {
        return isIn(print.index, info.prints.size())
                   ? Time(info.prints[static_cast<std::size_t>(print.index)].time)
                   : std::nullopt;
    }

    // The next copy of a block of manual DMA, or the first one.
    [[nodiscard]] Time nextCopy(const target::Block& block) const
    {
        Time first;
        const trace::Copies& copies = trace.copies();
        for (std::size_t row = 0; row < copies.size(); ++row) {
            if (copies.operand[row] != block.operand || copies.block[row] != block.block) {
                continue;
            }
            if (copies.start[row] > now.value()) {
                return Picoseconds(copies.start[row]);
            }
            first = first ? first : Time(Picoseconds(copies.start[row]));
        }
        return first;
    }

    Time operator()(const target::Block& block) const
    {
        if (isIn(block.operand, info.operands.size())
            && info.operands[static_cast<std::size_t>(block.operand)].pipeline == trace::kNone) {
            return nextCopy(block);
        }
        const auto& visits = trace.visits();
        return nextVisit(trace, now, [&](std::size_t visit) {
            return visits.operand[visit] == block.operand && visits.block[visit] == block.block;
        });
    }

    Time operator()(const target::Buffer& buffer) const
    {
        const auto& visits = trace.visits();
        return nextVisit(trace, now, [&](std::size_t visit) {
            const auto& operand = info.operands[static_cast<std::size_t>(visits.operand[visit])];
            return operand.firstBuffer + visits.slot[visit] == buffer.buffer;
        });
    }

    Time operator()(const target::ListingLine& line) const
    {
        if (!isIn(line.line, info.listing.size())) {
            return std::nullopt;
        }
        const std::int32_t operation = info.listing[static_cast<std::size_t>(line.line)].operation;
        return operation >= 0 ? nextRun(trace, now, {operation}) : std::nullopt;
    }

    Time operator()(const target::SourceLine& line) const
    {
        std::vector<std::int64_t> operations;
        for (std::size_t i = 0; i < info.operations.size(); ++i) {
            const auto& source = info.operations[i].source;
            if (source.file == line.file && source.line == line.line) {
                operations.push_back(static_cast<std::int64_t>(i));
            }
        }
        return nextRun(trace, now, operations);
    }

    // When the first copy of manual DMA from or to something of this name begins.
    [[nodiscard]] Time firstCopyOf(const std::string& name) const
    {
        const auto isIts = [&](const trace::Operand& operand) {
            return operand.pipeline == trace::kNone
                   && (operand.name == name || operand.name.starts_with(name + " → ")
                       || operand.name.ends_with(" → " + name));
        };
        const trace::Copies& copies = trace.copies();
        Time first;
        for (std::size_t row = 0; row < copies.size() && !name.empty(); ++row) {
            const auto operand = static_cast<std::size_t>(copies.operand[row]);
            const Picoseconds start(copies.start[row]);
            if (isIts(info.operands[operand]) && (!first || start < *first)) {
                first = start;
            }
        }
        return first;
    }

    // The only step of a pipeline lasts as long as that and says nothing of the moment.
    [[nodiscard]] bool isWhole(trace::StepRow step) const
    {
        const std::int32_t pipeline = trace.steps().pipeline[step.index()];
        const trace::Pipeline& of = info.pipelines[static_cast<std::size_t>(pipeline)];
        return of.steps <= 1 && of.entries <= 1;
    }

    // Where its line runs: on the agent that the finding is about, if it has a step, else on any.
    [[nodiscard]] Time timeOfLine(const trace::Finding& finding) const
    {
        if (finding.source.line <= 0) {
            return std::nullopt;
        }
        BreakTimes runs = runsOf(trace, finding.source, layout::stepRow(trace, finding.step));
        if (runs.empty()) {
            runs = runsOf(trace, finding.source, {});
        }
        // How an array ends is known at its end: what the line did last counts.
        const bool isOfEnd = trace::findingFromName(finding.kind)
                             == std::optional(trace::FindingKind::UndefinedResult);
        return runs.empty() ? Time() : Time(Picoseconds(isOfEnd ? runs.back() : runs.front()));
    }

    // In the order of time, at least one.
    [[nodiscard]] std::vector<Picoseconds> timesOf(const trace::Finding& finding) const
    {
        std::vector<Picoseconds> times;
        const auto addStep = [&](std::int64_t step) {
            const trace::OptionalRow<trace::StepRow> row = layout::stepRow(trace, step);
            if (row && !isWhole(*row)) {
                times.emplace_back(trace.steps().begin[row->index()]);
            }
        };
        addStep(finding.relatedStep.value_or(-1));
        if (const Time known = finding.time ? finding.time : finding.copyTime) {
            times.push_back(std::min(*known, trace.end()));
        } else {
            addStep(finding.step);
        }
        if (times.empty()) {
            Time time = timeOfLine(finding);
            time = time ? time : firstCopyOf(finding.operand);
            times.push_back(time.value_or(Picoseconds(0)));
        }
        std::sort(times.begin(), times.end());
        times.erase(std::unique(times.begin(), times.end()), times.end());
        return times;
    }

    Time operator()(const std::monostate&) const { return std::nullopt; }

    Time operator()(const target::Alternative&) const { return std::nullopt; }

    Time operator()(const target::Lane&) const { return std::nullopt; }

    Time operator()(const target::Device&) const { return std::nullopt; }

    Time operator()(const target::Sm&) const { return std::nullopt; }

    Time operator()(const target::GridBlock& block) const
    {
        return at(trace.gridBlocks().begin, block.row);
    }

    Time operator()(const target::Semaphore&) const { return std::nullopt; }

    Time operator()(const target::Cached&) const { return std::nullopt; }

    Time operator()(const target::Ceiling&) const { return std::nullopt; }

    Time operator()(const target::SweepRow&) const { return std::nullopt; } // of no run

    Time operator()(const target::Kept&) const { return std::nullopt; } // of another run
};

} // namespace

std::optional<Picoseconds> timeOf(const Trace& trace, const layout::Target& target, Picoseconds now)
{
    return std::visit(TimeOf{trace, now}, target);
}

std::vector<layout::FindingPlace> placesOfFindings(const Trace& trace)
{
    const TimeOf of{trace, Picoseconds(0)};
    std::vector<layout::FindingPlace> places;
    for (std::size_t i = 0; i < trace.info().findings.size(); ++i) {
        for (const Picoseconds time : of.timesOf(trace.info().findings[i])) {
            places.push_back({static_cast<std::int64_t>(i), time});
        }
    }
    return places;
}

layout::TimeRange stepRange(const trace::Index& index, Picoseconds t)
{
    constexpr std::int64_t kMargin = 20; // the margin is a twentieth of the step
    const Trace& trace = index.trace();
    const trace::LeadingSteps& leading = index.leading();
    std::int64_t begin = 0, end = trace.end().value();
    if (leading.size() > 0) {
        const std::size_t row = leading.row(leading.at(t)).index();
        begin = trace.steps().begin[row];
        end = trace.steps().end[row];
    }
    if (leading.size() < 2) {
        if (const auto round = index.rounds().at(trace::kNone, t)) {
            begin = trace.rounds().begin[round->row.index()];
            end = trace.rounds().end[round->row.index()];
        }
    }
    const std::int64_t margin = (end - begin) / kMargin;
    return {std::max(Picoseconds(0), Picoseconds(begin - margin)),
            std::min(trace.end(), Picoseconds(end + margin))};
}

} // namespace pallascope::navigation
