// Tests memory that exists only in a scope, without an engine.
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

machine::Owned tileOf(BareRun& run)
{
    machine::Owned owned;
    run.scopes.allocate({run.ref("tile")}, owned);
    return owned;
}

} // namespace

TEST(Scopes, memoryComesUndefinedAndItsNumberIsGivenAgain)
{
    BareRun run;
    const machine::Owned owned = tileOf(run);
    const std::int32_t tile = run.turn().binding(run.ref("tile")).buffer;
    EXPECT_EQ(owned.buffers.at(0).second.first, tile);
    EXPECT_EQ(run.memoryAt(tile).contents.shape(), (Shape{8, 128}));
    EXPECT_EQ(run.memoryAt(tile).contents.undefinedCount(), 8 * 128);
    run.scopes.release(owned);
    EXPECT_EQ(tileOf(run).buffers.at(0).second.first, tile);
}

TEST(Scopes, memoryThatGoesTakesItsCopiesWithIt)
{
    BareRun run;
    const std::int32_t from = run.memoryOf(8 * 128, 1);
    const machine::Owned owned = tileOf(run);
    const std::int32_t tile = run.turn().binding(run.ref("tile")).buffer;
    run.copy(from, tile, 10, 20);
    EXPECT_TRUE(run.copies.isOnItsWay(tile));
    run.scopes.release(owned);
    EXPECT_FALSE(run.copies.isOnItsWay(tile));
}

TEST(Scopes, semaphoresGoWithTheirScopeAndAreHeldToWhatTheyCount)
{
    BareRun run;
    machine::Owned owned;
    run.scopes.allocate({run.ref("counter")}, owned);
    run.semaphores.deliver({.semaphore = owned.semaphores.at(0).second.first, .amount = 1});
    run.scopes.release(owned);
    ASSERT_EQ(run.found().size(), 1U);
    EXPECT_EQ(run.found()[0].kind, "semaphore_left_over");
    EXPECT_EQ(run.turn().binding(run.ref("counter")).buffer, -1);
}

} // namespace pallascope::machine_test
