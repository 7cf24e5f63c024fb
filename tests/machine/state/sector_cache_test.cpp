// A cache of a GPU: what it holds after uses of parts of arrays, checked sector by sector, and what
// it drops, checked against a list in the order of use.
#include "core/machine/state/sector_cache.h"
#include "tests/machine/chance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>

namespace pallascope::machine_test {

namespace {

using machine::SectorCache;

constexpr Bytes kRoom{std::int64_t{1} << 40};

// Uses a part as a copy does: returns whether it was there.
bool use(SectorCache& cache, const SectorCache::Part& part, Picoseconds ready = {})
{
    const bool hit = cache.use(part).has_value();
    if (!hit) {
        cache.hold(part, {ready});
    }
    return hit;
}

using Sector = std::tuple<std::int32_t, Extent, Extent>; // buffer, row, sector of the row

std::set<Sector> sectorsOf(const SectorCache::Part& part)
{
    const Extent width = machine::kSector.value() * 8 / part.elementBits;
    std::set<Sector> sectors;
    for (Extent row = part.start[0]; row < part.stop[0]; ++row) {
        for (Extent column = part.start[1]; column < part.stop[1]; ++column) {
            sectors.emplace(part.buffer, row, column / width);
        }
    }
    return sectors;
}

} // namespace

TEST(SectorCache, holdsTheSectorsThatWereUsed)
{
    Chance chance(5);
    for (int trial = 0; trial < 200; ++trial) {
        const Shape array({chance.from(1, 40), chance.from(1, 200)});
        const std::int64_t bits = chance.from(0, 1) == 0 ? 16 : 32;
        SectorCache cache(kRoom);
        std::set<Sector> held;
        for (int i = 0; i < 30; ++i) {
            const auto buffer = static_cast<std::int32_t>(chance.from(0, 1));
            const Extent row = chance.from(0, array[0] - 1), column = chance.from(0, array[1] - 1);
            const SectorCache::Part part{
                buffer,
                array,
                {row, column},
                {chance.from(row + 1, array[0]), chance.from(column + 1, array[1])},
                bits};
            const std::set<Sector> asked = sectorsOf(part);
            ASSERT_EQ(use(cache, part),
                      std::includes(held.begin(), held.end(), asked.begin(), asked.end()))
                << trial << ", use " << i;
            held.insert(asked.begin(), asked.end());
        }
    }
}

// Of a part whose elements are all asked for; of elements far apart, a sector each.
TEST(SectorCache, movesWholeSectors)
{
    Chance chance(7);
    for (int trial = 0; trial < 500; ++trial) {
        const std::int64_t bits = chance.from(0, 1) == 0 ? 16 : 32;
        const Extent width = machine::kSector.value() * 8 / bits;
        const Shape array({chance.from(1, 40), width * chance.from(1, 20)});
        const Extent row = chance.from(0, array[0] - 1), column = chance.from(0, array[1] - 1);
        const SectorCache::Part part{
            0,
            array,
            {row, column},
            {chance.from(row + 1, array[0]), chance.from(column + 1, array[1])},
            bits};
        const Bytes sectors = static_cast<std::int64_t>(sectorsOf(part).size()) * machine::kSector;
        const Extent elements = (part.stop[0] - row) * (part.stop[1] - column);
        EXPECT_EQ(SectorCache::inSectors(part, Bytes(elements * bits / 8)), sectors) << trial;
        EXPECT_EQ(SectorCache::inSectors(part, Bytes(bits / 8)), machine::kSector) << trial;
    }
}

TEST(SectorCache, dropsWhatWasUsedLongestAgo)
{
    constexpr Extent kTile = 64, kTiles = 12, kFit = 5;
    const Shape array({kTiles * kTile, kTile});
    Chance chance(6);
    SectorCache cache(Bytes(kFit * kTile * kTile * 4));
    std::list<Extent> inOrder; // of use, the latest first
    for (int i = 0; i < 2000; ++i) {
        const Extent tile = chance.from(0, kTiles - 1);
        const bool held = std::find(inOrder.begin(), inOrder.end(), tile) != inOrder.end();
        ASSERT_EQ(use(cache, {0, array, {tile * kTile, 0}, {(tile + 1) * kTile, kTile}, 32}), held)
            << i;
        inOrder.remove(tile);
        inOrder.push_front(tile);
        inOrder.resize(std::min<std::size_t>(inOrder.size(), kFit));
    }
    EXPECT_EQ(cache.held(), Bytes(kFit * kTile * kTile * 4));
}

// Tiles of arrays of several sizes, and parts that make later cuts finer.
TEST(SectorCache, saysHowMuchItHoldsOfEachArray)
{
    constexpr Extent kAcross = 64, kDown = 96;

    struct HeldRow
    {
        std::int32_t buffer;
        Extent row;
        bool operator==(const HeldRow&) const = default;
    };

    Chance chance(8);
    const Shape array({kDown, kAcross});
    constexpr Bytes kOfRow{kAcross * 4};
    SectorCache cache(kOfRow * 100);
    std::list<HeldRow> inOrder; // of use, the latest first
    std::map<std::int32_t, Bytes> hit, missed;
    for (int i = 0; i < 3000; ++i) {
        const auto buffer = static_cast<std::int32_t>(chance.from(0, 4));
        const Extent row = chance.from(0, kDown - 1);
        // Buffers 3 and 4 are two of one array, such as scratch of two kernels.
        const std::int32_t operand = std::min(buffer, 3);
        const SectorCache::Part part{buffer, array, {row, 0}, {row + 1, kAcross}, 32, operand};
        const bool isHit = use(cache, part);
        cache.countRead(part, kOfRow, isHit);
        (isHit ? hit : missed)[operand] += kOfRow;
        ASSERT_EQ(isHit,
                  std::find(inOrder.begin(), inOrder.end(), HeldRow{buffer, row}) != inOrder.end());
        inOrder.remove({buffer, row});
        inOrder.push_front({buffer, row});
        inOrder.resize(std::min<std::size_t>(inOrder.size(), 100));
        if (i % 500 == 499) { // the scratch exists no more
            ASSERT_TRUE(cache.drop({4, 1}));
            std::erase_if(inOrder, [](const HeldRow& one) { return one.buffer == 4; });
            ASSERT_FALSE(cache.drop({4, 1}));
        }
        Bytes all;
        for (const SectorCache::Share& share : cache.shares()) {
            const auto rows =
                std::count_if(inOrder.begin(), inOrder.end(), [&](const HeldRow& one) {
                    return std::min(one.buffer, 3) == share.operand;
                });
            ASSERT_EQ(share.held, kOfRow * rows) << i;
            ASSERT_EQ(share.hit, hit[share.operand]);
            ASSERT_EQ(share.missed, missed[share.operand]);
            all += share.held;
        }
        ASSERT_EQ(cache.held(), all);
    }
    EXPECT_EQ(cache.shares().size(), std::size_t(4));
}

TEST(SectorCache, saysWhenAllOfAPartHasCome)
{
    const Shape array({128});
    SectorCache cache(kRoom);
    cache.hold({0, array, {0}, {64}, 32}, {Picoseconds(10), 7});
    cache.hold({0, array, {64}, {128}, 32}, {Picoseconds(30), 8});
    EXPECT_EQ(cache.use({0, array, {0}, {64}, 32})->ready, Picoseconds(10));
    EXPECT_EQ(cache.use({0, array, {0}, {64}, 32})->copy, 7);
    EXPECT_EQ(cache.use({0, array, {0}, {128}, 32})->ready, Picoseconds(30));
    EXPECT_EQ(cache.use({0, array, {0}, {128}, 32})->copy, 8);
    EXPECT_FALSE(cache.use({1, array, {0}, {64}, 32}));
}

TEST(SectorCache, forgetsBuffersThatExistNoMore)
{
    const Shape array({128});
    SectorCache cache(kRoom);
    for (const std::int32_t buffer : {3, 4, 5}) {
        cache.hold({buffer, array, {0}, {128}, 32}, {});
    }
    cache.drop({4, 1});
    EXPECT_FALSE(cache.use({4, array, {0}, {128}, 32}));
    EXPECT_TRUE(cache.use({3, array, {0}, {128}, 32}));
    EXPECT_TRUE(cache.use({5, array, {0}, {128}, 32}));
    EXPECT_EQ(cache.held(), Bytes(2 * 128 * 4));
}

} // namespace pallascope::machine_test
