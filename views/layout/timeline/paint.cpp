// Paints bars in their lanes.
#include "core/base/format.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/timeline/painter.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout::timeline {

void Painter::folded(const Lane& lane)
{
    if (!lane.used) {
        return;
    }
    const std::vector<Fold> all = folds(m_run, m_axis, m_zoom.stepsPerBar);
    std::vector<Picoseconds> edges; // each bar ends where the next one begins
    for (const Fold& fold : all) {
        edges.emplace_back(fold.begin);
    }
    edges.emplace_back(all.empty() ? 0 : all.back().end);
    const std::vector<Picoseconds> busyTo = busyBy(m_run, lane, edges);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Fold& fold = all[i];
        const Picoseconds time = busyTo[i + 1] - busyTo[i];
        if (time.value() <= 0) {
            continue;
        }
        const double share =
            static_cast<double>(time.value()) / static_cast<double>(fold.end - fold.begin);
        const double h = std::max(1.0, std::round(lane.h * std::min(1.0, share)));
        const double w = std::max(1.0, fold.x1 - fold.x0 - 1);
        m_canvas.fill(fold.x0, lane.y + lane.h - h, w, h, lane.role);
        hit(fold.x0, lane.y, fold.x1 - fold.x0, lane.h,
            target::Steps{fold.firstStep, fold.lastStep});
    }
}

void Painter::hit(double px, double y, double w, double h, Target target)
{
    const double x0 = std::max(px, m_axis.left);
    const double x1 = std::min(px + w, right());
    if (x1 > x0) {
        m_canvas.hit(x0, y, x1 - x0, h, target);
    }
}

void Painter::bars(const Lane& lane)
{
    if (!lane.used) {
        return;
    }
    if (lane.kind == LaneKind::Agent) {
        warpgroup(lane);
        return;
    }
    if (lane.agents.size() > 1) {
        if (const std::vector<Track> apart = tracksOf(lane); !apart.empty()) {
            tracks(lane, apart);
        } else {
            shared(lane);
        }
        return;
    }
    const auto agent = lane.agents.empty()
                           ? std::nullopt
                           : trace::OptionalRow(trace::AgentRow{lane.agents.front()});
    switch (lane.kind) {
    case LaneKind::CopyIn:
    case LaneKind::CopyOut:
    case LaneKind::DeviceCopy:
    case LaneKind::SmCopies:
        for (const LinkTrack& track : linkTracksOf(lane)) {
            Lane own = lane;
            own.y = track.y;
            own.h = track.h;
            own.links = track.links;
            copies(own);
        }
        break;
    case LaneKind::Unit:
    case LaneKind::DeviceUnit:
    case LaneKind::SmUnit:
        for (const Bar& bar : cutAtGaps(
                 unitBars(m_run, trace::UnitRow{lane.unit}, m_axis, m_zoom.level, agent), m_gaps)) {
            solid(lane, bar, bar.x0, bar.x1, bar.x1);
        }
        break;
    case LaneKind::Wait:
    case LaneKind::DeviceWait:
        for (const Bar& bar : cutAtGaps(waitBars(m_run, m_axis, agent), m_gaps)) {
            wait(lane, bar);
        }
        break;
    case LaneKind::Device: // strip()
    case LaneKind::Sms:    // smStrip()
    case LaneKind::Sm:
    case LaneKind::Agent: // warpgroup()
        break;
    }
}

void Painter::strip(const Lane& lane)
{
    constexpr double kNotChosen = 0.45; // the tint
    if (!lane.used) {
        return;
    }
    const trace::AgentRow agent{lane.agents.front()};
    const auto tinted = [&](const Lane& at, std::vector<Bar> all) {
        for (const Bar& bar : cutAtGaps(std::move(all), m_gaps)) {
            m_canvas.fill(bar.x0, at.y, bar.x1 - bar.x0, at.h, mix(bar.color.role, kNotChosen));
            hit(bar.x0, at.y, bar.x1 - bar.x0, at.h, bar.target);
        }
    };
    const bool isOfLinks = !lane.links.empty() || lane.unit == trace::kNone;
    if (isOfLinks) {
        tinted(lane, copyBars(m_run, lane, lane.links, m_axis, m_zoom.level));
    }
    Lane over = lane; // of the core, which leaves a margin where something moves meanwhile
    over.h = isOfLinks ? std::max(3.0, std::floor(lane.h / 3)) : lane.h;
    over.y = lane.y + lane.h - over.h;
    if (lane.unit != trace::kNone) {
        const trace::UnitRow unit{lane.unit};
        tinted(over, unitBars(m_run, unit, m_axis, m_zoom.level, agent));
    }
    for (const Bar& bar : cutAtGaps(waitBars(m_run, m_axis, agent), m_gaps)) {
        wait(over, bar);
    }
}

void Painter::solid(const Lane& lane, const Bar& bar, double x0, double x1, double hitEnd)
{
    m_canvas.fill(x0, lane.y, x1 - x0, lane.h, bar.color);
    label(lane, bar, x0, x1, bar.color);
    hit(x0, lane.y, hitEnd - x0, lane.h, bar.target);
}

bool Painter::label(const Lane& lane, const Bar& bar, double x0, double x1, Color fill)
{
    const double from = std::max(x0, m_axis.left);
    const double to = std::min(x1, right());
    return std::any_of(bar.labels.begin(), bar.labels.end(), [&](const std::string& text) {
        return m_canvas.label(from, lane.y, to - from, lane.h, text, fill, lane.h >= 13 ? 11 : 10);
    });
}

void Painter::copies(const Lane& lane)
{
    const std::vector<Bar> all =
        cutAtGaps(copyBars(m_run, lane, lane.links, m_axis, m_zoom.level), m_gaps);
    if (lane.device < 0 && lane.sm < 0
        && (m_zoom.level == Level::Steps || m_zoom.level == Level::Operations)) {
        whiskers(lane);
    }
    for (const Bar& bar : all) {
        // One pixel is left between copies, so that copies that follow each other directly can be
        // counted.
        const double x1 = std::max(bar.x0 + 1, bar.x1 - 1);
        const bool moving =
            bar.begin < m_state.now.value() && m_state.now.value() < bar.end && bar.count == 1;
        if (x1 < bar.x1) { // this hides the whiskers of copies queued behind it
            const bool prologue = bar.end <= prologueEnd();
            m_canvas.fill(x1, lane.y, 1, lane.h, prologue ? kBand : Color(Role::View));
        }
        if (moving) {
            underWay(lane, bar, x1);
        } else {
            solid(lane, bar, bar.x0, x1, bar.x1);
        }
    }
}

void Painter::whiskers(const Lane& lane)
{
    double budget = 4 * m_axis.width; // px; more whiskers could not be told apart
    for (const std::int32_t link : lane.links) {
        const std::size_t count = m_run.index->copiesOf(trace::LinkRow{link});
        for (std::size_t i = m_run.index->copiesBy(trace::LinkRow{link}, m_trace.copies().start,
                                                   Picoseconds(begin()));
             i < count && budget > 0; ++i) {
            const std::size_t row = m_run.index->copyOf(trace::LinkRow{link}, i).index();
            if (m_trace.copies().issue[row] >= end()) {
                break;
            }
            budget -= whisker(lane, row) ? 1 : 0;
        }
    }
}

bool Painter::whisker(const Lane& lane, std::size_t row)
{
    const trace::Copies& rows = m_trace.copies();
    const auto operands = static_cast<double>(m_trace.info().operands.size());
    if ((rows.out[row] != 0) != (lane.kind == LaneKind::CopyOut)
        || rows.start[row] == rows.issue[row]) {
        return false;
    }
    const double x0 = std::max(std::round(x(rows.issue[row])), m_axis.left - 2);
    const double x1 = std::min(std::round(x(rows.start[row])), right() + 2);
    if (x1 - x0 < 3) {
        return false;
    }
    const Role role = operandRole(m_run, trace::OperandRow{rows.operand[row]});
    const double share = (static_cast<double>(rows.operand[row]) + 1) / (operands + 1);
    const double y = std::round(lane.y + lane.h * share);
    m_canvas.fill(x0, y, x1 - x0, 1, role);
    m_canvas.fill(x0, y - 2, 1, 5, role);
    hit(x0, y - 2, x1 - x0, 5, target::Copy{static_cast<std::int64_t>(row)});
    return true;
}

void Painter::underWay(const Lane& lane, const Bar& bar, double x1)
{
    constexpr double kTint = 0.35;
    const double now = std::clamp(std::round(m_axis.toX(m_state.now)), bar.x0, x1);
    const Color tint = mix(bar.color.role, kTint);
    m_canvas.fill(now, lane.y, x1 - now, lane.h, tint);
    m_canvas.fill(bar.x0, lane.y, now - bar.x0, lane.h, bar.color);
    Bar named = bar;
    if (named.labels.size() > 1) {
        named.labels.erase(
            // Only the block's name, because the size belongs to the whole bar.
            named.labels.begin());
    }
    if (!label(lane, named, bar.x0, now, bar.color)) {
        label(lane, named, now + 1, x1, tint);
    }
    hit(bar.x0, lane.y, bar.x1 - bar.x0, lane.h, bar.target);
}

void Painter::wait(const Lane& lane, const Bar& bar)
{
    constexpr double kLeastFramed = 5;
    const double w = bar.x1 - bar.x0;
    hit(bar.x0, lane.y, w, lane.h, bar.target);
    if (w < kLeastFramed) {
        m_canvas.fill(bar.x0, lane.y, w, lane.h, bar.color);
        return;
    }
    const bool standsBy = bar.color.role != Role::Wait;
    if (!standsBy) {
        m_canvas.hatch(bar.x0, lane.y, w, lane.h, Role::Wait, mix(Role::Wait, 0.10), Hatch::Wait);
    }
    m_canvas.frame(bar.x0, lane.y, w, lane.h, bar.color);
    const double from = std::max(bar.x0, m_axis.left) + 3;
    const double to = std::min(bar.x1, right()) - 3;
    const int size = lane.h >= 14 ? 11 : 10;
    const double inset = lane.agents.empty() || lane.h >= 16 ? 2 : 1; // a low lane keeps its frame
    for (const std::string& text : bar.labels) {
        const double wide = std::ceil(textWidth(text, size, Weight::Medium)) + 6;
        if (wide <= to - from && lane.h >= 12) {
            m_canvas.fill(from, lane.y + inset, wide, lane.h - 2 * inset, Role::View);
            m_canvas.text(from + 3, lane.y, wide, lane.h, text,
                          {size, standsBy ? Role::Text2 : Role::Wait, Weight::Medium});
            return;
        }
    }
}

} // namespace pallascope::layout::timeline
