#include "views/layout/timeline.h"

#include "core/base/format.h"
#include "views/layout/axis.h"
#include "views/layout/view_parts.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace timeline {

namespace {

constexpr Color kBand = mix(Role::Prologue, 0.75); // where nothing can overlap

class Painter
{
public:
    Painter(const RunView& run, const ViewState& state, Size size)
        : m_run(run)
        , m_trace(*run.trace)
        , m_state(state)
        , m_size(size)
        , m_axis(timelineAxis(state, size))
        , m_zoom(zoomOf(*run.trace, m_axis))
        , m_lanes(lanesOf(run, m_zoom.level, size.height))
        , m_canvas(size.width, size.height)
    {
        m_bottom = m_lanes.empty() ? kPlotTop : m_lanes.back().y + m_lanes.back().h;
    }

    [[nodiscard]] Scene paint() &&
    {
        timeRuler();
        m_canvas.pushClip(m_axis.left, kRuler, m_axis.width, m_size.height - kRuler);
        bands();
        stepRuler();
        m_canvas.popClip();
        for (const Lane& lane : m_lanes) {
            head(lane);
        }
        linkBracket();
        m_canvas.pushClip(m_axis.left, kPlotTop, m_axis.width, m_size.height - kPlotTop);
        for (const Lane& lane : m_lanes) {
            if (m_zoom.level == Level::Run) {
                folded(lane);
            } else {
                bars(lane);
            }
        }
        frames();
        m_canvas.popClip();
        playhead();
        return parts::finished(std::move(m_canvas), "Time line", caption(m_run, m_state, m_zoom),
                               m_run, m_state);
    }

private:
    [[nodiscard]] double right() const { return m_axis.left + m_axis.width; }

    [[nodiscard]] double x(std::int64_t t) const { return m_axis.toX(Picoseconds(t)); }

    [[nodiscard]] std::int64_t begin() const { return m_axis.range.begin.value(); }

    [[nodiscard]] std::int64_t end() const { return m_axis.range.end.value(); }

    void timeRuler()
    {
        m_canvas.fill(0, 0, m_size.width, kRuler, Role::Panel);
        m_canvas.fill(0, kRuler - 1, m_size.width, 1, Role::Line);
        m_canvas.text(10, 0, kHead - 20, kRuler - 1, "busy in view",
                      {10, Role::Text3, Weight::Regular, Align::Right});
        m_canvas.hit(m_axis.left, 0, m_axis.width, kRuler, {TargetKind::Time, -1, -1});
        const Rect flagged = flag();
        const TimeTicks ticks = timeTicks(m_axis.range.begin, m_axis.range.end, m_axis.width);
        bool first = true;
        for (const Picoseconds t : ticks.at) {
            const double px = std::round(m_axis.toX(t));
            m_canvas.fill(px, kRuler - 6, 1, 6, Role::Edge);
            const std::string label = ticks.label(t) + (first ? " " + ticks.unit : "");
            const double labelEnd = px + 4 + textWidth(label, 10);
            const bool covered = px + 4 < flagged.right() + 2 && labelEnd > flagged.x - 2;
            if (labelEnd <= right() && !covered) {
                m_canvas.text(px + 4, 0, labelEnd - px, kRuler - 1, label, {10, Role::Text2});
                first = false;
            }
        }
    }

    [[nodiscard]] bool playheadInSight() const
    {
        return m_state.now >= m_axis.range.begin && m_state.now <= m_axis.range.end;
    }

    // The playhead's flag with the time; its labels give way to it.
    [[nodiscard]] Rect flag() const
    {
        if (!playheadInSight()) {
            return {-1, 0, 0, 0};
        }
        const double w = std::ceil(textWidth(timeText(m_state.now), 10, Weight::SemiBold)) + 10;
        const double at = std::round(m_axis.toX(m_state.now)) - std::round(w / 2);
        return {std::clamp(at, m_axis.left, std::max(m_axis.left, right() - w)), 0, w, 16};
    }

    // Where nothing can overlap: before the first body, after the last.
    void bands()
    {
        const auto fill = [&](std::int64_t from, std::int64_t to) {
            const double x0 = std::max(m_axis.left, x(from));
            const double x1 = std::min(right(), x(to));
            if (x1 - x0 >= 1) {
                m_canvas.fill(x0, kRuler, x1 - x0, m_bottom - kRuler, kBand);
            }
        };
        fill(0, m_run.report.split.prologue.value());
        fill(m_trace.end().value() - m_run.report.split.epilogue.value(), m_trace.end().value());
    }

    void stepLine(double px)
    {
        m_canvas.fill(std::round(px), kRuler, 1, m_bottom - kRuler, Role::Line);
    }

    void stepRuler()
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

    // A number every so many periods; where bars are steps folded, lines through the lanes would be
    // one more pattern.
    void stepNumbers()
    {
        constexpr double kLeast = 80; // px
        const trace::Steps& steps = m_trace.steps();
        const std::int32_t from = trace::stepAt(m_trace, m_axis.range.begin);
        std::int64_t every = std::max<std::int64_t>(1, m_run.period);
        while (static_cast<double>(every) * m_zoom.pxPerStep < kLeast) {
            every *= 2;
        }
        bool first = true;
        double free = m_axis.left;
        for (std::int64_t step = (from + every - 1) / every * every;
             from != trace::kNone && step < static_cast<std::int64_t>(steps.size());
             step += every) {
            const double px = std::round(x(steps.begin[static_cast<std::size_t>(step)]));
            if (px >= right()) {
                break;
            }
            if (px < free) {
                continue;
            }
            m_canvas.fill(px, kRuler, 1, 5, Role::Edge);
            const std::string number = countText(steps.ordinal[static_cast<std::size_t>(step)]);
            const std::string name = (first ? "step " : "") + number;
            firstFitting(px + 4, right() - px - 4, kRuler, kStepRuler, {name}, {10, Role::Text2});
            free = px + textWidth(name, 10) + 12;
            first = false;
        }
    }

    // The first that fits, else nothing: a name is never cut in mid-word.
    void firstFitting(double px, double w, double y, double h,
                      const std::vector<std::string>& names, TextStyle style)
    {
        for (const std::string& name : names) {
            if (textWidth(name, style.size, style.weight) <= w) {
                m_canvas.text(px, y, w, h, name, style);
                return;
            }
        }
    }

    [[nodiscard]] std::vector<std::string> namesOf(std::size_t step) const
    {
        const auto& pipeline =
            m_trace.info().pipelines[static_cast<std::size_t>(m_trace.steps().pipeline[step])];
        const std::string number = countText(m_trace.steps().ordinal[step]);
        const std::string point =
            trace::indexText(trace::gridIndices(pipeline, m_trace.steps().ordinal[step]));
        std::vector<std::string> names = {"step " + number + " " + point, "step " + number, number};
        if (step == 0 && m_run.report.split.prologue.value() > 0) {
            const std::string prologue = "prologue " + timeText(m_run.report.split.prologue);
            names.insert(names.begin(), "step " + number + " · " + prologue);
            names.insert(names.begin(), "step " + number + " " + point + " · " + prologue);
        }
        return names;
    }

    void stepNames()
    {
        const trace::Steps& steps = m_trace.steps();
        const std::int32_t at = trace::stepAt(m_trace, m_axis.range.begin);
        const std::int32_t current = trace::stepAt(m_trace, m_state.now);
        double lastLine = -1;
        for (auto step = static_cast<std::size_t>(std::max(0, at));
             at != trace::kNone && step < steps.size() && steps.begin[step] < end(); ++step) {
            const double line = std::round(x(steps.begin[step]));
            if (line > lastLine) {
                stepLine(line);
                lastLine = line;
            }
            const double from = std::max(line, m_axis.left) + 5;
            const double to = std::min(x(steps.end[step]), right()) - 4;
            const bool now =
                static_cast<std::int32_t>(step) == current && m_state.now.value() < steps.end[step];
            if (to - from > 4) {
                firstFitting(
                    from, to - from, kRuler, kStepRuler, namesOf(step),
                    {11, now ? Role::Text : Role::Text2, now ? Weight::SemiBold : Weight::Regular});
                m_canvas.hit(from - 5, kRuler, to - from + 9, kStepRuler,
                             {TargetKind::Step, static_cast<std::int64_t>(step), -1});
            }
        }
        epilogueName();
    }

    void epilogueName()
    {
        const Picoseconds length = m_run.report.split.epilogue;
        const double from = x(m_trace.end().value() - length.value());
        if (length.value() > 0 && from > m_axis.left && from < right()) {
            firstFitting(from + 5, std::min(right(), x(m_trace.end().value())) - from - 8, kRuler,
                         kStepRuler, {"epilogue " + timeText(length), "epilogue"},
                         {11, Role::Text2});
        }
    }

    // One name per stay of the slowest output, or per 2, 4, ... of them.
    void periodNames()
    {
        constexpr double kLeast = 44; // px for "304–311"
        const trace::Steps& steps = m_trace.steps();
        std::int64_t every = std::max<std::int64_t>(1, m_run.period);
        while (static_cast<double>(every) * m_zoom.pxPerStep < kLeast) {
            every *= 2;
        }
        const std::int32_t at = trace::stepAt(m_trace, m_axis.range.begin);
        double lastLine = -1;
        for (auto step = static_cast<std::size_t>(std::max(0, at));
             at != trace::kNone && step < steps.size() && steps.begin[step] < end(); ++step) {
            const std::int64_t ordinal = steps.ordinal[step];
            const double line = std::round(x(steps.begin[step]));
            if (ordinal % every != 0 || line <= lastLine) {
                continue;
            }
            stepLine(line);
            lastLine = line;
            const std::size_t last =
                std::min(steps.size(), step + static_cast<std::size_t>(every)) - 1;
            const double to = std::min(right(), x(steps.end[last]));
            const std::string from = countText(ordinal);
            const std::string range =
                last == step ? from : from + "–" + countText(steps.ordinal[last]);
            firstFitting(line + 4, to - line - 6, kRuler, kStepRuler, {range, from},
                         {10, Role::Text2});
            m_canvas.hit(line, kRuler, to - line, kStepRuler,
                         {TargetKind::Step, static_cast<std::int64_t>(step),
                          static_cast<std::int64_t>(last)});
        }
    }

    void head(const Lane& lane)
    {
        const Target target = {TargetKind::Lane, laneNumber(lane), -1};
        m_canvas.hit(0, lane.y, kHead, lane.h, target);
        m_canvas.fill(10, lane.y + std::floor((lane.h - 8) / 2), 3, 8, lane.role);
        m_canvas.text(18, lane.y, 54, lane.h, lane.name, {11, Role::Text, Weight::Medium});
        const Picoseconds from = std::clamp(m_axis.range.begin, Picoseconds(0), m_trace.end());
        const Picoseconds to = std::clamp(m_axis.range.end, from, m_trace.end());
        const Picoseconds busyTime = busy(m_run, lane, to) - busy(m_run, lane, from);
        const double share = to > from ? ratio(busyTime, to - from) : 0;
        m_canvas.text(
            50, lane.y, kHead - 60, lane.h, percentText(share, 0),
            {11, busyTime.value() > 0 ? Role::Text2 : Role::Text3, Weight::Regular, Align::Right});
        m_canvas.fill(m_axis.left, lane.y + lane.h + 1, m_axis.width, 1, Role::Grid);
    }

    // Both copy lanes are one link with one queue.
    void linkBracket()
    {
        if (m_lanes.size() < 2 || m_lanes[0].kind != LaneKind::CopyIn
            || m_lanes[1].kind != LaneKind::CopyOut) {
            return;
        }
        const double top = m_lanes[0].y + 4;
        m_canvas.fill(4, top, 2, m_lanes[1].y + m_lanes[1].h - 4 - top, Role::Hbm);
    }

    void folded(const Lane& lane)
    {
        if (!lane.used) {
            return;
        }
        for (const Fold& fold : folds(m_run, m_axis, m_zoom.stepsPerBar)) {
            const Picoseconds time = busy(m_run, lane, Picoseconds(fold.end))
                                     - busy(m_run, lane, Picoseconds(fold.begin));
            if (time.value() <= 0) {
                continue;
            }
            const double share =
                static_cast<double>(time.value()) / static_cast<double>(fold.end - fold.begin);
            const double h = std::max(1.0, std::round(lane.h * std::min(1.0, share)));
            const double w = std::max(1.0, fold.x1 - fold.x0 - 1);
            m_canvas.fill(fold.x0, lane.y + lane.h - h, w, h, lane.role);
            hit(fold.x0, lane.y, fold.x1 - fold.x0, lane.h,
                {TargetKind::Step, fold.firstStep, fold.lastStep});
        }
    }

    // Clamped to the plot, so that what is out of sight cannot be hit.
    void hit(double px, double y, double w, double h, Target target)
    {
        const double x0 = std::max(px, m_axis.left);
        const double x1 = std::min(px + w, right());
        if (x1 > x0) {
            m_canvas.hit(x0, y, x1 - x0, h, target);
        }
    }

    void bars(const Lane& lane)
    {
        if (!lane.used) {
            return;
        }
        switch (lane.kind) {
        case LaneKind::CopyIn:
        case LaneKind::CopyOut:
            copies(lane);
            break;
        case LaneKind::Unit:
            for (const Bar& bar : unitBars(m_run, lane.unit, m_axis, m_zoom.level)) {
                solid(lane, bar, bar.x0, bar.x1, bar.x1);
            }
            break;
        case LaneKind::Wait:
            for (const Bar& bar : waitBars(m_run, m_axis)) {
                wait(lane, bar);
            }
            break;
        }
    }

    // A bar from x0 to x1 with the first label that fits; it is hit up to hitEnd.
    void solid(const Lane& lane, const Bar& bar, double x0, double x1, double hitEnd)
    {
        m_canvas.fill(x0, lane.y, x1 - x0, lane.h, bar.color);
        label(lane, bar, x0, x1, bar.color);
        hit(x0, lane.y, hitEnd - x0, lane.h, bar.target);
    }

    bool label(const Lane& lane, const Bar& bar, double x0, double x1, Color fill)
    {
        const double from = std::max(x0, m_axis.left);
        const double to = std::min(x1, right());
        return std::any_of(bar.labels.begin(), bar.labels.end(), [&](const std::string& text) {
            return m_canvas.label(from, lane.y, to - from, lane.h, text, fill,
                                  lane.h >= 13 ? 11 : 10);
        });
    }

    void copies(const Lane& lane)
    {
        const bool out = lane.kind == LaneKind::CopyOut;
        const std::vector<Bar> all = copyBars(m_run, out, m_axis, m_zoom.level);
        if (m_zoom.level == Level::Steps || m_zoom.level == Level::Operations) {
            whiskers(lane, out);
        }
        for (const Bar& bar : all) {
            // One pixel between copies, so that a back-to-back queue can be counted.
            const double x1 = std::max(bar.x0 + 1, bar.x1 - 1);
            const bool moving =
                bar.begin < m_state.now.value() && m_state.now.value() < bar.end && bar.count == 1;
            if (x1 < bar.x1) { // hides the whiskers of those behind it
                const bool prologue = bar.end <= m_run.report.split.prologue.value();
                m_canvas.fill(x1, lane.y, 1, lane.h, prologue ? kBand : Color(Role::View));
            }
            if (moving) {
                underWay(lane, bar, x1);
            } else {
                solid(lane, bar, bar.x0, x1, bar.x1);
            }
        }
    }

    // From issue to start: how long a copy queued. Copies still queued behind the range's end
    // belong here too.
    void whiskers(const Lane& lane, bool out)
    {
        const trace::Copies& rows = m_trace.copies();
        const auto first = static_cast<std::size_t>(
            std::upper_bound(rows.start.begin(), rows.start.end(), begin()) - rows.start.begin());
        const auto operands = static_cast<double>(m_trace.info().operands.size());
        double budget = 4 * m_axis.width; // never more whiskers than can be told apart
        for (std::size_t row = first; row < rows.size() && rows.issue[row] < end() && budget > 0;
             ++row) {
            if ((rows.out[row] != 0) != out || rows.start[row] == rows.issue[row]) {
                continue;
            }
            const double x0 = std::max(std::round(x(rows.issue[row])), m_axis.left - 2);
            const double x1 = std::min(std::round(x(rows.start[row])), right() + 2);
            if (x1 - x0 < 3) {
                continue;
            }
            const Role role = operandRole(rows.operand[row]);
            const double share = (static_cast<double>(rows.operand[row]) + 1) / (operands + 1);
            const double y = std::round(lane.y + lane.h * share);
            m_canvas.fill(x0, y, x1 - x0, 1, role);
            m_canvas.fill(x0, y - 2, 1, 5, role);
            hit(x0, y - 2, x1 - x0, 5, {TargetKind::Copy, static_cast<std::int64_t>(row), -1});
            budget -= 1;
        }
    }

    // Solid up to now, tinted for what is still to come.
    void underWay(const Lane& lane, const Bar& bar, double x1)
    {
        constexpr double kTint = 0.35;
        const double now = std::clamp(std::round(m_axis.toX(m_state.now)), bar.x0, x1);
        const Color tint = mix(bar.color.role, kTint);
        m_canvas.fill(now, lane.y, x1 - now, lane.h, tint);
        m_canvas.fill(bar.x0, lane.y, now - bar.x0, lane.h, bar.color);
        Bar named = bar;
        if (named.labels.size() > 1) {
            named.labels.erase(
                named.labels.begin()); // the block's name alone: the size belongs to all of it
        }
        if (!label(lane, named, bar.x0, now, bar.color)) {
            label(lane, named, now + 1, x1, tint);
        }
        hit(bar.x0, lane.y, bar.x1 - bar.x0, lane.h, bar.target);
    }

    void wait(const Lane& lane, const Bar& bar)
    {
        constexpr double kLeastFramed = 5;
        const double w = bar.x1 - bar.x0;
        hit(bar.x0, lane.y, w, lane.h, bar.target);
        if (w < kLeastFramed) {
            m_canvas.fill(bar.x0, lane.y, w, lane.h, Role::Wait);
            return;
        }
        m_canvas.hatch(bar.x0, lane.y, w, lane.h, Role::Wait, mix(Role::Wait, 0.10), Hatch::Wait);
        m_canvas.frame(bar.x0, lane.y, w, lane.h, Role::Wait);
        const double from = std::max(bar.x0, m_axis.left) + 3;
        const double to = std::min(bar.x1, right()) - 3;
        const int size = lane.h >= 14 ? 11 : 10;
        for (const std::string& text : bar.labels) {
            const double wide = std::ceil(textWidth(text, size, Weight::Medium)) + 6;
            if (wide <= to - from && lane.h >= 12) {
                m_canvas.fill(from, lane.y + 2, wide, lane.h - 4, Role::View);
                m_canvas.text(from + 3, lane.y, wide, lane.h, text,
                              {size, Role::Wait, Weight::Medium});
                return;
            }
        }
    }

    // Selection, and the hovered thing with its partners.
    void frames()
    {
        const auto frameAll = [this](const Target& target, Role role) {
            if (target.kind == TargetKind::None) {
                return;
            }
            std::vector<Rect> rects;
            for (const Hit& place : m_canvas.hits()) {
                if (place.rect.y >= kRuler && belongs(m_trace, place.target, target)) {
                    rects.push_back(place.rect);
                }
            }
            for (const Rect& r : rects) {
                m_canvas.frame(r.x - 1, r.y - 1, r.w + 2, r.h + 2, role, 2);
            }
        };
        frameAll(m_state.hover, Role::Text);
        for (const Hit& place : std::vector<Hit>(m_canvas.hits())) {
            if (m_state.selection.kind != TargetKind::None && place.target == m_state.selection) {
                m_canvas.frame(place.rect.x - 1, place.rect.y - 1, place.rect.w + 2,
                               place.rect.h + 2, Role::Select, 2);
            }
        }
    }

    void playhead()
    {
        if (!playheadInSight()) {
            return;
        }
        const double px = std::min(std::round(m_axis.toX(m_state.now)), right() - 1);
        m_canvas.fill(px - 1, kRuler, 3, m_bottom - kRuler, Role::View);
        m_canvas.fill(px, 0, 1, m_bottom, Role::Playhead);
        const Rect r = flag();
        m_canvas.fill(r.x, r.y, r.w, r.h, Role::Playhead);
        m_canvas.label(r.x, r.y, r.w, r.h, timeText(m_state.now), Role::Playhead, 10,
                       Weight::SemiBold);
    }

    const RunView& m_run;
    const trace::Trace& m_trace;
    const ViewState& m_state;
    Size m_size;
    TimeAxis m_axis;
    Zoom m_zoom;
    std::vector<Lane> m_lanes;
    Canvas m_canvas;
    double m_bottom = 0;
};

bool sameSource(const trace::Trace& trace, const Target& operation, const Target& target)
{
    const auto& operations = trace.info().operations;
    if (operation.kind != TargetKind::Operation || operation.a < 0
        || operation.a >= static_cast<std::int64_t>(operations.size())) {
        return false;
    }
    const trace::Operation& of = operations[static_cast<std::size_t>(operation.a)];
    return target.kind == TargetKind::ListingLine
               ? of.listingLine == target.a
               : of.source.file == target.a && of.source.line == target.b;
}

} // namespace

bool belongs(const trace::Trace& trace, const Target& bar, const Target& target)
{
    if (bar == target) {
        return true;
    }
    const auto row = [](std::int64_t index) { return static_cast<std::size_t>(index); };
    const trace::Copies& copies = trace.copies();
    const trace::Waits& waits = trace.waits();
    switch (target.kind) {
    case TargetKind::Copy:
        return bar.kind == TargetKind::Wait && waits.copy[row(bar.a)] == target.a;
    case TargetKind::Wait:
        return bar.kind == TargetKind::Copy && waits.copy[row(target.a)] == bar.a;
    case TargetKind::Block:
        return bar.kind == TargetKind::Copy && copies.operand[row(bar.a)] == target.a
               && copies.block[row(bar.a)] == target.b;
    case TargetKind::Operation:
        return bar.kind == TargetKind::Operation && bar.a == target.a
               && (target.b < 0 || bar.b == target.b);
    case TargetKind::SourceLine:
    case TargetKind::ListingLine:
        return sameSource(trace, bar, target);
    default:
        return false;
    }
}

} // namespace timeline

Scene layoutTimeline(const RunView& run, const ViewState& state, Size size)
{
    return timeline::Painter(run, state, size).paint();
}

} // namespace pallascope::layout
