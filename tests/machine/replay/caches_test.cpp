// What L2 holds at every event of kernels on a GPU, against a list of tiles in the order of use,
// and what the trace of the same run says.
#include "core/ir/builder_gpu.h"
#include "core/machine/replay.h"
#include "core/trace/cache_history.h"
#include "core/trace/lookup.h"
#include "tests/machine/replay/replay_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <tuple>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;
using machine::Replay;

constexpr Extent kHigh = 64, kLow = 32, kWide = 64; // rows of tiles of x and z, and of y; columns
constexpr Bytes kHighTile{kHigh * kWide * 4}, kLowTile{kLow * kWide * 4};
constexpr std::int32_t kTilesThere = 7; // of each array

struct CacheCase
{
    std::string name;
    std::int32_t blocks = 1, rounds = 1;
    Bytes capacity;
};

// In each round a block copies a tile of x and one of y into SMEM, and the former from there to z.
ir::Program tilesProgram(const CacheCase& one)
{
    const auto rowOf = [](const pl::Value& tile, Extent rows) {
        return tile % kTilesThere * static_cast<int>(rows);
    };
    return mustTrace(pl::kernel(
        "tiles",
        {pl::in("x", kF32, {kTilesThere * kHigh, kWide}),
         pl::in("y", kF32, {kTilesThere * kLow, kWide}),
         pl::out("z", kF32, {kTilesThere * kHigh, kWide})},
        [&](pl::Ref x, pl::Ref y, pl::Ref z) {
            gpu::launch({{{"block", one.blocks}}}, [&] {
                gpu::runScoped(
                    {gpu::smem("high", kF32, {kHigh, kWide}), gpu::smem("low", kF32, {kLow, kWide}),
                     gpu::barrier("ready", 2)},
                    true, [&](const std::vector<pl::Ref>& refs) {
                        pl::foriLoop(one.rounds, {}, [&](pl::Value round, std::vector<pl::Value>) {
                            const pl::Value at = pl::axisIndex("block") * 3 + round;
                            gpu::copyGmemToSmem(x.at({pl::ds(rowOf(at, kHigh), kHigh), pl::all}),
                                                refs[0], refs[2]);
                            gpu::copyGmemToSmem(y.at({pl::ds(rowOf(at * 2, kLow), kLow), pl::all}),
                                                refs[1], refs[2]);
                            gpu::barrierWait(refs[2]);
                            gpu::copySmemToGmem(
                                refs[0], z.at({pl::ds(rowOf(round, kHigh), kHigh), pl::all}));
                            gpu::waitSmemToGmem(0);
                            return std::vector<pl::Value>{};
                        });
                    });
            });
        }));
}

// What is held, hit and missed of each array, by its name.
using Said = std::map<std::string, std::tuple<Bytes, Bytes, Bytes>>;

// L2 as a list of tiles, the last used first.
class ListedTiles
{
public:
    explicit ListedTiles(Bytes capacity)
        : m_capacity(capacity)
    {}

    void copy(const std::string& array, std::int64_t first, Bytes bytes, bool out)
    {
        const Tile tile{array, first, bytes};
        const auto found = std::find(m_tiles.begin(), m_tiles.end(), tile);
        auto& [held, hit, missed] = m_said[array];
        if (!out) {
            (found == m_tiles.end() ? missed : hit) += bytes;
        }
        if (found == m_tiles.end()) {
            held += bytes;
            m_all += bytes;
        } else {
            m_tiles.erase(found);
        }
        m_tiles.push_front(tile);
        while (m_all > m_capacity) {
            std::get<0>(m_said[m_tiles.back().array]) -= m_tiles.back().bytes;
            m_all -= m_tiles.back().bytes;
            m_tiles.pop_back();
        }
    }

    [[nodiscard]] const Said& said() const { return m_said; }

private:
    struct Tile
    {
        std::string array;
        std::int64_t first = 0;
        Bytes bytes;
        bool operator==(const Tile&) const = default;
    };

    Bytes m_capacity, m_all;
    std::list<Tile> m_tiles;
    Said m_said;
};

// What the list says after none, one, two, ... of the copies of a run.
std::vector<Said> listedOf(const trace::Trace& trace, Bytes capacity)
{
    ListedTiles tiles(capacity);
    std::vector<Said> all{tiles.said()};
    const trace::Copies& copies = trace.copies();
    for (std::size_t copy = 0; copy < copies.size(); ++copy) {
        const bool out = copies.out[copy] != 0;
        const auto& operand = trace.info().operands[static_cast<std::size_t>(copies.operand[copy])];
        tiles.copy(std::string(trace::arrayName(operand)),
                   trace.copyEnds().first[2 * copy + (out ? 1 : 0)], Bytes(copies.bytes[copy]),
                   out);
        all.push_back(tiles.said());
    }
    return all;
}

Said saidBy(const Replay& replay)
{
    Said said;
    const std::vector<Replay::Cache> caches = replay.caches();
    Bytes all;
    for (const Replay::CachedArray& array : caches.at(0).arrays) {
        said[array.name] = {array.held, array.hit, array.missed};
        all += array.held;
        EXPECT_EQ(array.array,
                  array.name == "y" ? kLowTile * kTilesThere : kHighTile * kTilesThere);
    }
    EXPECT_EQ(caches.size(), std::size_t(1));
    EXPECT_EQ(caches[0].held, all);
    EXPECT_LE(all, caches[0].capacity);
    return said;
}

} // namespace

class CachesTest : public testing::TestWithParam<CacheCase>
{
protected:
    void SetUp() override
    {
        m_chip = h100();
        m_chip.multiprocessor->l2Usable = GetParam().capacity;
        m_options.values = machine::ValueMode::Needed;
        for (const ir::Argument& argument : m_program.arguments) {
            if (argument.kind == ir::ArgumentKind::Input) {
                const ir::Type& type = m_program.type(argument.ref);
                m_inputs.push_back({type.dtype, type.shape, nullptr});
            }
        }
        Result<machine::RunResult> run = machine::run(m_program, m_inputs, m_chip, m_options);
        ASSERT_TRUE(run) << run.error().message;
        m_trace = run->trace;
        Result<std::unique_ptr<Replay>> replay =
            Replay::start(m_program, m_inputs, m_chip, m_options);
        ASSERT_TRUE(replay) << replay.error().message;
        m_replay = std::move(*replay);
    }

    ir::Program m_program = tilesProgram(GetParam());
    chip::Chip m_chip;
    machine::Options m_options;
    std::vector<Array> m_inputs;
    std::shared_ptr<const trace::Trace> m_trace;
    std::unique_ptr<Replay> m_replay;
};

TEST_P(CachesTest, holdWhatAListOfTilesHoldsAtEveryEventInBothDirections)
{
    const std::vector<Said> listed = listedOf(*m_trace, GetParam().capacity);
    std::vector<std::int64_t> marks; // the moments after each copy
    for (std::size_t copy = 0; copy + 1 < listed.size(); ++copy) {
        ASSERT_TRUE(m_replay->seekTo(Replay::Unit::Copy, static_cast<std::int64_t>(copy)));
        marks.push_back(m_replay->sequence());
    }
    ASSERT_TRUE(m_replay->seek(0));
    std::vector<std::pair<std::int64_t, Said>> moments;
    while (true) {
        const Said said = saidBy(*m_replay);
        const auto copies =
            std::upper_bound(marks.begin(), marks.end(), m_replay->sequence()) - marks.begin();
        ASSERT_EQ(said, listed[static_cast<std::size_t>(copies)]) << m_replay->sequence();
        moments.emplace_back(m_replay->sequence(), said);
        if (m_replay->isAtEnd()) {
            break;
        }
        ASSERT_TRUE(m_replay->step(Replay::Unit::Operation, true));
    }
    EXPECT_GT(moments.size(), marks.size());
    for (auto moment = moments.rbegin(); moment != moments.rend(); ++moment) {
        ASSERT_EQ(m_replay->sequence(), moment->first);
        ASSERT_EQ(saidBy(*m_replay), moment->second) << moment->first;
        ASSERT_TRUE(m_replay->step(Replay::Unit::Operation, false));
    }
}

// At moments that time alone tells apart: no agent has run ahead of another's event.
TEST_P(CachesTest, areInTheTraceAtTheirTimes)
{
    struct Moment
    {
        Picoseconds time;
        std::map<std::string, Bytes> held;
    };

    std::vector<Moment> moments;
    ASSERT_TRUE(m_replay->seek(0));
    do {
        moments.push_back({m_replay->time(), {}});
        const std::vector<Replay::Cache> caches = m_replay->caches();
        for (const Replay::CachedArray& array : caches.at(0).arrays) {
            moments.back().held[array.name] = array.held;
        }
        ASSERT_TRUE(m_replay->step(Replay::Unit::Operation, true));
    } while (!m_replay->isAtEnd());
    const trace::Index index(m_trace);
    const trace::Info& info = m_trace->info();
    const auto heldAt = [&](Picoseconds time) {
        std::map<std::string, Bytes> held;
        for (const std::int32_t operand : index.caches().operands()) {
            held[std::string(trace::arrayName(info.operands[static_cast<std::size_t>(operand)]))] =
                index.caches().heldAt(0, trace::OperandRow{operand}, time);
        }
        return held;
    };
    std::size_t compared = 0;
    for (std::size_t i = 0; i < moments.size(); ++i) {
        const bool isLast =
            std::all_of(moments.begin() + static_cast<std::ptrdiff_t>(i) + 1, moments.end(),
                        [&](const Moment& later) { return later.time > moments[i].time; });
        const bool isFirst =
            std::all_of(moments.begin(), moments.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const Moment& earlier) { return earlier.time <= moments[i].time; });
        if (isLast && isFirst) {
            std::map<std::string, Bytes> held = heldAt(moments[i].time);
            for (const auto& [name, bytes] : held) {
                moments[i].held.try_emplace(name);
            }
            ASSERT_EQ(held, moments[i].held) << i;
            ++compared;
        }
    }
    EXPECT_GT(compared, static_cast<std::size_t>(GetParam().rounds));
}

INSTANTIATE_TEST_SUITE_P(Replay, CachesTest,
                         testing::Values(CacheCase{"all_fits", 1, 10, kHighTile * 30},
                                         CacheCase{"few_fit", 1, 20, kHighTile * 4},
                                         CacheCase{"hardly_any_fits", 2, 9, kHighTile + kLowTile},
                                         CacheCase{"several_blocks", 5, 8,
                                                   kHighTile * 6 + kLowTile}),
                         [](const auto& cases) { return cases.param.name; });

TEST(Caches, areNoneOnAChipWithoutThem)
{
    const ReplayCase one = replayCase("matmul");
    const auto replay = Replay::start(one.program, one.inputs, *one.chip, one.options);
    ASSERT_TRUE(replay) << replay.error().message;
    EXPECT_TRUE((*replay)->caches().empty());
}

} // namespace pallascope::machine_test
