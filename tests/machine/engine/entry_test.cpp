// Copies to on-chip memory of another device. That device must have begun the kernel, which the
// sender must know from a signal or a copy of the device; that both start at the same time is not
// enough.
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using Refs = std::vector<pl::Ref>;
using Nothing = std::vector<pl::Value>;

constexpr std::int32_t kDevices = 4;

// The device to which a device copies.
pl::Value peer(int way)
{
    const pl::Value me = pl::axisIndex("d");
    switch (way) {
    case 0: // right
        return (me + 1) % kDevices;
    case 1: // left
        return (me + (kDevices - 1)) % kDevices;
    case 2: // across
        return (me + kDevices / 2) % kDevices;
    default: // the device at the same place in the neighbouring pair
        return (me / 2) * 2 + (me + 1) % 2;
    }
}

enum class Barrier
{
    None,
    OfAll,
    WithOthers // other devices than those that it copies to
};

void enter(Barrier barrier, int way)
{
    if (barrier == Barrier::None) {
        return;
    }
    const pl::Ref semaphore = pl::getBarrierSemaphore(3);
    if (barrier == Barrier::OfAll) {
        for (std::int32_t device = 0; device < kDevices; ++device) {
            pl::semaphoreSignalDevice(semaphore, 1, device);
        }
        pl::semaphoreWait(semaphore, kDevices);
    } else {
        pl::semaphoreSignalDevice(semaphore, 1, peer(way));
        pl::semaphoreWait(semaphore, 1);
    }
}

enum class Target
{
    Scratch,
    OneOfTwoSlots,
    InnerScope,
    Result // in HBM
};

void send(pl::Ref x, const pl::Ref& target, const Refs& semaphores, const pl::Value& to,
          pl::Ref out)
{
    pl::remoteDmaStart(x, target, semaphores[0], semaphores[1], to);
    pl::dmaWait(x, semaphores[0]);
    pl::dmaWait(target, semaphores[1]);
    pl::dmaStart(target, out, semaphores[0]);
    pl::dmaWait(out, semaphores[0]);
}

ir::Program exchange(int way, Target target, Barrier barrier, int barrierWay)
{
    const pl::Scratch memory{"memory", kF32,
                             target == Target::OneOfTwoSlots ? Shape{2, 8, 128} : Shape{8, 128}};
    return mustTrace(pl::kernel(
        "exchange",
        {pl::sharded(pl::in("x", kF32, {8, 128}), {{"d"}, {}}),
         pl::sharded(pl::out("out", kF32, {8, 128}), {{"d"}, {}})},
        [&](pl::Ref x, pl::Ref out) {
            pl::onMesh({{"d", kDevices}});
            pl::runScoped(
                {pl::dmaSemaphores("sent"), pl::dmaSemaphores("received"), memory},
                [&](const Refs& refs) {
                    enter(barrier, barrierWay);
                    if (target == Target::Result) {
                        pl::remoteDmaStart(x, out, refs[0], refs[1], peer(way));
                        pl::dmaWait(x, refs[0]);
                        pl::dmaWait(out, refs[1]);
                    } else if (target == Target::InnerScope) {
                        pl::runScoped({{"inner", kF32, {8, 128}}}, [&](const Refs& inner) {
                            send(x, inner[0], refs, peer(way), out);
                            return Nothing{};
                        });
                    } else {
                        send(x,
                             target == Target::Scratch ? refs[2]
                                                       : refs[2].at({1, pl::all, pl::all}),
                             refs, peer(way), out);
                    }
                    return Nothing{};
                });
        }));
}

std::string found(const ir::Program& program,
                  machine::DetectRaces races = machine::DetectRaces::Yes)
{
    const Shape all{kDevices * 8, 128};
    std::string text;
    for (const auto values : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        const Array x =
            arrayOf(kF32, all, std::vector<double>(static_cast<std::size_t>(all.elements()), 1));
        const Result<machine::RunResult> run = machine::run(
            program, {x}, v5e(), {.values = values, .settings = {.detectRaces = races}});
        if (!run) {
            throw std::runtime_error(run.error().message);
        }
        for (const trace::Finding& finding : run->trace->info().findings) {
            text += finding.kind + " x" + std::to_string(finding.count) + " of " + finding.operand
                    + "; ";
        }
    }
    return text;
}

} // namespace

TEST(Entry, isOrderedByABarrierInTwelveKernelsAndNotWithoutIt)
{
    for (int way = 0; way < 4; ++way) {
        for (const Target target : {Target::Scratch, Target::OneOfTwoSlots, Target::InnerScope}) {
            EXPECT_EQ(found(exchange(way, target, Barrier::OfAll, way)), "") << way;
            const std::string one = std::string("peer_not_ready x4 of ")
                                    + (target == Target::InnerScope ? "inner; " : "memory; ");
            const ir::Program bare = exchange(way, target, Barrier::None, way);
            EXPECT_EQ(found(bare), one + one) << way; // in both value modes
            EXPECT_EQ(found(bare, machine::DetectRaces::No), "") << way;
        }
    }
}

// Results in HBM exist from the start of the run, so no barrier is needed. docs/machine.md says so
// and quotes JAX.
TEST(Entry, isNotAskedForOfResultsInHbm)
{
    for (int way = 0; way < 4; ++way) {
        for (const Barrier barrier : {Barrier::None, Barrier::OfAll}) {
            EXPECT_EQ(found(exchange(way, Target::Result, barrier, way)), "") << way;
        }
    }
}

// A device must hear from the device to which it copies; any other one does not count.
TEST(Entry, isNotOrderedByABarrierWithOthers)
{
    const std::string one = "peer_not_ready x4 of memory; ";
    EXPECT_EQ(found(exchange(0, Target::Scratch, Barrier::WithOthers, 0)), one + one);
    EXPECT_EQ(found(exchange(0, Target::Scratch, Barrier::WithOthers, 1)), "");
}

} // namespace pallascope::machine_test
