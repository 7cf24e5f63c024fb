// The blocks of GPUs' grids by launch and place, compared with counts over every row.
#include "core/trace/grid_launches.h"
#include "core/trace/lookup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace pallascope;
using namespace pallascope::trace;

namespace {

constexpr std::int64_t kBlocks = 23;

struct Ran
{
    std::int32_t grid = 0;
    std::int64_t block = 0;
    std::int32_t agent = 0;
    bool isClaimed = false;
    std::int64_t begin = 0, end = 0;
};

// Two launches of one grid, which a chip of `sms` SMs with two places each runs greedily, and one
// block each time is claimed by another.
std::vector<Ran> launches(int sms, std::mt19937_64& random)
{
    std::vector<Ran> rows;
    std::int64_t now = 0;
    for (int launch = 0; launch < 2; ++launch) {
        std::vector<std::int64_t> free(static_cast<std::size_t>(2 * sms), now);
        for (std::int64_t block = 0; block < kBlocks; ++block) {
            const auto place = std::min_element(free.begin(), free.end());
            const auto length = static_cast<std::int64_t>(random() % 50 + 1);
            const auto agent = static_cast<std::int32_t>(place - free.begin());
            rows.push_back({0, block, agent, false, *place, *place + length});
            if (block + 1 == kBlocks / 2) {
                ++block;
                rows.push_back({0, block, agent, true, *place + length / 2, *place + length});
            }
            *place += length;
        }
        now = *std::max_element(free.begin(), free.end());
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Ran& a, const Ran& b) { return a.begin < b.begin; });
    return rows;
}

std::shared_ptr<const Trace> traceOf(const std::vector<Ran>& rows, int sms)
{
    TraceBuilder builder;
    for (int sm = 0; sm < sms; ++sm) {
        for (int place = 0; place < 2; ++place) {
            builder.info.agents.push_back("SM " + std::to_string(sm) + " place "
                                          + std::to_string(place) + " Warpgroup 0");
        }
    }
    builder.info.blockGrids = {
        {.blocksPerSm = 2, .blocks = kBlocks, .extents = {kBlocks}, .atATime = 2 * (sms + 1)}};
    for (const Ran& row : rows) {
        GridBlocks& blocks = builder.gridBlocks;
        blocks.grid.push_back(row.grid);
        blocks.block.push_back(row.block);
        blocks.agent.push_back(row.agent);
        blocks.claimed.push_back(row.isClaimed ? 1 : 0);
        blocks.begin.push_back(row.begin);
        blocks.end.push_back(row.end);
        builder.end = std::max(builder.end, Picoseconds(row.end));
    }
    Result<std::shared_ptr<const Trace>> trace = std::move(builder).finish();
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
    return *trace;
}

} // namespace

TEST(GridLaunches, countWhatARowByRowCountDoes)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const int sms = static_cast<int>(random() % 4 + 1);
        const std::vector<Ran> rows = launches(sms, random);
        const auto trace = traceOf(rows, sms);
        const Index index(trace);
        ASSERT_EQ(index.launches().all().size(), 2U);
        for (std::int64_t t = 0; t <= trace->end().value(); ++t) {
            const Picoseconds now(t);
            const GridLaunch& launch = *index.launches().at(now, 0);
            const bool isSecond = &launch == &index.launches().all()[1];
            EXPECT_EQ(isSecond, launch.begin > Picoseconds(0));
            std::int64_t begun = 0, ended = 0, claimed = 0, everClaimed = 0;
            std::set<std::int32_t> busy;
            for (const Ran& row : rows) {
                if ((row.begin >= index.launches().all()[1].begin.value()) != isSecond) {
                    continue;
                }
                everClaimed += row.isClaimed ? 1 : 0;
                begun += row.begin <= t ? 1 : 0;
                ended += row.end <= t ? 1 : 0;
                claimed += row.isClaimed && row.begin <= t && row.end > t ? 1 : 0;
                if (row.end > t) {
                    busy.insert(row.agent / 2);
                }
            }
            EXPECT_EQ(launch.begunBy(now), begun);
            EXPECT_EQ(launch.endedBy(now), ended);
            EXPECT_EQ(launch.hasClaims(), everClaimed > 0);
            EXPECT_EQ(launch.claimedBy(now) - launch.claimedEndedBy(now), claimed);
            // The chip has one SM more, which never gets a block.
            const bool isUnderWay = now < launch.end;
            EXPECT_EQ(launch.idleSms(now),
                      isUnderWay ? sms + 1 - static_cast<std::int64_t>(busy.size()) : 0)
                << t;
        }
    }
}

TEST(GridLaunches, aPlaceHasItsBlocksWaveAfterWave)
{
    std::mt19937_64 random(7);
    const std::vector<Ran> rows = launches(3, random);
    const auto trace = traceOf(rows, 3);
    const Index index(trace);
    const GridLaunch& launch = index.launches().all().front();
    EXPECT_EQ(launch.perSm, 2);
    ASSERT_EQ(launch.places.size(), 8U);
    std::size_t blocks = 0, most = 0;
    for (std::size_t place = 0; place < launch.places.size(); ++place) {
        const GridLaunch::Place& of = launch.places[place];
        // The chip's fourth SM takes no part in the run.
        EXPECT_EQ(of.sm, place < 6 ? static_cast<std::int32_t>(place / 2) : kNone);
        EXPECT_TRUE(std::is_sorted(of.rows.begin(), of.rows.end()));
        for (const std::int64_t row : of.rows) {
            EXPECT_EQ(trace->gridBlocks().agent[static_cast<std::size_t>(row)],
                      static_cast<std::int32_t>(place));
        }
        blocks += of.rows.size();
        most = std::max(most, of.rows.size());
    }
    EXPECT_EQ(blocks, static_cast<std::size_t>(kBlocks));
    EXPECT_EQ(launch.waves, static_cast<std::int64_t>(most));
    EXPECT_EQ(launch.waveAt(Picoseconds(0)), 0);
    EXPECT_EQ(launch.blocks, kBlocks);
}

TEST(GridLaunches, anAgentHasTheBlockThatBeganLast)
{
    std::mt19937_64 random(3);
    const std::vector<Ran> rows = launches(2, random);
    const auto trace = traceOf(rows, 2);
    const Index index(trace);
    for (std::int64_t t = 0; t <= trace->end().value(); t += 3) {
        for (std::int32_t agent = 0; agent < 4; ++agent) {
            std::optional<std::int64_t> wanted;
            for (std::size_t row = 0; row < rows.size(); ++row) {
                if (rows[row].agent == agent && !rows[row].isClaimed && rows[row].begin <= t) {
                    wanted = static_cast<std::int64_t>(row);
                }
            }
            EXPECT_EQ(index.launches().blockOf(agent, Picoseconds(t)), wanted) << t;
        }
    }
    EXPECT_EQ(index.launches().blockOf(-1, Picoseconds(0)), std::nullopt);
    EXPECT_EQ(index.launches().blockOf(4, Picoseconds(0)), std::nullopt);
}

TEST(GridLaunches, otherRunsHaveNone)
{
    TraceBuilder builder;
    builder.info.agents = {"TensorCore 0"};
    const auto trace = std::move(builder).finish();
    ASSERT_TRUE(trace);
    const Index index(*trace);
    EXPECT_TRUE(index.launches().all().empty());
    EXPECT_EQ(index.launches().at(Picoseconds(0), 0), nullptr);
    EXPECT_EQ(index.launches().blockOf(0, Picoseconds(0)), std::nullopt);
}
