// Accesses under way, many and few, against a list that is looked through one by one.
#include "core/machine/state/underway.h"
#include "tests/machine/chance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace pallascope::machine_test {

using machine::Access;
using machine::Mover;
using machine::UnderwayAccess;
using machine::UnderwayAccesses;

namespace {

// Elements [start, stop) of an array of this shape.
Access accessAt(const Shape& array, const Extents& start, const Extents& stop, bool writes,
                bool adds = false)
{
    Access access{.buffer = 0, .writes = writes};
    access.adds = adds;
    std::vector<machine::Window> windows;
    for (std::size_t axis = 0; axis < start.size(); ++axis) {
        windows.push_back({start[axis], stop[axis] - start[axis]});
    }
    machine::RefBinding whole;
    whole.buffer = 0;
    access.place.located = std::make_shared<machine::Place::Located>(
        machine::Place::Located{machine::narrowed(whole, array, windows), array, {}});
    return access;
}

Access randomAccess(Chance& chance, const Shape& array)
{
    if (chance.oneIn(60)) { // the whole buffer
        return {.buffer = 0, .writes = chance.oneIn(2)};
    }
    Extents start, stop;
    const std::int64_t longest = chance.pick<std::int64_t>({1, 2, 4, 8, 1000});
    for (std::size_t axis = 0; axis < array.rank(); ++axis) {
        const Extent size = chance.from(1, std::min<Extent>(longest, array[axis]));
        start.push_back(chance.from(0, array[axis] - size));
        stop.push_back(start.back() + size);
    }
    const bool writes = !chance.oneIn(3);
    return accessAt(array, start, stop, writes, writes && chance.oneIn(4));
}

Mover moverOf(std::int64_t number)
{
    return number % 3 == 0 ? Mover{{}, number}
                           : Mover{trace::CopyRow{static_cast<std::int32_t>(number)}};
}

} // namespace

TEST(Underway, findsWhatALookAtEachFinds)
{
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Chance chance(seed);
        const Shape array = chance.pick<Shape>({{}, {40}, {16, 24}, {6, 9, 7}});
        const std::int64_t most = chance.pick<std::int64_t>({8, 60, 400});
        UnderwayAccesses tested;
        std::vector<UnderwayAccess> listed;
        std::int64_t began = 0, conflicts = 0;
        for (int turn = 0; turn < 1500; ++turn) {
            const Access access = randomAccess(chance, array);
            const auto first = std::find_if(listed.begin(), listed.end(), [&](const auto& one) {
                return !commute(one.access, access) && mayMeet(one.access.place, access.place);
            });
            const UnderwayAccess* found = tested.conflict(access);
            ASSERT_EQ(found != nullptr, first != listed.end()) << seed << ' ' << turn;
            if (found != nullptr) {
                ++conflicts;
                ASSERT_EQ(found->mover, first->mover) << seed << ' ' << turn;
                ASSERT_EQ(found->access.writes, first->access.writes);
            }
            const bool ends =
                !listed.empty()
                && (static_cast<std::int64_t>(listed.size()) >= most || chance.oneIn(3));
            if (ends) {
                const Mover mover = chance.pick(listed).mover;
                const auto one = std::find_if(listed.begin(), listed.end(), [&](const auto& each) {
                    return each.mover == mover;
                });
                ASSERT_EQ(tested.find(mover)->access.writes, one->access.writes);
                tested.remove(mover);
                listed.erase(one);
            } else { // now and then both ends of a copy are in this buffer
                began += chance.oneIn(10) ? 0 : 1;
                listed.push_back({moverOf(began), -1, 0, access});
                tested.add(listed.back());
            }
            std::vector<Mover> movers;
            tested.forEach([&](const UnderwayAccess& one) { movers.push_back(one.mover); });
            ASSERT_TRUE(std::equal(movers.begin(), movers.end(), listed.begin(), listed.end(),
                                   [](const Mover& a, const auto& b) { return a == b.mover; }));
        }
        EXPECT_GT(conflicts, 0);
    }
}

// Stores of tiles that nobody waits for: ten times as many take about ten times as long.
TEST(Underway, manyTakeTimeInProportion)
{
    const auto secondsFor = [](Extent tiles) {
        const Shape array{tiles * 4, 256};
        const auto before = std::chrono::steady_clock::now();
        UnderwayAccesses underway;
        for (Extent i = 0; i < tiles * 4; ++i) {
            const Extents start{i / 4 * 4, i % 4 * 64};
            const Access access = accessAt(array, start, {start[0] + 4, start[1] + 64}, true);
            EXPECT_EQ(underway.conflict(access), nullptr);
            underway.add({moverOf(3 * i + 1), -1, 0, access});
        }
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    };
    (void)secondsFor(1000);
    EXPECT_LT(secondsFor(20000), 40 * std::max(1e-3, secondsFor(2000)));
}

} // namespace pallascope::machine_test
