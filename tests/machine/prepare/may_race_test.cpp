// Races are found wherever they can occur, and looked for nowhere else. A pipeline has one if two
// of its write-backs are under way together and touch the same elements.
#include "core/machine/prepare/may_race.h"
#include "tests/machine/chance.h"
#include "tests/machine/support.h"
#include "tests/machine/trace_difference.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace pallascope::machine_test {

namespace {

using Point = std::vector<pl::Value>;

const Shape kArray{64, 128};

// A pipeline without inputs that fills blocks of its result.
struct Filling
{
    pl::BlockSpec out;
    std::vector<Extent> grid;
    std::string schedule = "0.12";
};

ir::Program programOf(const Filling& filling)
{
    return mustTrace(pl::kernel(
        "fills", {pl::in("x", kF32, {8, 128}), pl::out("out", kF32, kArray)},
        [&](pl::Ref x, pl::Ref out) {
            const auto body = [&](pl::Ref given, pl::Ref held) {
                held[pl::all] = pl::full(held.shape(), 1, kF32);
                (void)given;
            };
            pl::emitPipeline({.grid = filling.grid,
                              .in = {pl::block({8, 128}, [](auto...) { return pl::at(0, 0); })},
                              .out = {filling.out},
                              .schedule = filling.schedule},
                             body)(x, out);
        }));
}

machine::RunResult runOf(const ir::Program& program, machine::DetectRaces races)
{
    Result<machine::RunResult> run =
        machine::run(program, {Array{kF32, {8, 128}, nullptr}}, v5e(),
                     {.values = machine::ValueMode::Needed, .settings = {.detectRaces = races}});
    if (!run) {
        throw std::runtime_error(run.error().message);
    }
    return std::move(*run);
}

bool looksFor(const ir::Program& program)
{
    return machine::mayRace(program, machine::NeededSet::of(program));
}

std::size_t racesOf(const Filling& filling)
{
    const machine::RunResult run = runOf(programOf(filling), machine::DetectRaces::Yes);
    return findingsOf(run, "overwritten_in_flight").size() + findingsOf(run, "race").size();
}

pl::BlockSpec rows(pl::Dim dim, std::int32_t buffers, int stride)
{
    return pl::block(
        {dim, 128}, [stride](auto i, auto...) { return pl::at(i * stride, 0); }, buffers);
}

} // namespace

TEST(MayRace, elementBlocksThatOverlapAreWrittenBackAtOnce)
{
    EXPECT_EQ(racesOf({rows(pl::element(16), 2, 8), {4}}), 1U);
    EXPECT_EQ(racesOf({rows(pl::element(16), 2, 16), {4}}), 0U);
}

TEST(MayRace, boundedSlicesThatOverlapAreWrittenBackAtOnce)
{
    const auto sliced = [](int stride) {
        return pl::block({pl::boundedSlice(16), 128},
                         [stride](auto i) { return pl::at(i * stride, i * 0 + 16, 0); });
    };
    EXPECT_EQ(racesOf({sliced(8), {4}}), 1U);
    EXPECT_EQ(racesOf({sliced(16), {4}}), 0U);
}

// The third write-back is of the same block as the first, for which the schedule has not waited.
TEST(MayRace, aBlockThatComesAgainWithThreeBuffersIsWrittenTwice)
{
    const auto turning = [](std::int32_t buffers) {
        return pl::block(
            {8, 128}, [](auto i) { return pl::at(i % 2, 0); }, buffers);
    };
    EXPECT_EQ(racesOf({turning(3), {6}}), 1U);
    EXPECT_EQ(racesOf({turning(2), {6}}), 0U);
}

TEST(MayRace, plainBlocksAreNotLookedAt)
{
    const auto isLookedAt = [](const Filling& filling) { return looksFor(programOf(filling)); };
    EXPECT_FALSE(isLookedAt({rows(8, 2, 1), {8}}));
    const auto of = [](std::int32_t axis, std::int32_t buffers) {
        return pl::block(
            {8, 128}, [axis](auto i, auto j) { return pl::at(axis == 0 ? i : j, 0); }, buffers);
    };
    EXPECT_FALSE(isLookedAt({of(0, 2), {4, 4}}));
    EXPECT_FALSE(isLookedAt({of(1, 2), {4, 4}}));
    EXPECT_FALSE(isLookedAt({of(0, 3), {4, 4}})); // no block comes back
    EXPECT_TRUE(isLookedAt({of(1, 3), {4, 4}}));
    EXPECT_FALSE(isLookedAt({of(1, 3), {1, 4}}));
    EXPECT_TRUE(isLookedAt({rows(pl::element(8), 2, 8), {8}}));
}

// The body writes to the table that an index map reads, so that copies start for which nobody
// waits.
TEST(MayRace, mapsThatChangeMeanwhileAreLookedAt)
{
    const auto isLookedAt = [](bool writes) {
        return looksFor(mustTrace(
            pl::kernel("changes",
                       {pl::scalarPrefetch("table", kInt, {8}), pl::in("x", kF32, {8, 128}),
                        pl::out("out", kF32, kArray)},
                       [&](pl::Ref table, pl::Ref x, pl::Ref out) {
                           const auto body = [&](pl::Ref given, pl::Ref held) {
                               held[pl::all] = pl::full(held.shape(), 1, kF32);
                               if (writes) {
                                   table[pl::programId(0)] = pl::programId(0);
                               }
                               (void)given;
                           };
                           pl::emitPipeline(
                               {.grid = {4},
                                .in = {pl::block({8, 128}, [](auto) { return pl::at(0, 0); })},
                                .out = {pl::block(
                                    {8, 128}, [&](auto i) { return pl::at(table[i].load(), 0); })}},
                               body)(x, out);
                       })));
    };
    EXPECT_FALSE(isLookedAt(false));
    EXPECT_TRUE(isLookedAt(true));
}

// A copy into an input's slot starts for one block, and when its step comes the map asks for
// another. The body then reads a slot for whose copy nobody has waited.
TEST(MayRace, mapsOfInputsThatChangeMeanwhileAreLookedAt)
{
    const auto program = [](bool writes) {
        return mustTrace(
            pl::kernel("changes",
                       {pl::scalarPrefetch("table", kInt, {8}), pl::in("x", kF32, kArray),
                        pl::out("out", kF32, kArray)},
                       [&](pl::Ref table, pl::Ref x, pl::Ref out) {
                           const auto body = [&](pl::Ref given, pl::Ref held) {
                               held[pl::all] = given[pl::all].load();
                               if (writes) {
                                   table[pl::programId(0) + 1] = pl::programId(0) * 0;
                               }
                           };
                           pl::emitPipeline(
                               {.grid = {4},
                                .in = {pl::block(
                                    {8, 128}, [&](auto i) { return pl::at(table[i].load(), 0); })},
                                .out = {pl::block({8, 128}, [](auto i) { return pl::at(i, 0); })}},
                               body)(x, out);
                       }));
    };
    EXPECT_FALSE(looksFor(program(false)));
    EXPECT_TRUE(looksFor(program(true)));
    const Array entries = arrayOf(kInt, {8}, {0, 1, 2, 3, 4, 5, 6, 7});
    const Result<machine::RunResult> run =
        machine::run(program(true), {entries, Array{kF32, kArray, nullptr}}, v5e(),
                     {.values = machine::ValueMode::Needed});
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_FALSE(findingsOf(*run, "read_before_wait").empty());
}

// Random pipelines have the same findings when races are looked for everywhere.
TEST(MayRace, isNeverMissedByWhatIsNotLookedAt)
{
    int skipped = 0, raced = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        Chance chance(seed);
        Filling filling;
        const std::int64_t rank = chance.from(1, 3);
        for (std::int64_t axis = 0; axis < rank; ++axis) {
            filling.grid.push_back(chance.from(1, 4));
        }
        const std::vector<std::string> schedules{"0.9", "0.10", "0.11", "0.12"};
        filling.schedule = chance.pick(schedules);
        const auto buffers =
            static_cast<std::int32_t>(chance.from(1, filling.schedule == "0.12" ? 3 : 2));
        const std::int64_t kind = chance.below(4), stride = chance.pick(std::vector<int>{4, 8, 16});
        const std::int64_t which = chance.below(rank), modulus = chance.from(1, 4);
        const auto map = [=](auto... point) {
            const Point all{point...};
            const pl::Value at = all[static_cast<std::size_t>(which)];
            const pl::Value index = modulus == 4 ? at : at % static_cast<int>(modulus);
            const pl::Value from = index * static_cast<int>(stride);
            return kind == 0   ? pl::at(from, 0)
                   : kind == 1 ? pl::at(from, from * 0 + 8, 0)
                               : pl::at(modulus == 4 ? at : index, 0);
        };
        filling.out = kind == 0   ? pl::block({pl::element(8), 128}, map, buffers)
                      : kind == 1 ? pl::block({pl::boundedSlice(8), 128}, map, buffers)
                                  : pl::block({8, 128}, map, buffers);
        const ir::Program program = programOf(filling);
        const machine::RunResult few = runOf(program, machine::DetectRaces::Yes),
                                 all = runOf(program, machine::DetectRaces::Everywhere);
        EXPECT_EQ(firstDifference(*few.trace, *all.trace), "") << "seed " << seed;
        skipped += looksFor(program) ? 0 : 1;
        raced += findingsOf(all, "overwritten_in_flight").empty() ? 0 : 1;
    }
    std::printf("%d of 400 are not looked at, %d race\n", skipped, raced);
    EXPECT_GT(skipped, 100);
    EXPECT_GT(raced, 20);
}

} // namespace pallascope::machine_test
