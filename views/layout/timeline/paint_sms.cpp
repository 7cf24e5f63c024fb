// Paints the strip of all SMs, the head of the chosen one, and what a warpgroup does.
#include "core/base/format.h"
#include "views/layout/timeline/painter.h"
#include "views/layout/timeline/sm_lanes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pallascope::layout::timeline {

namespace {

constexpr int kTints = 5;          // how many shades a strip has
constexpr double kLeastTint = 0.2; // of the first
constexpr std::size_t kCell = 2;   // px

// For each cell of a row of several SMs, the mean of their shares as a number of tints.
std::vector<int> tintsOf(const std::vector<std::vector<float>>& shares, std::size_t firstSm,
                         std::size_t lastSm)
{
    constexpr double kNothing = 0.02; // less is not worth a shade
    const std::size_t width = shares.front().size();
    std::vector<int> tints;
    for (std::size_t x = 0; x < width; x += kCell) {
        const std::size_t end = std::min(x + kCell, width);
        double sum = 0;
        for (std::size_t sm = firstSm; sm < lastSm; ++sm) {
            for (std::size_t i = x; i < end; ++i) {
                sum += shares[sm][i];
            }
        }
        const double mean = sum / static_cast<double>((lastSm - firstSm) * (end - x));
        tints.push_back(mean < kNothing
                            ? 0
                            : std::clamp(static_cast<int>(std::ceil(mean * kTints)), 1, kTints));
    }
    return tints;
}

} // namespace

// One row for each SM where there is room, or else for several; darker means busier.
void Painter::smStrip(const Lane& lane)
{
    const std::int32_t device = std::max(0, lane.device);
    const auto shares = smShares(m_run, device, trace::UnitRow{lane.unit}, m_axis);
    const auto firstSm = static_cast<std::size_t>(m_run.index->agents().smsOf(device).first);
    const std::size_t sms = shares.size();
    const auto rows = std::min(sms, static_cast<std::size_t>(std::max(
                                        1.0, std::floor(lane.h / static_cast<double>(kCell)))));
    m_canvas.fill(m_axis.left, lane.y, m_axis.width, lane.h, Role::Grid);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t first = row * sms / rows, last = (row + 1) * sms / rows;
        const double y0 =
            lane.y + std::round(lane.h * static_cast<double>(row) / static_cast<double>(rows));
        const double y1 =
            lane.y + std::round(lane.h * static_cast<double>(row + 1) / static_cast<double>(rows));
        const std::vector<int> tints = tintsOf(shares, first, last);
        for (std::size_t from = 0, to = 0; from < tints.size(); from = to) {
            while (to < tints.size() && tints[to] == tints[from]) {
                ++to;
            }
            if (tints[from] > 0) {
                const double share =
                    kLeastTint + (1 - kLeastTint) * (tints[from] - 1) / (kTints - 1);
                const auto x0 = static_cast<double>(from * kCell);
                const double x1 = std::min(static_cast<double>(to * kCell),
                                           static_cast<double>(shares.front().size()));
                m_canvas.fill(m_axis.left + x0, y0, x1 - x0, y1 - y0, mix(lane.role, share));
            }
        }
        const auto chosen = static_cast<std::size_t>(chosenSm(m_run, m_state));
        hit(m_axis.left, y0, m_axis.width, y1 - y0,
            target::Sm{static_cast<std::int32_t>(firstSm + first)});
        if (chosen >= firstSm + first && chosen < firstSm + last) {
            m_canvas.polygon({{kHead - 7, (y0 + y1) / 2 - 4},
                              {kHead - 1, (y0 + y1) / 2},
                              {kHead - 7, (y0 + y1) / 2 + 4}},
                             Role::Text2);
        }
    }
}

// An SM is always open: its name stands above its lanes.
void Painter::smHead(const Lane& lane)
{
    m_canvas.hit(0, lane.y, kHead, lane.h, target::Lane{idOf(lane)});
    const double middle = lane.y + std::floor(lane.h / 2);
    m_canvas.polygon({{3, middle - 2}, {11, middle - 2}, {7, middle + 3}}, Role::Text2);
    m_canvas.text(14, lane.y, kHead - 14, lane.h, lane.name, {11, Role::Text, Weight::SemiBold});
    m_canvas.fill(m_axis.left, lane.y + lane.h + 1, m_axis.width, 1, Role::Grid);
}

// Its operations in the colours of their units, and what it waits for. Its products have a lane of
// their own: they go on while it does something else.
void Painter::warpgroup(const Lane& lane)
{
    const trace::AgentRow agent{lane.agents.front()};
    for (const Bar& bar : cutAtGaps(waitBars(m_run, m_axis, agent), m_gaps)) {
        wait(lane, bar);
    }
    for (const Bar& bar : cutAtGaps(agentBars(m_run, agent, m_axis, m_zoom.level), m_gaps)) {
        solid(lane, bar, bar.x0, bar.x1, bar.x1);
    }
}

} // namespace pallascope::layout::timeline
