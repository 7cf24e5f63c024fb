#include "views/layout/timeline/round_bands.h"

#include "core/base/format.h"
#include "views/layout/run/position.h"
#include "views/layout/timeline/painter.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout::timeline {

namespace {

constexpr std::size_t kMostBands = 3;
constexpr double kBandHigh = 16;      // px
constexpr double kLeastForLanes = 96; // px that bands leave to the lanes
constexpr double kLeastCell = 12;     // px; narrower rounds are not drawn one by one

std::size_t indexOf(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

// How many loops with several rounds are around a loop.
std::size_t depthOf(const RunView& run, std::int32_t loop)
{
    const std::vector<trace::Loop>& loops = run.trace->info().loops;
    std::size_t depth = 0;
    for (std::int32_t around = loops[indexOf(loop)].parent; around != trace::kNone;
         around = loops[indexOf(around)].parent) {
        depth += run.index->rounds().size(around) > 1 ? 1U : 0U;
    }
    return depth;
}

// "kv_block 1 of 0–2", and shorter. A loop without a name of its own has "round" instead.
std::vector<std::string> roundNames(const trace::Loop& loop, std::int64_t round,
                                    std::int64_t rounds)
{
    const std::string number = countText(round);
    const std::string of = rounds > 1 ? number + " of 0–" + countText(rounds - 1) : number;
    return {(loop.name.starts_with("loop") ? "round" : loop.name) + " " + of, of, number};
}

} // namespace

bool hasStepRuler(const RunView& run)
{
    return goesBySteps(run) || run.index->rounds().outermost().empty();
}

std::vector<RoundBand> roundBandsOf(const RunView& run, double height)
{
    const trace::LoopRounds& rounds = run.index->rounds();
    if (rounds.outermost().empty()) {
        return {};
    }
    const std::int32_t agent = rounds.agent(rounds.outermost().front());
    std::vector<RoundBand> bands(kMostBands);
    for (std::int32_t loop = 0; indexOf(loop) < run.trace->info().loops.size(); ++loop) {
        const std::size_t depth = depthOf(run, loop);
        if (rounds.size(loop) > 1 && rounds.agent(loop) == agent && depth < bands.size()) {
            bands[depth].loops.push_back(loop);
        }
    }
    std::erase_if(bands, [](const RoundBand& band) { return band.loops.empty(); });
    double y = kRuler + (hasStepRuler(run) ? kStepRuler : 0);
    const auto room = static_cast<std::int64_t>((height - y - kLeastForLanes) / kBandHigh);
    const std::size_t most = kMostBands - (hasStepRuler(run) ? 1 : 0);
    bands.resize(std::min(
        {bands.size(), most, indexOf(std::max<std::int64_t>(room, hasStepRuler(run) ? 0 : 1))}));
    for (RoundBand& band : bands) {
        band.y = y;
        band.h = kBandHigh;
        y += kBandHigh;
    }
    return bands;
}

double plotTopOf(const RunView& run, double height)
{
    const std::vector<RoundBand> bands = roundBandsOf(run, height);
    return bands.empty() ? kPlotTop : bands.back().y + bands.back().h + 2;
}

void FramePainter::roundHeads()
{
    for (const RoundBand& band : m_roundBands) {
        std::int32_t named = band.loops.front(); // of several loops the one that runs now
        for (const std::int32_t loop : band.loops) {
            if (m_run.index->rounds().begunBy(loop, m_state.now) > 0) {
                named = loop;
            }
        }
        const trace::Loop& loop = m_trace.info().loops[indexOf(named)];
        firstFitting(10, kHead - 20, band.y, band.h,
                     {loop.name, "line " + std::to_string(loop.source.line), "loop"},
                     {10, Role::Text3, Weight::Regular, Align::Right});
    }
}

void FramePainter::roundBands()
{
    for (const RoundBand& band : m_roundBands) {
        for (const std::int32_t loop : band.loops) {
            roundsOf(band, loop, &band == &m_roundBands.front());
        }
    }
}

void FramePainter::roundsOf(const RoundBand& band, std::int32_t loop, bool outermost)
{
    const trace::LoopRounds& rounds = m_run.index->rounds();
    const trace::Rounds& rows = m_trace.rounds();
    const std::size_t begun = rounds.begunBy(loop, m_axis.range.begin);
    for (std::size_t number = begun == 0 ? 0 : begun - 1; number < rounds.size(loop);) {
        const trace::LoopRounds::Entry entry = rounds.entryOf(loop, number);
        const std::size_t first = rounds.row(loop, number).index();
        if (rows.begin[first] >= end()) {
            break;
        }
        // Rounds that are too narrow are one cell together, to the end of the entry at most.
        std::size_t last = number;
        const double from = std::round(x(rows.begin[first]));
        const auto xOf = [&](std::size_t one) {
            return std::round(x(rows.end[rounds.row(loop, one).index()]));
        };
        while (last + 1 < entry.last && xOf(last) - from < kLeastCell) {
            ++last;
        }
        const double to = xOf(last);
        if (to > m_axis.left && to > from) {
            const bool isAlone = last == number;
            const std::int64_t round = rows.round[first];
            const auto all = static_cast<std::int64_t>(entry.last - entry.first);
            const trace::Loop& info = m_trace.info().loops[indexOf(loop)];
            std::vector<std::string> names =
                isAlone ? roundNames(info, round, all)
                        : std::vector<std::string>{fmt::format(
                            "{}–{}", countText(round),
                            countText(round + static_cast<std::int64_t>(last - number)))};
            roundCell(band, {from, band.y, to - from, band.h}, names,
                      {rows.begin[first], rows.end[rounds.row(loop, last).index()]}, outermost);
            m_canvas.hit(std::max(from, m_axis.left), band.y,
                         std::min(to, right()) - std::max(from, m_axis.left), band.h,
                         target::Round{static_cast<std::int64_t>(first)});
        }
        number = last + 1;
    }
}

void FramePainter::roundCell(const RoundBand& band, const Rect& cell,
                             const std::vector<std::string>& names,
                             const std::pair<std::int64_t, std::int64_t>& times, bool outermost)
{
    const bool isNow = times.first <= m_state.now.value() && m_state.now.value() < times.second;
    if (isNow && outermost) {
        m_canvas.fill(cell.x, cell.y, cell.w, cell.h, Role::SelectBackground);
    }
    m_canvas.fill(cell.x, band.y, 1, m_bottom - band.y, outermost ? Role::Line : Role::Grid);
    const double from = std::max(cell.x, m_axis.left) + 4;
    const double wide = std::min(cell.x + cell.w, right()) - from - 3;
    firstFitting(from, wide, band.y, band.h, names,
                 {outermost ? 11 : 10, isNow ? Role::Text : Role::Text2,
                  isNow ? Weight::SemiBold : Weight::Regular});
}

} // namespace pallascope::layout::timeline
