#include "core/trace/grid_launches.h"

#include "core/trace/columns.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace pallascope::trace {

namespace {

std::int64_t countBy(const std::vector<std::int64_t>& times, Picoseconds t)
{
    return static_cast<std::int64_t>(trace::begunBy(times, t.value()));
}

// The key is the number among the SMs of a device.
using BySm = std::map<std::int32_t, std::vector<GridLaunch::Place>>;

// Where nobody knows which SM has which place, each place is an SM of its own.
BySm eachAlone(std::vector<GridLaunch::Place> places)
{
    BySm alone;
    for (GridLaunch::Place& place : places) {
        alone[static_cast<std::int32_t>(alone.size())].push_back(std::move(place));
    }
    return alone;
}

// The places of all SMs of the chip, whether they run blocks or not. Those from `firstSm` to before
// `endSm` take part in the run.
void addPlaces(const BlockGrid& grid, BySm bySm, std::int32_t firstSm, std::int32_t endSm,
               GridLaunch& launch)
{
    constexpr std::int64_t kMostPlaces = 1 << 20; // of any file
    const bool isKnown = !bySm.contains(kNone);
    launch.perSm = isKnown ? std::max<std::int64_t>(1, grid.blocksPerSm) : 1;
    std::int64_t sms = grid.atATime / launch.perSm;
    if (!isKnown) {
        bySm = eachAlone(std::move(bySm[kNone]));
    }
    for (const auto& [sm, places] : bySm) {
        sms = std::max(sms, std::int64_t{sm} + 1);
        launch.perSm = std::max(launch.perSm, static_cast<std::int64_t>(places.size()));
    }
    sms = std::min(sms, kMostPlaces / launch.perSm);
    for (std::int32_t sm = 0; sm < sms; ++sm) {
        std::vector<GridLaunch::Place>& places = bySm[sm];
        const bool takesPart = isKnown && sm < endSm - firstSm;
        places.resize(at(launch.perSm), {takesPart ? firstSm + sm : kNone, {}});
        std::move(places.begin(), places.end(), std::back_inserter(launch.places));
    }
}

} // namespace

std::int64_t GridLaunch::begunBy(Picoseconds t) const
{
    return countBy(m_begins, t);
}

std::int64_t GridLaunch::endedBy(Picoseconds t) const
{
    return countBy(m_ends, t);
}

std::int64_t GridLaunch::claimedBy(Picoseconds t) const
{
    return countBy(m_claims, t);
}

std::int64_t GridLaunch::claimedEndedBy(Picoseconds t) const
{
    return countBy(m_claimEnds, t);
}

bool GridLaunch::isIdle(std::size_t place, Picoseconds t) const
{
    return t >= begin && t < end && m_smEnds[place / trace::at(perSm)] <= t.value();
}

std::int64_t GridLaunch::idleSms(Picoseconds t) const
{
    return t >= begin && t < end ? countBy(m_sortedEnds, t) : 0;
}

std::int64_t GridLaunch::waveAt(Picoseconds t) const
{
    const std::int64_t begun = begunBy(t);
    return begun > 0 ? m_waves[trace::at(begun - 1)] : 0;
}

GridLaunches::GridLaunches(const Trace& trace, const Agents& agents)
    : m_trace(&trace)
    , m_ofAgents(trace)
{
    const GridBlocks& blocks = trace.gridBlocks();
    for (std::int32_t device = 0; device < trace.info().deviceCount() && blocks.size() > 0;
         ++device) {
        std::vector<std::int64_t> rows;
        const auto close = [&] {
            if (!rows.empty()) {
                finish(agents, m_all.emplace_back(), rows);
                rows.clear();
            }
        };
        for (std::size_t row = 0; row < blocks.size(); ++row) {
            if (trace.info().deviceOf(blocks.agent[row]) != device) {
                continue;
            }
            const bool isFirst = blocks.block[row] == 0 && blocks.claimed[row] == 0;
            if (isFirst
                || (!rows.empty() && blocks.grid[trace::at(rows.front())] != blocks.grid[row])) {
                close();
            }
            rows.push_back(static_cast<std::int64_t>(row));
        }
        close();
    }
}

void GridLaunches::finish(const Agents& agents, GridLaunch& launch,
                          const std::vector<std::int64_t>& rows)
{
    const Trace& trace = *m_trace;
    const GridBlocks& blocks = trace.gridBlocks();
    const std::size_t first = trace::at(rows.front());
    launch.grid = blocks.grid[first];
    launch.device = trace.info().deviceOf(blocks.agent[first]);
    launch.begin = launch.end = Picoseconds(blocks.begin[first]);
    launch.blocks = static_cast<std::int64_t>(rows.size());
    std::map<std::int32_t, std::vector<std::int64_t>> byAgent;
    for (const std::int64_t row : rows) {
        const std::size_t i = trace::at(row);
        std::vector<std::int64_t>& own = byAgent[blocks.agent[i]];
        launch.m_begins.push_back(blocks.begin[i]);
        launch.m_ends.push_back(blocks.end[i]);
        launch.m_waves.push_back(static_cast<std::int64_t>(own.size()));
        if (blocks.claimed[i] != 0) {
            launch.m_claims.push_back(blocks.begin[i]);
            launch.m_claimEnds.push_back(blocks.end[i]);
        }
        launch.end = std::max(launch.end, Picoseconds(blocks.end[i]));
        own.push_back(row);
    }
    std::sort(launch.m_ends.begin(), launch.m_ends.end());
    std::sort(launch.m_claimEnds.begin(), launch.m_claimEnds.end());
    BySm bySm;
    const auto [firstSm, endSm] = agents.smsOf(launch.device);
    for (auto& [agent, own] : byAgent) {
        launch.waves = std::max(launch.waves, static_cast<std::int64_t>(own.size()));
        const std::int32_t sm =
            trace::at(agent) < agents.smOf.size() ? agents.smOf[trace::at(agent)] : kNone;
        bySm[sm == kNone ? kNone : sm - firstSm].push_back({sm, std::move(own)});
    }
    addPlaces(trace.info().blockGrids[trace::at(launch.grid)], std::move(bySm), firstSm, endSm,
              launch);
    for (std::size_t place = 0; place < launch.places.size(); ++place) {
        if (place % trace::at(launch.perSm) == 0) {
            launch.m_smEnds.push_back(launch.begin.value());
        }
        for (const std::int64_t row : launch.places[place].rows) {
            launch.m_smEnds.back() = std::max(launch.m_smEnds.back(), blocks.end[trace::at(row)]);
        }
    }
    launch.m_sortedEnds = launch.m_smEnds;
    std::sort(launch.m_sortedEnds.begin(), launch.m_sortedEnds.end());
}

const GridLaunch* GridLaunches::at(Picoseconds t, std::int32_t device) const
{
    const GridLaunch* found = nullptr;
    for (const GridLaunch& launch : m_all) {
        if (launch.device == device && (found == nullptr || launch.begin <= t)) {
            found = &launch;
        }
    }
    return found;
}

std::optional<Picoseconds> GridLaunches::blockEnd(std::int32_t agent, Picoseconds t) const
{
    const std::optional<std::int64_t> row = blockOf(agent, t);
    if (!row) {
        return std::nullopt;
    }
    const Picoseconds end(m_trace->gridBlocks().end[trace::at(*row)]);
    const bool isCut = !m_trace->info().stoppedBy.empty() && end >= m_trace->end();
    return isCut ? std::nullopt : std::optional(end);
}

} // namespace pallascope::trace
