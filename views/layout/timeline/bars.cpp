// Turns rows of the trace into bars. A binary search finds the first visible row. Each bar then
// takes one step: rows that would share its pixels are jumped over, so the cost depends on the
// number of visible pixels.
#include "core/base/format.h"
#include "core/trace/mark_time.h"
#include "views/layout/run/unit_state.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/timeline/busy.h"
#include "views/layout/timeline/plot.h"
#include "views/layout/timeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pallascope::layout::timeline {

namespace {

std::size_t firstAtLeast(const std::vector<std::int64_t>& column, std::int64_t t)
{
    return static_cast<std::size_t>(std::lower_bound(column.begin(), column.end(), t)
                                    - column.begin());
}

std::size_t firstAfter(const std::vector<std::int64_t>& column, std::int64_t t)
{
    return static_cast<std::size_t>(std::upper_bound(column.begin(), column.end(), t)
                                    - column.begin());
}

// Whether an agent is the only one of its kind on its device and waits for agents of another kind,
// as a TensorCore does while a kernel runs on SparseCores. A better kernel would not save such
// waits.
bool standsBy(const RunView& run, std::size_t wait)
{
    const std::vector<trace::AgentKind>& kinds = run.index->agents().kinds;
    if (kinds.size() < 2 || !waitsForOthers(*run.trace, trace::WaitRow::at(wait))) {
        return false;
    }
    const std::int32_t agent = run.trace->waits().agent[wait];
    return std::any_of(kinds.begin(), kinds.end(), [&](const trace::AgentKind& kind) {
        return kind.agents.size() == static_cast<std::size_t>(run.trace->info().deviceCount())
               && std::binary_search(kind.agents.begin(), kind.agents.end(), agent);
    });
}

std::vector<std::string> waitLabels(const RunView& run, std::size_t wait)
{
    const trace::Waits& waits = run.trace->waits();
    const auto row = trace::WaitRow::at(wait);
    const std::string time = timeText(Picoseconds(waits.end[wait] - waits.begin[wait]));
    std::string name = trace::awaitedLabel(*run.trace, row);
    if (name.empty() && run.index->agents().size() > 1 && waitsForOthers(*run.trace, row)) {
        name = "the others";
    }
    return name.empty()
               ? std::vector{time}
               : std::vector{"for " + name + " " + time, name + " " + time, "for " + name, name};
}

// The rows of Segments of one agent, with the commands that it gives to its units. In a run of one
// agent these are all rows.
class SegmentRows
{
public:
    SegmentRows(const RunView& run, trace::OptionalRow<trace::AgentRow> agent)
        : m_segments(run.trace->segments())
        , m_owner(run.index->agents().ownerOf)
        , m_agent(agent)
        , m_longest(agent ? longestSegment(run.trace->info()) : 0)
    {}

    [[nodiscard]] bool has(std::size_t row) const
    {
        return !m_agent
               || m_owner[static_cast<std::size_t>(m_segments.agent[row])] == m_agent->number;
    }

    // The first row that may last beyond t.
    [[nodiscard]] std::size_t first(std::int64_t t) const
    {
        if (m_agent) {
            return firstAfter(m_segments.begin, t - m_longest);
        }
        const std::size_t row = firstAfter(m_segments.begin, t);
        return row - (row > 0 ? 1 : 0);
    }

    // The first row after `row` that begins at t or lasts beyond it. Rows jumped over are thinner
    // than a pixel.
    [[nodiscard]] std::size_t next(std::size_t row, std::int64_t t) const
    {
        std::size_t next = firstAtLeast(m_segments.begin, t);
        while (next > row + 1 && !has(next - 1)) {
            --next;
        }
        return std::max(row + 1, next - std::min<std::size_t>(next, 1));
    }

private:
    const trace::Segments& m_segments;
    const std::vector<std::int32_t>& m_owner;
    trace::OptionalRow<trace::AgentRow> m_agent;
    std::int64_t m_longest; // the longest segment, if there are several agents
};

// The marks in one template of a unit, or of kAllButMatrix, in order of time.
std::vector<trace::Mark> marksOf(const trace::SegmentTemplate& segment, const trace::Info& info,
                                 std::int32_t unit)
{
    std::vector<trace::Mark> marks;
    std::copy_if(segment.marks.begin(), segment.marks.end(), std::back_inserter(marks),
                 [&](const trace::Mark& mark) { return isBusyMark(info, mark, unit); });
    std::sort(marks.begin(), marks.end(),
              [](const trace::Mark& a, const trace::Mark& b) { return a.offset < b.offset; });
    return marks;
}

std::vector<std::string> operationLabels(const trace::Info& info, trace::SegmentKind kind,
                                         std::int32_t operation, Picoseconds time)
{
    const std::string duration = timeText(time);
    if (operation < 0) {
        return {(kind == trace::SegmentKind::Launch ? "launch " : "overhead ") + duration, duration,
                duration.substr(0, duration.find(' '))};
    }
    const std::string& label = info.operations[static_cast<std::size_t>(operation)].label;
    return {label + " " + duration, label};
}

// The consecutive marks that one bar stands for: marks of one operation or, at Level::Steps, all
// marks without a pixel between them.
struct MarkRun
{
    std::size_t first = 0, last = 0; // marks [first, last)
    std::int32_t operation = -1;     // whose mark is the longest
    std::int32_t unit = -1;          // of that mark
    bool mixed = false;
};

class MarkRuns
{
public:
    MarkRuns(const std::vector<trace::Mark>& marks, const trace::SegmentTemplate& segment,
             double pxPerPs, Level level)
        : m_marks(marks)
        , m_segment(segment)
        , m_pxPerPs(pxPerPs)
        , m_level(level)
    {}

    [[nodiscard]] std::int64_t begin(std::size_t mark) const
    {
        return trace::markTime(m_segment, m_marks[mark].offset);
    }

    [[nodiscard]] std::int64_t end(std::size_t mark) const
    {
        return trace::markTime(m_segment, m_marks[mark].offset + m_marks[mark].length);
    }

    [[nodiscard]] std::optional<MarkRun> next(std::size_t first) const
    {
        if (first >= m_marks.size()) {
            return std::nullopt;
        }
        MarkRun run = {first, first + 1, m_marks[first].operation, m_marks[first].unit, false};
        Cycles longest = m_marks[first].length;
        while (run.last < m_marks.size() && joins(run, run.last)) {
            const trace::Mark& mark = m_marks[run.last];
            run.mixed = run.mixed || mark.operation != m_marks[first].operation;
            if (mark.length > longest) {
                longest = mark.length;
                run.operation = mark.operation;
                run.unit = mark.unit;
            }
            ++run.last;
        }
        return run;
    }

private:
    [[nodiscard]] bool joins(const MarkRun& run, std::size_t mark) const
    {
        const auto px = [this](std::int64_t ps) { return static_cast<double>(ps) * m_pxPerPs; };
        const double gap = px(begin(mark) - end(run.last - 1));
        if (gap >= 1) {
            return false;
        }
        if (m_level != Level::Operations || m_marks[mark].operation == run.operation) {
            return true;
        }
        // Operations too thin to be told apart share a bar.
        return px(end(run.last - 1) - begin(run.first)) < 2 || px(end(mark) - begin(mark)) < 1;
    }

    const std::vector<trace::Mark>& m_marks;
    const trace::SegmentTemplate& m_segment;
    double m_pxPerPs;
    Level m_level;
};

// The bars of a unit, or of kAllButMatrix.
std::vector<Bar> barsOf(const RunView& run, std::int32_t unit, const TimeAxis& axis, Level level,
                        trace::OptionalRow<trace::AgentRow> agent)
{
    const trace::Info& info = run.trace->info();
    const trace::Segments& segments = run.trace->segments();
    const Plot plot(axis);
    const double pxPerPs = axis.width / static_cast<double>(plot.end - plot.begin);
    std::vector<std::optional<std::vector<trace::Mark>>> marksOfTemplate(info.templates.size());
    std::vector<Bar> bars;
    const SegmentRows rows(run, agent);
    std::size_t row = rows.first(plot.begin);
    while (row < segments.size() && segments.begin[row] < plot.end) {
        if (!rows.has(row)) {
            ++row;
            continue;
        }
        const auto id = static_cast<std::size_t>(segments.templateId[row]);
        const trace::SegmentTemplate& segment = info.templates[id];
        if (!marksOfTemplate[id]) {
            marksOfTemplate[id] = marksOf(segment, info, unit);
        }
        const std::int64_t start = segments.begin[row];
        const bool thin = plot.x(start) == plot.x(start + segment.duration.value());
        bool full = false;
        const MarkRuns marks(*marksOfTemplate[id], segment, pxPerPs, level);
        for (auto one = marks.next(0); one; one = marks.next(one->last)) {
            Bar bar;
            bar.begin = start + marks.begin(one->first);
            bar.end = start + marks.end(one->last - 1);
            if (bar.end <= plot.begin || bar.begin >= plot.end) {
                continue;
            }
            const bool single = !one->mixed && one->operation >= 0;
            bar.target =
                partOfSegment(static_cast<std::int64_t>(row),
                              single ? trace::OperationRow::of(one->operation) : std::nullopt);
            bar.color = parts::unitRole(info.units[static_cast<std::size_t>(one->unit)].kind);
            bar.count = static_cast<std::int64_t>(one->last - one->first);
            const auto duration = Picoseconds(bar.end - bar.begin);
            full = !append(bars, plot, std::move(bar));
            if (!full && isLabelled(bars.back(), level)) {
                bars.back().labels = operationLabels(info, segment.kind, one->operation, duration);
            }
        }
        row = thin && full ? rows.next(row, plot.timeAt(bars.back().x1)) : row + 1;
    }
    return bars;
}

} // namespace

std::vector<Bar> unitBars(const RunView& run, trace::UnitRow unit, const TimeAxis& axis,
                          Level level, trace::OptionalRow<trace::AgentRow> agent)
{
    return barsOf(run, unit.number, axis, level, agent);
}

std::vector<Bar> agentBars(const RunView& run, trace::AgentRow agent, const TimeAxis& axis,
                           Level level)
{
    return barsOf(run, kAllButMatrix, axis, level, agent);
}

std::vector<Bar> waitBars(const RunView& run, const TimeAxis& axis,
                          trace::OptionalRow<trace::AgentRow> agent)
{
    const trace::Waits& waits = run.trace->waits();
    const bool all = !agent; // only the ends of all waits together ascend
    const Plot plot(axis);
    std::vector<Bar> bars;
    for (std::size_t row = all ? firstAfter(waits.end, plot.begin) : 0;
         row < waits.size() && waits.begin[row] < plot.end;) {
        if (waits.begin[row] == waits.end[row]
            || (!all && (waits.agent[row] != agent->number || waits.end[row] <= plot.begin))) {
            ++row;
            continue;
        }
        Bar bar;
        bar.begin = waits.begin[row];
        bar.end = waits.end[row];
        bar.target = target::Wait{static_cast<std::int64_t>(row)};
        bar.color = standsBy(run, row) ? Role::Edge : Role::Wait;
        if (!append(bars, plot, std::move(bar))) {
            row = all ? std::max(row + 1, firstAfter(waits.end, plot.timeAt(bars.back().x1) - 1))
                      : row + 1;
            continue;
        }
        if (bars.back().x1 - bars.back().x0 >= kLeastLabelled) {
            bars.back().labels = waitLabels(run, row);
        }
        ++row;
    }
    return bars;
}

std::vector<Fold> folds(const RunView& run, const TimeAxis& axis, std::int64_t stepsPerBar)
{
    constexpr double kLeastFold = 2; // px with the gap, for steps that are shorter than the mean
    const trace::Steps& steps = run.trace->steps();
    const Plot plot(axis);
    const auto count = static_cast<std::int64_t>(steps.size());
    std::vector<Fold> folds;
    const trace::OptionalRow<trace::StepRow> at = trace::stepAt(*run.trace, axis.range.begin);
    const std::int64_t first = at ? at->number / stepsPerBar * stepsPerBar : 0;
    // The first bar begins with the run and the last one ends with it, so nothing of the run is
    // left out.
    const auto beginOf = [&](std::int64_t step) {
        return step == 0       ? 0
               : step >= count ? run.trace->end().value()
                               : steps.begin[static_cast<std::size_t>(step)];
    };
    for (std::int64_t step = first; step == 0 || step < count;) {
        const std::int64_t begin = beginOf(step);
        if (begin >= plot.end) {
            break;
        }
        std::int64_t next = std::min(std::max<std::int64_t>(1, count), step + stepsPerBar);
        if (next < count && plot.x(beginOf(next)) - plot.x(begin) < kLeastFold) {
            const Picoseconds wide = axis.toTime(plot.x(begin) + kLeastFold);
            const std::int64_t reached =
                std::max<std::int64_t>(next, trace::stepAt(*run.trace, wide)->number);
            next = std::min(count, (reached + stepsPerBar - 1) / stepsPerBar * stepsPerBar);
        }
        folds.push_back(
            {plot.x(begin), plot.x(beginOf(next)), begin, beginOf(next), step, next - 1});
        step = next;
    }
    return folds;
}

} // namespace pallascope::layout::timeline
