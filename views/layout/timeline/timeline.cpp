#include "core/base/format.h"
#include "core/trace/device_times.h"
#include "views/layout/run/finding_text.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/timeline/painter.h"
#include "views/layout/timeline/sm_lanes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace pallascope::layout {

namespace timeline {

namespace {

constexpr double kHeadLine = 13; // px of a second line in a lane's head

} // namespace

FramePainter::FramePainter(const RunView& run, const ViewState& state, Size size,
                           const TimeAxis& axis)
    : m_run(run)
    , m_trace(*run.trace)
    , m_state(state)
    , m_size(size)
    , m_axis(axis)
    , m_zoom(zoomOf(*run.trace, m_axis))
    , m_lanes(lanesOf(run, m_zoom.level, size.height, state.device, state.sm))
    , m_roundBands(roundBandsOf(run, size.height))
    , m_canvas(size.width, size.height)
    , m_gaps(m_zoom.level == Level::Run ? std::vector<Gap>() : gapsOf(m_axis))
{
    m_bottom = m_lanes.empty() ? plotTopOf(run, size.height) : m_lanes.back().y + m_lanes.back().h;
}

Painter::Painter(const RunView& run, const ViewState& state, Size size, const TimeAxis& axis)
    : FramePainter(run, state, size, axis)
{}

Scene Painter::paint() &&
{
    timeRuler();
    prints();
    m_canvas.pushClip(m_axis.left, kRuler, m_axis.width, m_size.height - kRuler);
    bands();
    if (hasStepRuler(m_run)) {
        stepRuler();
    }
    roundBands();
    m_canvas.popClip();
    roundHeads();
    for (const Lane& lane : m_lanes) {
        head(lane);
    }
    linkBracket();
    const double top = plotTopOf(m_run, m_size.height);
    m_canvas.pushClip(m_axis.left, top, m_axis.width, m_size.height - top);
    for (const Lane& lane : m_lanes) {
        if (isStripOfSms(lane) && lane.used) {
            smStrip(lane);
        } else if (lane.kind == LaneKind::Device) {
            strip(lane);
        } else if (m_zoom.level == Level::Run && lane.device < 0) {
            folded(lane);
        } else {
            bars(lane);
        }
    }
    gaps();
    frames();
    m_canvas.popClip();
    if (m_run.notRun.empty()) {
        playhead();
    }
    std::string text = caption(m_canvas, m_run, m_state, m_zoom) + devicesShown();
    text = parts::captionOrNotRun(m_run, withKept(m_canvas, m_state, "time_s", std::move(text)));
    return parts::finished(std::move(m_canvas), "Time line", std::move(text), m_run, m_state);
}

std::string Painter::devicesShown() const
{
    const auto shown = std::count_if(m_lanes.begin(), m_lanes.end(), [](const Lane& lane) {
        return lane.kind == LaneKind::Device;
    });
    const std::int32_t all = m_trace.info().deviceCount();
    return shown == 0 || shown == all
               ? ""
               : fmt::format(" · {} devices of {}: the others need more height", shown, all);
}

bool FramePainter::playheadInSight() const
{
    return m_state.now >= m_axis.range.begin && m_state.now <= m_axis.range.end;
}

Rect FramePainter::flag() const
{
    if (!playheadInSight()) {
        return {-1, 0, 0, 0};
    }
    const double w = std::ceil(textWidth(timeText(m_state.now), 10, Weight::SemiBold)) + 10;
    const double at = std::round(m_axis.toX(m_state.now)) - std::round(w / 2);
    return {std::clamp(at, m_axis.left, std::max(m_axis.left, right() - w)), 0, w, 16};
}

bool FramePainter::isAllPrologue() const
{
    const trace::Steps& steps = m_trace.steps();
    return steps.size() == 0 || m_run.report.split.prologue.value() >= steps.begin[0];
}

std::int64_t FramePainter::prologueEnd() const
{
    const trace::Steps& steps = m_trace.steps();
    return steps.size() == 0 ? m_run.report.split.prologue.value() : steps.bodyBegin[0];
}

TimeRange epilogueOf(const RunView& run)
{
    const Picoseconds begin = run.report.lastStepEnd, end = run.trace->end();
    return begin == Picoseconds(0) ? TimeRange{end, end}
                                   : TimeRange{begin, begin + run.report.split.epilogue};
}

void FramePainter::bands()
{
    const auto fill = [&](std::int64_t from, std::int64_t to) {
        const double x0 = std::max(m_axis.left, x(from));
        const double x1 = std::min(right(), x(to));
        if (x1 - x0 >= 1) {
            m_canvas.fill(x0, kRuler, x1 - x0, m_bottom - kRuler, kBand);
        }
    };
    fill(0, prologueEnd());
    const TimeRange last = epilogueOf(m_run);
    fill(last.begin.value(), last.end.value());
}

void Painter::head(const Lane& lane)
{
    if (lane.kind == LaneKind::Device) {
        deviceHead(lane);
        return;
    }
    if (lane.kind == LaneKind::Sm) {
        smHead(lane);
        return;
    }
    const Target target = target::Lane{idOf(lane)};
    m_canvas.hit(0, lane.y, kHead, lane.h, target);
    // If there are two lines, the name stands on the upper one.
    const double high = headOfMany(lane) ? lane.h - kHeadLine : lane.h;
    const double mark = std::min(lane.h, 8.0);
    const double inset = lane.device < 0 && lane.sm < 0 ? 0 : 6; // below the head that it is of
    m_canvas.fill(10 + inset, lane.y + std::floor((high - mark) / 2), 3, mark, lane.role);
    if (lane.h >= kLeastHead) {
        m_canvas.text(18 + inset, lane.y, 54 - inset, high, lane.name,
                      {lane.h < 12 ? 10 : 11, Role::Text, Weight::Medium});
        const Picoseconds from = std::clamp(m_axis.range.begin, Picoseconds(0), m_trace.end());
        const Picoseconds to = std::clamp(m_axis.range.end, from, m_trace.end());
        const std::vector<Picoseconds> by = busyBy(m_run, lane, {from, to});
        const Picoseconds busyTime = by[1] - by[0];
        const double share = to > from ? ratio(busyTime, to - from) : 0;
        m_canvas.text(
            50, lane.y, kHead - 60, high, percentText(share, 0),
            {11, busyTime.value() > 0 ? Role::Text2 : Role::Text3, Weight::Regular, Align::Right});
    }
    m_canvas.fill(m_axis.left, lane.y + lane.h + 1, m_axis.width, 1, Role::Grid);
}

// A click on it chooses the device.
void Painter::deviceHead(const Lane& lane)
{
    m_canvas.hit(0, lane.y, kHead, lane.h, target::Device{lane.device});
    m_canvas.fill(m_axis.left, lane.y + lane.h + 1, m_axis.width, 1, Role::Grid);
    if (lane.h < kLeastHead) {
        return;
    }
    const double middle = lane.y + std::floor(lane.h / 2);
    if (lane.isOpen) {
        m_canvas.polygon({{3, middle - 2}, {11, middle - 2}, {7, middle + 3}}, Role::Text2);
    } else {
        m_canvas.polygon({{5, middle - 4}, {10, middle}, {5, middle + 4}}, Role::Text2);
    }
    const int size = lane.h < 12 ? 10 : 11;
    const Weight weight = lane.isOpen ? Weight::SemiBold : Weight::Medium;
    m_canvas.text(14, lane.y, 60, lane.h, lane.name, {size, Role::Text, weight});
    const double behind = 14 + textWidth(lane.name, size, weight) + 3;
    if (lane.device == m_run.index->devices().straggler() && lane.h >= 12) {
        paintSeverity(m_canvas, std::floor(behind), std::floor(middle) - 6, Severity::Warning);
    }
    if (lane.isOpen) {
        return;
    }
    const Picoseconds from = std::clamp(m_axis.range.begin, Picoseconds(0), m_trace.end());
    const Picoseconds to = std::clamp(m_axis.range.end, from, m_trace.end());
    const std::vector<Picoseconds> by = busyBy(m_run, lane, {from, to});
    const std::string share =
        percentText(to > from ? std::min(1.0, ratio(by[1] - by[0], to - from)) : 0, 0);
    m_canvas.text(50, lane.y, kHead - 60, lane.h, share,
                  {size, by[1] > by[0] ? Role::Text2 : Role::Text3, Weight::Regular, Align::Right});
}

bool Painter::headOfMany(const Lane& lane)
{
    constexpr double kTwoLines = 26; // px
    const auto& kinds = m_run.index->agents().kinds;
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const trace::AgentKind& one) {
        return one.agents == lane.agents;
    });
    if (lane.h < kTwoLines || lane.agents.size() < 2 || kind == kinds.end()) {
        return false;
    }
    // Writes "32 SparseCore vector subcores", or as many of its last words as fit.
    const double top = lane.y + std::floor((lane.h - kHeadLine) / 2) + kHeadLine / 2;
    for (std::size_t from = 0; from < kind->name.size(); ++from) {
        const std::string words = countText(static_cast<std::int64_t>(lane.agents.size())) + " "
                                  + kind->name.substr(from) + "s";
        if (textWidth(words, 10) <= kHead - 28) {
            m_canvas.text(18, top, kHead - 28, kHeadLine, words, {10, Role::Text3});
            return true;
        }
        from = std::min(kind->name.find(' ', from), kind->name.size());
    }
    return false;
}

void Painter::linkBracket()
{
    if (m_lanes.size() < 2 || m_lanes[0].kind != LaneKind::CopyIn
        || m_lanes[1].kind != LaneKind::CopyOut) {
        return;
    }
    std::vector<std::int32_t> links = m_lanes[0].links;
    links.insert(links.end(), m_lanes[1].links.begin(), m_lanes[1].links.end());
    if (std::adjacent_find(links.begin(), links.end(), std::not_equal_to<>()) != links.end()) {
        return; // there are several links, each with a queue of its own
    }
    const double top = m_lanes[0].y + 4;
    m_canvas.fill(4, top, 2, m_lanes[1].y + m_lanes[1].h - 4 - top, Role::Hbm);
}

void Painter::frames()
{
    const auto frameAll = [this](const Target& target, Role role) {
        if (isNothing(target)) {
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
        if (!isNothing(m_state.selection) && place.target == m_state.selection) {
            m_canvas.frame(place.rect.x - 1, place.rect.y - 1, place.rect.w + 2, place.rect.h + 2,
                           Role::Select, 2);
        }
    }
}

void FramePainter::playhead()
{
    if (!playheadInSight()) {
        return;
    }
    const double px = std::min(std::round(m_axis.toX(m_state.now)), right() - 1);
    m_canvas.fill(px - 1, kRuler, 3, m_bottom - kRuler, Role::View);
    m_canvas.fill(px, 0, 1, m_bottom, Role::Playhead);
    const Rect r = flag();
    m_canvas.fill(r.x, r.y, r.w, r.h, Role::Playhead);
    m_canvas.label(r.x, r.y, r.w, r.h, timeText(m_state.now), Role::Playhead, 10, Weight::SemiBold);
}

namespace {

// Whether a bar belongs to a target, for each kind of target.
struct Belongs
{
    const trace::Trace& trace;
    const Target& bar;

    [[nodiscard]] std::size_t row(std::int64_t index) const
    {
        return static_cast<std::size_t>(index);
    }

    bool operator()(const target::Copy& copy) const
    {
        const auto* wait = std::get_if<target::Wait>(&bar);
        return wait != nullptr && trace.waits().copy[row(wait->row)] == copy.row;
    }

    bool operator()(const target::Wait& wait) const
    {
        const auto* copy = std::get_if<target::Copy>(&bar);
        return copy != nullptr && trace.waits().copy[row(wait.row)] == copy->row;
    }

    bool operator()(const target::Block& block) const
    {
        const auto* copy = std::get_if<target::Copy>(&bar);
        return copy != nullptr && trace.copies().operand[row(copy->row)] == block.operand
               && trace.copies().block[row(copy->row)] == block.block;
    }

    bool operator()(const target::Operation& wanted) const
    {
        const auto* operation = std::get_if<target::Operation>(&bar);
        return operation != nullptr && operation->operation == wanted.operation
               && (!wanted.segment || operation->segment == wanted.segment);
    }

    bool operator()(const target::SourceLine& line) const
    {
        const trace::Operation* of = operation();
        return of != nullptr && of->source.file == line.file && of->source.line == line.line;
    }

    bool operator()(const target::ListingLine& line) const
    {
        const trace::Operation* of = operation();
        return of != nullptr && of->listingLine == line.line;
    }

    bool operator()(const std::monostate&) const { return false; }

    bool operator()(const target::Steps&) const { return false; }

    bool operator()(const target::Round&) const { return false; }

    bool operator()(const target::Segment&) const { return false; }

    bool operator()(const target::Buffer&) const { return false; }

    bool operator()(const target::Alternative&) const { return false; }

    bool operator()(const target::Finding&) const { return false; }

    bool operator()(const target::Print&) const { return false; }

    bool operator()(const target::Lane&) const { return false; }

    bool operator()(const target::Moment&) const { return false; }

    bool operator()(const target::Time&) const { return false; }

    bool operator()(const target::Piece&) const { return false; }

    bool operator()(const target::Device&) const { return false; }

    bool operator()(const target::Sm&) const { return false; }

    bool operator()(const target::GridBlock&) const { return false; }

    bool operator()(const target::Semaphore&) const { return false; }

    bool operator()(const target::Cached&) const { return false; }

    bool operator()(const target::Ceiling&) const { return false; }

    bool operator()(const target::SweepRow&) const { return false; }

    bool operator()(const target::Kept&) const { return false; }

    // The operation that the bar stands for, if it stands for one.
    [[nodiscard]] const trace::Operation* operation() const
    {
        const auto* of = std::get_if<target::Operation>(&bar);
        const auto& all = trace.info().operations;
        const bool known = of != nullptr && of->operation >= 0 && row(of->operation) < all.size();
        return known ? &all[row(of->operation)] : nullptr;
    }
};

} // namespace

bool belongs(const trace::Trace& trace, const Target& bar, const Target& target)
{
    return bar == target || std::visit(Belongs{trace, bar}, target);
}

} // namespace timeline

Scene layoutTimeline(const RunView& run, const ViewState& state, Size size)
{
    return state.kept == nullptr
               ? timeline::Painter(run, state, size, timelineAxis(state, size)).paint()
               : timeline::besideKept(run, state, size);
}

} // namespace pallascope::layout
