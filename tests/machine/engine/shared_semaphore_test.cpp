// Copies of another device on one semaphore: which of them a wait is sure of follows from the order
// that signals and waits make, never from when the copies happen to start.
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using Refs = std::vector<pl::Ref>;
using Nothing = std::vector<pl::Value>;

struct Senders
{
    bool answers = false;   // device 1 says when it has waited for the first copy
    bool waits = true;      // device 1 waits for the first copy before it uses the row
    bool copiesRow = true;  // device 1 reads the first row by a copy, else by a load
    std::int32_t delay = 0; // cycles of device 0 between its two copies
};

// Device 0 copies two rows to device 1 on one semaphore. Device 1 waits for one and uses the first.
ir::Program twoCopies(const Senders& senders)
{
    const auto body = [senders](pl::Ref x, pl::Ref out, const Refs& refs) {
        const pl::Ref sent = refs[0], received = refs[1], own = refs[2], heard = refs[3],
                      rows = refs[4];
        const auto row = [&](std::int32_t i) { return rows.at({i, pl::all, pl::all}); };
        pl::semaphoreSignalDevice(refs[5], 1, 1 - pl::axisIndex("d"));
        pl::semaphoreWait(refs[5], 1);
        pl::when(pl::axisIndex("d") == 0, [&] {
            pl::remoteDmaStart(x, row(0), sent, received, 1);
            pl::dmaWait(x, sent);
            if (senders.answers) {
                pl::semaphoreWait(heard, 1);
            }
            pl::delay(senders.delay);
            pl::remoteDmaStart(x, row(1), sent, received, 1);
            pl::dmaWait(x, sent);
        });
        pl::when(pl::axisIndex("d") == 1, [&] {
            if (senders.waits) {
                pl::dmaWait(row(0), received);
            }
            if (senders.answers) {
                pl::semaphoreSignalDevice(heard, 1, 0);
            }
            if (senders.copiesRow) {
                pl::dmaStart(row(0), out, own);
                pl::dmaWait(out, own);
            } else {
                rows.at({2, pl::all, pl::all})[pl::all] = row(0)[pl::all] + 1.0;
            }
            if (!senders.waits) {
                pl::dmaWait(row(0), received);
            }
            pl::dmaWait(row(1), received);
        });
    };
    return mustTrace(pl::kernel("two_copies",
                                {pl::sharded(pl::in("x", kF32, {8, 128}), {{"d"}, {}}),
                                 pl::sharded(pl::out("out", kF32, {8, 128}), {{"d"}, {}})},
                                [&](pl::Ref x, pl::Ref out) {
                                    pl::onMesh({{"d", 2}});
                                    pl::runScoped({pl::dmaSemaphores("sent"),
                                                   pl::dmaSemaphores("received"),
                                                   pl::dmaSemaphores("own"),
                                                   pl::semaphores("heard"),
                                                   {"rows", kF32, {3, 8, 128}},
                                                   pl::semaphores("ready")},
                                                  [&](const Refs& refs) {
                                                      body(x, out, refs);
                                                      return Nothing{};
                                                  });
                                }));
}

machine::RunResult runOn(const Senders& senders)
{
    return mustRun(twoCopies(senders),
                   {arrayOf(kF32, {16, 128}, std::vector<double>(std::size_t{16} * 128, 1))});
}

} // namespace

// With a delay of 0 the second copy has started when device 1 waits, with the others it has not.
TEST(SharedSemaphore, aWaitIsSureOfTheSameCopiesWheneverTheyStart)
{
    for (const bool copiesRow : {true, false}) {
        for (const std::int32_t delay : {0, 10, 100, 1000, 10'000, 100'000, 1'000'000}) {
            const machine::RunResult run = runOn({.copiesRow = copiesRow, .delay = delay});
            const auto found = findingsOf(run, "read_before_wait");
            ASSERT_EQ(found.size(), 1U) << delay;
            EXPECT_EQ(found[0].operand, "rows") << delay;
            EXPECT_EQ(found[0].count, 1) << delay;
            EXPECT_NE(found[0].message.find("while a copy that no wait is sure of writes"),
                      std::string::npos)
                << found[0].message;
        }
    }
}

// It has not waited at all, so that is what is wrong, and not that copies share a semaphore.
TEST(SharedSemaphore, aMissingWaitIsCalledOne)
{
    for (const std::int32_t delay : {0, 1000, 100'000}) {
        const auto found = findingsOf(runOn({.waits = false, .copiesRow = false, .delay = delay}),
                                      "read_before_wait");
        ASSERT_EQ(found.size(), 1U) << delay;
        EXPECT_NE(found[0].message.find("while a copy that nobody has waited for writes"),
                  std::string::npos)
            << found[0].message;
    }
}

TEST(SharedSemaphore, aCopyThatStartsAfterTheWaitIsKnownLeavesNoDoubt)
{
    for (const std::int32_t delay : {0, 1000, 100'000}) {
        const machine::RunResult run = runOn({.answers = true, .delay = delay});
        EXPECT_TRUE(findingsOf(run, "read_before_wait").empty()) << delay;
    }
}

} // namespace pallascope::machine_test
