// Paints lanes of several agents: with a track for each agent, or with the share of agents as a
// height.
#include "views/layout/timeline/painter.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout::timeline {

namespace {

constexpr double kLeastFramed = 5;  // px wide; narrower waits are solid
constexpr double kLeastHatched = 4; // px high

// The height at each pixel. Heights are whole pixels, so that edges fall where those of bars do.
// Yet nothing that lasts stays invisible: where the share is lower than a pixel, its peaks get one
// pixel.
std::vector<double> heightsOf(const std::vector<Share>& shares, const Lane& lane)
{
    constexpr double kNothing = 1e-6; // a share that is only a rounding error
    std::vector<double> heights;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const double share = shares[i].share;
        const double h = std::round(lane.h * share);
        const double before = i > 0 ? shares[i - 1].share : 0;
        const double behind = i + 1 < shares.size() ? shares[i + 1].share : 0;
        const bool counts = share * static_cast<double>(lane.agents.size()) >= 0.5
                            || (share >= before && share >= behind);
        heights.push_back(h >= 1 || (share > kNothing && counts) ? std::max(1.0, h) : 0);
    }
    return heights;
}

// Calls f(first, last) for each range [first, last) of equal pixels that are not empty.
template<class Same, class F>
void forRuns(const std::vector<double>& heights, Same same, F f)
{
    for (std::size_t first = 0; first < heights.size();) {
        std::size_t last = first + 1;
        if (heights[first] > 0) {
            while (last < heights.size() && heights[last] > 0 && same(first, last)) {
                ++last;
            }
            f(first, last);
        }
        first = last;
    }
}

} // namespace

void Painter::tracks(const Lane& lane, const std::vector<Track>& tracks)
{
    for (const Track& track : tracks) {
        Lane own = lane;
        own.y = track.y;
        own.h = track.h;
        if (lane.role != Role::Wait) {
            for (const Bar& bar : cutAtGaps(unitBars(m_run, trace::UnitRow{lane.unit}, m_axis,
                                                     m_zoom.level, trace::AgentRow{track.agent}),
                                            m_gaps)) {
                solid(own, bar, bar.x0, bar.x1, bar.x1);
            }
        } else {
            for (const Bar& bar :
                 cutAtGaps(waitBars(m_run, m_axis, trace::AgentRow{track.agent}), m_gaps)) {
                wait(own, bar);
            }
        }
    }
}

void Painter::shared(const Lane& lane)
{
    const std::vector<Share> shares = sharesOf(m_run, lane, m_axis);
    const std::vector<double> heights = heightsOf(shares, lane);
    if (lane.role == Role::Wait) {
        waitShares(lane, heights);
    } else {
        forRuns(
            heights, [&](std::size_t a, std::size_t b) { return heights[a] == heights[b]; },
            [&](std::size_t first, std::size_t last) {
                m_canvas.fill(m_axis.left + static_cast<double>(first),
                              lane.y + lane.h - heights[first], static_cast<double>(last - first),
                              heights[first], lane.role);
            });
    }
    for (const Gap& gap : m_gaps) {
        m_canvas.fill(gap.x0, lane.y, gap.x1 - gap.x0, lane.h, Role::View);
    }
    forRuns(
        heights, [&](std::size_t a, std::size_t b) { return shares[a].which == shares[b].which; },
        [&](std::size_t first, std::size_t last) {
            const double x0 = m_axis.left + static_cast<double>(first);
            const auto wide = static_cast<double>(last - first);
            hit(x0, lane.y, wide, lane.h,
                shares[first].rows == 1
                    ? targetOf(lane, shares[first].row)
                    : target::Moment{idOf(lane),
                                     shares[first].begin.value_or(m_axis.toTime(x0 + wide / 2))});
        });
}

// Shares of waits are hatched, as all waits are, and have an outline.
void Painter::waitShares(const Lane& lane, const std::vector<double>& heights)
{
    const double bottom = lane.y + lane.h;
    const auto px = [this](std::size_t i) { return m_axis.left + static_cast<double>(i); };
    const auto heightAt = [&](std::size_t i) { return i < heights.size() ? heights[i] : 0; };
    const auto column = [&](double x, double from, double to) {
        m_canvas.fill(x, bottom - to, 1, to - from, Role::Wait);
    };
    forRuns(
        heights, [](std::size_t, std::size_t) { return true; },
        [&](std::size_t begin, std::size_t end) {
            const bool thin = static_cast<double>(end - begin) < kLeastFramed;
            for (std::size_t first = begin, last = begin; first < end; first = last) {
                const double h = heights[first];
                while (last < end && heights[last] == h) {
                    ++last;
                }
                const auto wide = static_cast<double>(last - first);
                if (thin || h < kLeastHatched) {
                    m_canvas.fill(px(first), bottom - h, wide, h, Role::Wait);
                    continue;
                }
                m_canvas.hatch(px(first), bottom - h, wide, h, Role::Wait, mix(Role::Wait, 0.10),
                               Hatch::Wait);
                m_canvas.fill(px(first), bottom - h, wide, 1, Role::Wait);
                column(px(first), std::min(h, first > 0 ? heightAt(first - 1) : 0), h);
                column(px(last - 1), std::min(h, heightAt(last)), h);
            }
        });
}

// The target of a place that stands for only one row.
Target Painter::targetOf(const Lane& lane, std::int64_t row) const
{
    if (lane.role == Role::Wait) {
        return target::Wait{row};
    }
    const auto id =
        static_cast<std::size_t>(m_trace.segments().templateId[static_cast<std::size_t>(row)]);
    trace::OptionalRow<trace::OperationRow> operation;
    bool mixed = false;
    for (const trace::Mark& mark : m_trace.info().templates[id].marks) {
        if (mark.unit == lane.unit && mark.length.value() > 0) {
            const auto own = trace::OperationRow::of(mark.operation);
            mixed = mixed || (operation && operation != own);
            operation = own;
        }
    }
    return partOfSegment(row, mixed ? std::nullopt : operation);
}

} // namespace pallascope::layout::timeline
