// Paints the ruler of time, and the band with the names of the steps.
#include "core/base/format.h"
#include "views/layout/run/break_marks.h"
#include "views/layout/run/finding_marks.h"
#include "views/layout/run/position.h"
#include "views/layout/scene/axis.h"
#include "views/layout/timeline/painter.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout::timeline {

namespace {

// A number of steps: the period, doubled until it is `least` px wide or has all steps.
std::int64_t stepsOf(double least, std::int64_t period, double pxPerStep, std::size_t steps)
{
    std::int64_t every = std::max<std::int64_t>(1, period);
    while (static_cast<double>(every) * pxPerStep < least
           && every < static_cast<std::int64_t>(steps)) {
        every *= 2;
    }
    return every;
}

// A time on the ruler, and from where to where its text goes.
struct TimeLabel
{
    std::string text;
    double x = 0, end = 0; // px
    bool isUnderTag = false;

    [[nodiscard]] bool touches(double from, double to) const
    {
        return x < to + 2 && end > from - 2;
    }
};

} // namespace

void FramePainter::timeRuler()
{
    m_canvas.fill(0, 0, m_size.width, kRuler, Role::Panel);
    m_canvas.fill(0, kRuler - 1, m_size.width, 1, Role::Line);
    m_canvas.text(10, 0, kHead - 20, kRuler - 1, "busy in view",
                  {10, Role::Text3, Weight::Regular, Align::Right});
    m_canvas.hit(m_axis.left, 0, m_axis.width, kRuler, target::Time{});
    const Rect flagged = flag();
    const auto middle = [this](Picoseconds t) {
        const double px = m_axis.toX(t);
        return px >= m_axis.left && px <= right() ? std::optional(px) : std::nullopt;
    };
    std::vector<FindingMark> marks = findingMarks(m_run, middle);
    for (FindingMark& mark : marks) { // beside the time of the playhead, not over it
        const bool covers = mark.left < flagged.right() && flagged.x < mark.left + kFindingMark;
        const double before = flagged.x - kFindingMark - 2;
        mark.left = !covers ? mark.left : before >= m_axis.left ? before : flagged.right() + 2;
    }
    std::vector<BreakMark> breaks =
        breakMarks(m_state, m_axis.range, [this](Picoseconds t) { return m_axis.toX(t); });
    for (BreakMark& tag : breaks) { // beside the mark of a finding, not below it
        for (const FindingMark& mark : marks) {
            const bool covers =
                tag.left < mark.left + kFindingMark && mark.left < tag.left + kBreakWide;
            tag.left = covers ? mark.left + kFindingMark + 1 : tag.left;
        }
    }
    timeLabels(marks, breaks);
    paintBreakMarks(m_canvas, breaks, kRuler - 1 - kBreakHigh, false);
    paintFindingMarks(m_canvas, m_run, marks, (kRuler - 1 - kFindingMark) / 2);
}

void FramePainter::timeLabels(const std::vector<FindingMark>& marks, std::vector<BreakMark>& breaks)
{
    const Rect flagged = flag();
    const TimeTicks ticks = timeTicks(m_axis.range.begin, m_axis.range.end, m_axis.width);
    const std::string unit = " " + ticks.unit; // behind the first of them
    std::vector<TimeLabel> labels;
    for (const Picoseconds t : ticks.at) {
        const double px = std::round(m_axis.toX(t));
        m_canvas.fill(px, kRuler - 6, 1, 6, Role::Edge);
        TimeLabel label{ticks.label(t) + (labels.empty() ? unit : ""), px + 4};
        label.end = label.x + textWidth(label.text, 10);
        const bool covered = label.touches(flagged.x, flagged.right())
                             || std::any_of(marks.begin(), marks.end(), [&](const auto& mark) {
                                    return label.touches(mark.left, mark.left + kFindingMark);
                                });
        label.isUnderTag = std::any_of(breaks.begin(), breaks.end(), [&](const BreakMark& tag) {
            return label.touches(tag.left, tag.left + kBreakWide);
        });
        if (label.end <= right() && !covered) {
            labels.push_back(std::move(label));
        }
    }
    // Of many tags those over labels give way, or else there would be no times.
    const auto under = std::count_if(labels.begin(), labels.end(),
                                     [](const TimeLabel& label) { return label.isUnderTag; });
    const bool areMany = 2 * static_cast<std::size_t>(under) > labels.size();
    bool isFirst = true;
    for (const TimeLabel& label : labels) {
        if (label.isUnderTag && !areMany) {
            continue;
        }
        std::erase_if(breaks, [&](const BreakMark& tag) {
            return label.touches(tag.left, tag.left + kBreakWide);
        });
        const std::string text = label.text + (isFirst && !label.text.ends_with(unit) ? unit : "");
        m_canvas.text(label.x, 0, textWidth(text, 10), kRuler - 1, text, {10, Role::Text2});
        isFirst = false;
    }
}

void FramePainter::prints()
{
    constexpr double kWide = 3, kHigh = 5; // px, below the labels
    const std::vector<trace::Print>& all = m_trace.info().prints;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].time < m_axis.range.begin || all[i].time > m_axis.range.end) {
            continue;
        }
        const double last = std::max(m_axis.left, right() - kWide);
        const double px = std::clamp(std::round(x(all[i].time.value())) - 1, m_axis.left, last);
        m_canvas.fill(px - 1, kRuler - 1 - kHigh, kWide + 2, kHigh, Role::Panel);
        m_canvas.fill(px, kRuler - 1 - kHigh, kWide, kHigh, Role::Focus);
        m_canvas.hit(px - 1, kRuler - 1 - 2 * kHigh, kWide + 2, 2 * kHigh,
                     target::Print{static_cast<std::int64_t>(i)});
    }
}

void FramePainter::stepRuler()
{
    switch (m_zoom.level) {
    case Level::Operations:
    case Level::Steps:
        stepNames();
        break;
    case Level::Periods:
        periodNames();
        break;
    case Level::Run:
        stepNumbers();
        break;
    }
}

void FramePainter::stepNumbers()
{
    constexpr double kLeast = 80; // px
    const trace::Steps& steps = m_trace.steps();
    const trace::Index& index = *m_run.index;
    const auto count = static_cast<std::int64_t>(index.leading().size());
    const auto from = static_cast<std::int64_t>(index.leading().at(m_axis.range.begin));
    const std::int64_t every =
        stepsOf(kLeast, m_run.period, pxPerLeadingStep(), index.leading().size());
    bool first = true;
    double free = m_axis.left;
    for (std::int64_t number = (from + every - 1) / every * every; number < count;
         number += every) {
        const std::size_t step = index.leading().row(static_cast<std::size_t>(number)).index();
        const double px = std::round(x(steps.begin[step]));
        if (px >= right()) {
            break;
        }
        if (px < free) {
            continue;
        }
        m_canvas.fill(px, kRuler, 1, 5, Role::Edge);
        const std::string name = (first ? "step " : "") + countText(steps.ordinal[step]);
        firstFitting(px + 4, right() - px - 4, kRuler, kStepRuler, {name}, {10, Role::Text2});
        free = px + textWidth(name, 10) + 12;
        first = false;
    }
}

void FramePainter::firstFitting(double px, double w, double y, double h,
                                const std::vector<std::string>& names, TextStyle style)
{
    for (const std::string& name : names) {
        if (textWidth(name, style.size, style.weight) <= w) {
            m_canvas.text(px, y, w, h, name, style);
            return;
        }
    }
}

std::vector<std::string> FramePainter::namesOf(std::size_t step) const
{
    const auto& pipeline =
        m_trace.info().pipelines[static_cast<std::size_t>(m_trace.steps().pipeline[step])];
    const std::string number = countText(m_trace.steps().ordinal[step]);
    const std::vector<Extent> indices = trace::gridIndices(pipeline, m_trace.steps().ordinal[step]);
    const std::string point = indices.empty() ? "" : " " + trace::indexText(indices);
    std::vector<std::string> names = {"step " + number + point, "step " + number, number};
    if (step == 0 && isAllPrologue() && prologueEnd() > m_trace.steps().begin[0]) {
        const std::string prologue = "prologue " + timeText(m_run.report.split.prologue);
        names.insert(names.begin(), "step " + number + " · " + prologue);
        names.insert(names.begin(), "step " + number + point + " · " + prologue);
    }
    return names;
}

void FramePainter::stepNames()
{
    const trace::Steps& steps = m_trace.steps();
    const trace::Index& index = *m_run.index;
    const trace::OptionalRow<trace::StepRow> current = positionAt(m_run, m_state.now).step;
    double lastLine = -1;
    for (std::size_t number = index.leading().at(m_axis.range.begin);
         number < index.leading().size(); ++number) {
        const std::size_t step = index.leading().row(number).index();
        if (steps.begin[step] >= end()) {
            break;
        }
        const double line = std::round(x(steps.begin[step]));
        if (line > lastLine) {
            stepLine(line);
            lastLine = line;
        }
        const double from = std::max(line, m_axis.left) + 5;
        // A step within this one may begin before it ends.
        const double next = number + 1 < index.leading().size() ? x(beginOf(number + 1)) : right();
        const double to = std::min({x(steps.end[step]), next, right()}) - 4;
        const bool now =
            trace::StepRow::at(step) == current && m_state.now.value() < steps.end[step];
        if (to - from > 4) {
            firstFitting(
                from, to - from, kRuler, kStepRuler, namesOf(step),
                {11, now ? Role::Text : Role::Text2, now ? Weight::SemiBold : Weight::Regular});
            m_canvas.hit(
                from - 5, kRuler, to - from + 9, kStepRuler,
                target::Steps{static_cast<std::int64_t>(step), static_cast<std::int64_t>(step)});
        }
    }
    bandNames();
}

void FramePainter::bandNames()
{
    const auto name = [this](const std::string& word, std::int64_t from, std::int64_t to) {
        const double x0 = std::max(x(from), m_axis.left) + 5;
        const double x1 = std::min(x(to), right()) - 3;
        if (to > from && x1 > x0) {
            firstFitting(x0, x1 - x0, kRuler, kStepRuler,
                         {word + " " + timeText(Picoseconds(to - from)), word}, {11, Role::Text2});
        }
    };
    const trace::Steps& steps = m_trace.steps();
    if (steps.size() > 0 && steps.begin[0] > 0) {
        // A prologue that goes on in step 0 is in that step's name, which begins where this ends.
        const bool endsThere = isAllPrologue() && prologueEnd() == steps.begin[0];
        name(endsThere ? "prologue" : "before step 0", 0, steps.begin[0]);
    }
    const TimeRange last = epilogueOf(m_run);
    name("epilogue", last.begin.value(), last.end.value());
}

void FramePainter::periodNames()
{
    constexpr double kLeast = 44; // px for "304–311"
    const trace::Steps& steps = m_trace.steps();
    const trace::Index& index = *m_run.index;
    const std::size_t count = index.leading().size();
    const std::int64_t every = stepsOf(kLeast, m_run.period, pxPerLeadingStep(), count);
    double free = -1; // the x behind the last name
    for (std::size_t number = index.leading().at(m_axis.range.begin); number < count; ++number) {
        const std::size_t step = index.leading().row(number).index();
        const std::int64_t ordinal = steps.ordinal[step];
        const double line = std::round(x(steps.begin[step]));
        if (steps.begin[step] >= end()) {
            break;
        }
        if (ordinal % every != 0 || line < free) {
            continue;
        }
        stepLine(line);
        const std::size_t behind = std::min(count, number + static_cast<std::size_t>(every));
        const std::size_t last = index.leading().row(behind - 1).index();
        const double to = std::min(right(), x(steps.end[last]));
        const std::string from = countText(ordinal);
        const std::string until = countText(steps.ordinal[last]);
        const std::string range = until == from ? from : from + "–" + until;
        free = std::max(line + 1, std::min(line + 4 + textWidth(range, 10), std::floor(to)));
        firstFitting(line + 4, to - line - 6, kRuler, kStepRuler, {range, from}, {10, Role::Text2});
        m_canvas.hit(
            line, kRuler, to - line, kStepRuler,
            target::Steps{static_cast<std::int64_t>(step), static_cast<std::int64_t>(last)});
    }
}

std::int64_t FramePainter::beginOf(std::size_t number) const
{
    return m_trace.steps().begin[m_run.index->leading().row(number).index()];
}

double FramePainter::pxPerLeadingStep() const
{
    const auto all = static_cast<double>(std::max<std::size_t>(1, m_trace.steps().size()));
    const auto leading =
        static_cast<double>(std::max<std::size_t>(1, m_run.index->leading().size()));
    return m_zoom.pxPerStep * all / leading;
}

void FramePainter::stepLine(double px)
{
    m_canvas.fill(std::round(px), kRuler, 1, m_bottom - kRuler, Role::Line);
}

} // namespace pallascope::layout::timeline
