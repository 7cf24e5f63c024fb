// Programs that run on several devices: who copies to whom, when a copy arrives, what it orders,
// and what stops them.
#include "core/analysis/report.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace pallascope::machine_test {

namespace {

using Refs = std::vector<pl::Ref>;
using Nothing = std::vector<pl::Value>;
using Body = std::function<void(pl::Ref x, pl::Ref out, const Refs& scratch)>;

constexpr std::int64_t kHop = 1'000'000;    // ps: 1 us in the chip file
constexpr std::int64_t kShardTime = 91'023; // ps: ceil(4096 bytes / 45e9 bytes/s)

// A kernel on several devices. Each has a part f32[8,128] of x and out, which are cut along the
// mesh axis x.
ir::Program onDevices(std::int32_t devices, std::vector<pl::Scratch> scratch, const Body& body,
                      DType dtype = kF32)
{
    return mustTrace(pl::kernel("on_devices",
                                {pl::sharded(pl::in("x", dtype, {8, 128}), {{"d"}, {}}),
                                 pl::sharded(pl::out("out", dtype, {8, 128}), {{"d"}, {}})},
                                [&](pl::Ref x, pl::Ref out) {
                                    pl::onMesh({{"d", devices}});
                                    pl::runScoped(scratch, [&](const Refs& refs) {
                                        body(x, out, refs);
                                        return Nothing{};
                                    });
                                }));
}

// A device goes on when every device has begun the kernel.
void meet(std::int32_t devices)
{
    const pl::Ref barrier = pl::getBarrierSemaphore(7);
    for (std::int32_t device = 0; device < devices; ++device) {
        pl::semaphoreSignalDevice(barrier, 1, device);
    }
    pl::semaphoreWait(barrier, devices);
}

std::vector<pl::Scratch> twoSemaphores()
{
    return {pl::dmaSemaphores("sent"), pl::dmaSemaphores("received")};
}

// Every element of row r of the whole array is r.
Array rows(std::int32_t devices)
{
    std::vector<double> elements;
    for (std::int64_t i = 0; i < devices * 8 * 128; ++i) {
        elements.push_back(static_cast<double>(i / 128));
    }
    return arrayOf(kF32, {devices * 8, 128}, elements);
}

machine::RunResult runOn(const ir::Program& program, std::int32_t devices,
                         machine::Settings settings = {}, const chip::Chip& chip = v5e())
{
    Result<machine::RunResult> run =
        machine::run(program, {rows(devices)}, chip, {.settings = settings});
    if (!run) {
        throw std::runtime_error(run.error().message);
    }
    return std::move(*run);
}

pl::Value right(std::int32_t devices)
{
    return (pl::axisIndex("d") + 1) % devices;
}

void permute(pl::Ref x, pl::Ref out, const Refs& refs, const pl::Value& to)
{
    pl::remoteDmaStart(x, out, refs[0], refs[1], to);
    pl::dmaWait(x, refs[0]);
    pl::dmaWait(out, refs[1]);
}

} // namespace

// Every device sends its part to the right. All links are used at the same time, one hop each.
TEST(Devices, aRingPermuteMovesEveryPartOneDeviceOn)
{
    const ir::Program program =
        onDevices(4, twoSemaphores(), [](pl::Ref x, pl::Ref out, const Refs& refs) {
            permute(x, out, refs, right(4));
        });
    for (const machine::DmaMode mode :
         {machine::DmaMode::Timed, machine::DmaMode::Eager, machine::DmaMode::OnWait}) {
        const machine::RunResult run = runOn(program, 4, {.dmaExecutionMode = mode});
        EXPECT_EQ(findingsText(run), "");
        const std::vector<double> out = elementsOf(run.outputs[0]);
        ASSERT_EQ(run.outputs[0].shape, Shape({32, 128}));
        for (std::size_t row = 0; row < 32; ++row) {
            EXPECT_EQ(out[row * 128], static_cast<double>((row + 24) % 32)) << row;
        }
        const trace::Trace& trace = *run.trace;
        ASSERT_EQ(trace.copies().size(), 4U);
        // After the arithmetic that computes the device's number.
        const std::int64_t issue = trace.copies().issue[0];
        for (std::size_t copy = 0; copy < 4; ++copy) {
            EXPECT_EQ(trace.copies().issue[copy], issue);
            EXPECT_EQ(trace.copies().start[copy], issue + kHop);
            EXPECT_EQ(trace.copies().end[copy], issue + kHop + kShardTime);
            EXPECT_EQ(trace.info().links[static_cast<std::size_t>(trace.copies().link[copy])].name,
                      "device " + std::to_string(copy) + " ICI d+");
        }
        EXPECT_EQ(trace.end(), Picoseconds(issue + kHop + kShardTime));
        EXPECT_EQ(trace.info().agents,
                  (std::vector<std::string>{"device 0 TensorCore 0", "device 1 TensorCore 0",
                                            "device 2 TensorCore 0", "device 3 TensorCore 0"}));
    }
}

// A copy that starts when another one ends reads what that one wrote, whichever link comes first.
TEST(Devices, whatHasJustLandedCanBePassedOn)
{
    std::vector<pl::Scratch> scratch = twoSemaphores();
    scratch.push_back(pl::dmaSemaphores("passed"));
    scratch.push_back({"landed", kF32, {8, 128}, ir::MemorySpace::Hbm});
    const ir::Program program = onDevices(2, scratch, [](pl::Ref x, pl::Ref out, const Refs& refs) {
        pl::remoteDmaStart(x, refs[3], refs[0], refs[1], right(2));
        pl::dmaWait(refs[3], refs[1]);
        pl::dmaStart(refs[3], out, refs[2]);
        pl::dmaWait(out, refs[2]);
        pl::dmaWait(x, refs[0]);
    });
    const machine::RunResult run = runOn(program, 2);
    EXPECT_EQ(findingsText(run), "");
    const std::vector<double> out = elementsOf(run.outputs[0]);
    for (std::size_t row = 0; row < 16; ++row) {
        EXPECT_EQ(out[row * 128], static_cast<double>((row + 8) % 16)) << row;
    }
}

// On a ring of eight, three back is the same place as five on. The copy goes the shorter way, over
// the link to the left.
TEST(Devices, aCopyGoesTheShorterWayRoundTheRing)
{
    const ir::Program program =
        onDevices(8, twoSemaphores(), [](pl::Ref x, pl::Ref out, const Refs& refs) {
            permute(x, out, refs, (pl::axisIndex("d") + 5) % 8);
        });
    const machine::RunResult run = runOn(program, 8);
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0])[0], 24); // from device 3
    const trace::Copies& copies = run.trace->copies();
    EXPECT_EQ(copies.start[0], copies.issue[0] + 3 * kHop);
    EXPECT_EQ(run.trace->info().links[static_cast<std::size_t>(copies.link[0])].name,
              "device 0 ICI d-");
}

// Numbers are row-major: in a mesh of 2 x 4, device 6 is at (1, 2). The copy takes one hop on each
// axis.
TEST(Devices, aMeshOfTwoAxesIsNumberedRowMajor)
{
    const ir::Program program =
        mustTrace(pl::kernel("mesh",
                             {pl::sharded(pl::in("x", kF32, {8, 128}), {{"a", "b"}, {}}),
                              pl::sharded(pl::out("out", kF32, {8, 128}), {{"a", "b"}, {}})},
                             [](pl::Ref x, pl::Ref out) {
                                 pl::onMesh({{"a", 2}, {"b", 4}});
                                 pl::runScoped(twoSemaphores(), [&](const Refs& refs) {
                                     const pl::Value a = (pl::axisIndex("a") + 1) % 2;
                                     const pl::Value b = (pl::axisIndex("b") + 1) % 4;
                                     permute(x, out, refs, a * 4 + b);
                                     return Nothing{};
                                 });
                             }));
    const machine::RunResult run = runOn(program, 8);
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0])[6 * 8 * 128], 8); // (1, 2) gets the part of (0, 1)
    const trace::Copies& copies = run.trace->copies();
    EXPECT_EQ(copies.start[0], copies.issue[0] + 2 * kHop);
}

// Devices of two cores each: a copy goes to the core with the same number, and both halves arrive.
TEST(Devices, eachCoreCopiesToTheSameCoreOfAnotherDevice)
{
    const ir::Program program = onDevices(2, {}, [](pl::Ref x, pl::Ref out, const Refs&) {
        meet(2);
        pl::coreMap("core", 2, [&] {
            pl::runScoped({{"a", kF32, {4, 128}},
                           pl::dmaSemaphores("sent"),
                           pl::dmaSemaphores("received"),
                           pl::semaphores("done")},
                          [&](const Refs& refs) {
                              const pl::Value first = pl::axisIndex("core") * 4;
                              const pl::Ref mine = x.at({pl::ds(first, 4), pl::all});
                              pl::remoteDmaStart(mine, refs[0], refs[1], refs[2], right(2));
                              pl::dmaWait(mine, refs[1]);
                              pl::dmaWait(refs[0], refs[2]);
                              pl::dmaStart(refs[0], out.at({pl::ds(first, 4), pl::all}), refs[2]);
                              pl::dmaWait(refs[0], refs[2]);
                              pl::semaphoreSignalDevice(refs[3], 1, right(2));
                              pl::semaphoreWait(refs[3], 1);
                              return Nothing{};
                          });
        });
    });
    const machine::RunResult run = runOn(program, 2, {}, v5p());
    EXPECT_EQ(findingsText(run), "");
    const std::vector<double> out = elementsOf(run.outputs[0]);
    for (std::size_t row = 0; row < 16; ++row) {
        EXPECT_EQ(out[row * 128], static_cast<double>((row + 8) % 16)) << row;
    }
    ASSERT_EQ(run.trace->info().agents.size(), 4U);
    EXPECT_EQ(run.trace->info().agents[3], "device 1 TensorCore 1");
}

// An array that every device has is not cut. Of an output that all devices have, the first device's
// copy is returned.
TEST(Devices, anArrayThatIsNotCutIsOnEveryDevice)
{
    const ir::Program program = mustTrace(pl::kernel(
        "replicated", {pl::in("x", kF32, {8, 128}), pl::out("out", kF32, {8, 128})},
        [](pl::Ref x, pl::Ref out) {
            pl::onMesh({{"d", 2}});
            pl::runScoped({{"a", kF32, {8, 128}}, pl::dmaSemaphores("sem")}, [&](const Refs& refs) {
                pl::dmaStart(x, refs[0], refs[1]);
                pl::dmaWait(refs[0], refs[1]);
                const pl::Value device = pl::convert(pl::axisIndex("d"), kF32);
                refs[0][pl::all] = refs[0][pl::all] + device;
                pl::dmaStart(refs[0], out, refs[1]);
                pl::dmaWait(out, refs[1]);
                return Nothing{};
            });
        }));
    const machine::RunResult run = runOn(program, 1);
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0])[3 * 128], 3);
    const trace::Copies& copies = run.trace->copies();
    ASSERT_EQ(copies.size(), 4U); // each device has its own HBM, so no copy queues
    EXPECT_EQ(copies.end[0], copies.end[1]);
}

// A signal from another device lets a device go on, and orders what the sender did before.
TEST(Devices, aSignalReachesTheSemaphoreOfAnotherDevice)
{
    const ir::Program program =
        onDevices(2, {pl::semaphores("ready"), pl::dmaSemaphores("sem")},
                  [](pl::Ref x, pl::Ref out, const Refs& refs) {
                      pl::when(pl::axisIndex("d") == 0, [&] {
                          pl::delay(500);
                          pl::semaphoreSignalDevice(refs[0], 3, 1);
                      });
                      pl::when(pl::axisIndex("d") == 1, [&] { pl::semaphoreWait(refs[0], 3); });
                      pl::dmaStart(x, out, refs[1]);
                      pl::dmaWait(out, refs[1]);
                  });
    const machine::RunResult run = runOn(program, 2);
    EXPECT_EQ(findingsText(run), "");
    const trace::Trace& trace = *run.trace;
    ASSERT_EQ(trace.signals().size(), 6U);
    EXPECT_GE(trace.signals().time[0], 500'000);
    const trace::Semaphore& signalled =
        trace.info().semaphores[static_cast<std::size_t>(trace.signals().semaphore[0])];
    EXPECT_EQ(signalled.name, "ready");
    EXPECT_EQ(signalled.agent, 1);
}

// Every device signals every other one and waits for all signals: none passes before the last one
// arrives.
TEST(Devices, aBarrierHoldsAllDevicesUntilTheLastOneComes)
{
    const ir::Program program =
        onDevices(3, {pl::dmaSemaphores("sem")}, [](pl::Ref x, pl::Ref out, const Refs& refs) {
            pl::delay(pl::axisIndex("d") * 1000);
            meet(3);
            pl::dmaStart(x, out, refs[0]);
            pl::dmaWait(out, refs[0]);
        });
    const machine::RunResult run = runOn(program, 3);
    EXPECT_EQ(findingsText(run), "");
    const trace::Copies& copies = run.trace->copies();
    ASSERT_EQ(copies.size(), 3U);
    EXPECT_GE(copies.issue[0], 2'000'000);
    EXPECT_EQ(copies.issue[0], copies.issue[2]);
}

// The receiver reads its buffer without waiting for the copy that arrives there.
TEST(Devices, readingBeforeTheCopyOfAnotherDeviceIsAwaitedIsFound)
{
    const auto program = [](bool waits) {
        return onDevices(
            2, {pl::dmaSemaphores("sent"), pl::dmaSemaphores("received"), {"a", kF32, {8, 128}}},
            [&](pl::Ref x, pl::Ref out, const Refs& refs) {
                meet(2);
                pl::runScoped({pl::dmaSemaphores("sem"), {"b", kF32, {8, 128}}},
                              [&](const Refs& mine) {
                                  pl::dmaStart(x, mine[1], mine[0]);
                                  pl::dmaWait(mine[1], mine[0]);
                                  pl::remoteDmaStart(mine[1], refs[2], refs[0], refs[1], right(2));
                                  pl::dmaWait(mine[1], refs[0]);
                                  if (waits) {
                                      pl::dmaWait(refs[2], refs[1]);
                                  }
                                  mine[1][pl::all] = refs[2][pl::all] + 0.0;
                                  if (!waits) {
                                      pl::dmaWait(refs[2], refs[1]);
                                  }
                                  pl::dmaStart(mine[1], out, mine[0]);
                                  pl::dmaWait(out, mine[0]);
                                  return Nothing{};
                              });
            });
    };
    EXPECT_EQ(findingsText(runOn(program(true), 2)), "");
    const machine::RunResult run = runOn(program(false), 2);
    ASSERT_EQ(findingsOf(run, "read_before_wait").size(), 1U);
    EXPECT_EQ(findingsOf(run, "read_before_wait")[0].operand, "a");
    EXPECT_EQ(findingsOf(run, "read_before_wait")[0].count, 2); // on both devices
    const std::string message = findingsOf(run, "read_before_wait")[0].message;
    EXPECT_NE(message.find("while a copy that nobody has waited for writes"), std::string::npos)
        << message;
}

// Device 0 and device 2 copy into the same buffer of device 1, which has waited for the first copy.
TEST(Devices, aRaceWithACopyNamesTheOneThatWaitedForIt)
{
    const ir::Program program =
        onDevices(3,
                  {pl::dmaSemaphores("sent"),
                   pl::dmaSemaphores("first"),
                   pl::dmaSemaphores("second"),
                   {"a", kF32, {8, 128}}},
                  [&](pl::Ref x, pl::Ref, const Refs& refs) {
                      pl::when(pl::axisIndex("d") == 0, [&] {
                          pl::remoteDmaStart(x, refs[3], refs[0], refs[1], 1);
                          pl::dmaWait(x, refs[0]);
                      });
                      pl::when(pl::axisIndex("d") == 1, [&] {
                          pl::dmaWait(refs[3], refs[1]);
                          pl::dmaWait(refs[3], refs[2]);
                      });
                      pl::when(pl::axisIndex("d") == 2, [&] {
                          pl::delay(100'000);
                          pl::remoteDmaStart(x, refs[3], refs[0], refs[2], 1);
                          pl::dmaWait(x, refs[0]);
                      });
                  });
    const machine::RunResult run = runOn(program, 3);
    ASSERT_EQ(findingsOf(run, "race").size(), 1U) << findingsText(run);
    const std::string message = findingsOf(run, "race")[0].message;
    EXPECT_EQ(message.find("device 2 TensorCore 0 writes a (a copy that starts at"), 0U) << message;
    EXPECT_NE(message.find("and a copy that device 1 TensorCore 0 has waited for writes the same "
                           "elements (started at"),
              std::string::npos)
        << message;
}

// Device 1 writes its buffer and device 0 copies into it. Only a signal orders the two.
TEST(Devices, aCopyIntoWhatAnotherDeviceWritesIsARaceUnlessASignalOrdersThem)
{
    const auto program = [](bool orders) {
        return onDevices(2,
                         {pl::dmaSemaphores("sent"),
                          pl::dmaSemaphores("received"),
                          {"a", kF32, {8, 128}},
                          pl::semaphores("free")},
                         [&](pl::Ref x, pl::Ref, const Refs& refs) {
                             pl::when(pl::axisIndex("d") == 1, [&] {
                                 refs[2][pl::all] = pl::full({8, 128}, 7, kF32);
                                 if (orders) {
                                     pl::semaphoreSignalDevice(refs[3], 1, 0);
                                 }
                                 pl::dmaWait(refs[2], refs[1]);
                             });
                             pl::when(pl::axisIndex("d") == 0, [&] {
                                 if (orders) {
                                     pl::semaphoreWait(refs[3], 1);
                                 }
                                 pl::delay(100);
                                 pl::remoteDmaStart(x, refs[2], refs[0], refs[1], 1);
                                 pl::dmaWait(x, refs[0]);
                             });
                         });
    };
    EXPECT_EQ(findingsBesidesResults(runOn(program(true), 2)), "");
    const machine::RunResult run = runOn(program(false), 2);
    ASSERT_EQ(findingsOf(run, "race").size(), 1U);
    EXPECT_NE(findingsOf(run, "race")[0].message.find("device 1 TensorCore 0 writes"),
              std::string::npos);
}

// Two copies from one device signal one semaphore, and each is waited for separately. With on_wait
// the second moves first, and the first is read before it has arrived. JAX's all-gather has this
// race.
TEST(Devices, onWaitDoesTheLastOfTwoCopiesOnOneSemaphoreFirst)
{
    const ir::Program program =
        onDevices(2, twoSemaphores(), [](pl::Ref x, pl::Ref out, const Refs& refs) {
            meet(2);
            pl::runScoped({{"a", kF32, {2, 8, 128}}, pl::dmaSemaphores("sem")},
                          [&](const Refs& mine) {
                              pl::when(pl::axisIndex("d") == 0, [&] {
                                  for (std::int32_t i = 0; i < 2; ++i) {
                                      pl::remoteDmaStart(x, mine[0].at({i, pl::all, pl::all}),
                                                         refs[0], refs[1], 1);
                                  }
                                  pl::dmaWait(x, refs[0]);
                                  pl::dmaWait(x, refs[0]);
                              });
                              pl::when(pl::axisIndex("d") == 1, [&] {
                                  const pl::Ref first = mine[0].at({0, pl::all, pl::all});
                                  pl::dmaWait(first, refs[1]);
                                  pl::dmaStart(first, out, mine[1]);
                                  pl::dmaWait(out, mine[1]);
                                  pl::dmaWait(first, refs[1]);
                              });
                              return Nothing{};
                          });
        });
    const machine::RunResult eager =
        runOn(program, 2, {.dmaExecutionMode = machine::DmaMode::Eager});
    EXPECT_EQ(findingsBesidesResults(eager), "");
    EXPECT_EQ(elementsOf(eager.outputs[0])[8 * 128], 0);
    const machine::RunResult late =
        runOn(program, 2, {.dmaExecutionMode = machine::DmaMode::OnWait});
    EXPECT_EQ(findingsOf(late, "read_before_wait").size(), 1U);
    // With their times they arrive in order, but a wait cannot know that.
    const machine::RunResult timed = runOn(program, 2);
    EXPECT_EQ(elementsOf(timed.outputs[0])[8 * 128], 0);
    EXPECT_EQ(findingsOf(timed, "read_before_wait").size(), 1U);
    EXPECT_TRUE(std::isnan(elementsOf(late.outputs[0])[8 * 128]));
}

TEST(Devices, aSignalThatNobodyTakesIsLeftOverOnThatDevice)
{
    const ir::Program program =
        onDevices(2, {pl::semaphores("extra")}, [](pl::Ref, pl::Ref, const Refs& refs) {
            pl::when(pl::axisIndex("d") == 0, [&] { pl::semaphoreSignalDevice(refs[0], 1, 1); });
            pl::delay(1000);
        });
    const machine::RunResult run = runOn(program, 2);
    EXPECT_EQ(findingsOf(run, "semaphore_left_over").size(), 1U);
}

TEST(Devices, aCopyThatItsReceiverNeverAwaitsIsFound)
{
    const ir::Program program =
        onDevices(2, twoSemaphores(), [](pl::Ref x, pl::Ref out, const Refs& refs) {
            pl::remoteDmaStart(x, out, refs[0], refs[1], right(2));
            pl::dmaWait(x, refs[0]);
        });
    const machine::RunResult run = runOn(program, 2);
    ASSERT_EQ(findingsOf(run, "copy_never_awaited").size(), 1U);
    EXPECT_EQ(findingsOf(run, "copy_never_awaited")[0].operand, "received");
    EXPECT_EQ(findingsOf(run, "copy_never_awaited")[0].count, 2);
}

TEST(Devices, devicesThatWaitForEachOtherAreADeadlock)
{
    const ir::Program program =
        onDevices(2, {pl::semaphores("ready")}, [](pl::Ref, pl::Ref, const Refs& refs) {
            pl::semaphoreWait(refs[0], 1);
            pl::semaphoreSignalDevice(refs[0], 1, right(2));
        });
    const machine::RunResult run = runOn(program, 2);
    ASSERT_EQ(findingsOf(run, "deadlock").size(), 1U);
    const std::string message = findingsOf(run, "deadlock")[0].message;
    EXPECT_NE(message.find("device 0 TensorCore 0 and another wait at"), std::string::npos)
        << message;
}

// The scope with the target begins a microsecond later.
TEST(Devices, aCopyToWhatTheOtherDeviceDoesNotHaveYetStopsTheRun)
{
    const ir::Program program =
        onDevices(2, twoSemaphores(), [](pl::Ref x, pl::Ref, const Refs& refs) {
            pl::delay(pl::axisIndex("d") * 1000);
            pl::runScoped({{"a", kF32, {8, 128}}}, [&](const Refs& mine) {
                permute(x, mine[0], refs, right(2));
                return Nothing{};
            });
        });
    const machine::RunResult run = runOn(program, 2);
    ASSERT_EQ(findingsOf(run, "peer_not_ready").size(), 1U);
    EXPECT_EQ(findingsOf(run, "peer_not_ready")[0].operand, "a");
}

// Device 0 is done and its semaphores no longer exist when device 1 copies to it.
TEST(Devices, aCopyToADeviceThatIsDoneStopsTheRun)
{
    const ir::Program program =
        onDevices(2, twoSemaphores(), [](pl::Ref x, pl::Ref out, const Refs& refs) {
            pl::when(pl::axisIndex("d") == 1, [&] {
                pl::delay(1000);
                permute(x, out, refs, right(2));
            });
        });
    const machine::RunResult run = runOn(program, 2);
    ASSERT_EQ(findingsOf(run, "peer_not_ready").size(), 1U);
    EXPECT_EQ(findingsOf(run, "peer_not_ready")[0].operand, "received");
}

TEST(Devices, aDeviceThatIsNotThereEndsTheRunAtItsLine)
{
    const auto sentence = [](const ir::Program& program, std::int32_t devices) -> std::string {
        const Result<machine::RunResult> run = machine::run(program, {rows(devices)}, v5e(), {});
        return run ? "ran" : run.error().message;
    };
    const Body toFour = [](pl::Ref x, pl::Ref out, const Refs& refs) {
        pl::remoteDmaStart(x, out, refs[0], refs[1], 4);
    };
    const machine::RunResult outside = runOn(onDevices(4, twoSemaphores(), toFour), 4);
    ASSERT_EQ(findingsOf(outside, "no_such_device").size(), 1U) << findingsText(outside);
    const trace::Finding found = findingsOf(outside, "no_such_device")[0];
    EXPECT_GT(found.source.line, 0);
    EXPECT_EQ(found.message, "device 0 TensorCore 0 names device 4, but the mesh of on_devices has "
                             "4, numbered from 0: the run stops there.");
    ir::Program alone = onDevices(4, {pl::semaphores("sem")}, [](pl::Ref, pl::Ref, const Refs& r) {
        pl::semaphoreSignalDevice(r[0], 1, 1);
    });
    alone.mesh.clear();
    for (ir::Argument& argument : alone.arguments) {
        argument.partition.clear();
    }
    const std::string without = sentence(alone, 1);
    EXPECT_NE(without.find("semaphore_signal names device 1; the program runs on device 0 alone, "
                           "as it has no mesh of devices."),
              std::string::npos)
        << without;
}

TEST(Devices, aChipWithoutAnInterconnectCopiesToNoOtherDevice)
{
    const ir::Program program =
        onDevices(2, twoSemaphores(), [](pl::Ref x, pl::Ref out, const Refs& refs) {
            permute(x, out, refs, right(2));
        });
    chip::Chip alone = v5e();
    alone.interconnect.reset();
    const Result<machine::RunResult> run = machine::run(program, {rows(2)}, alone, {});
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find("the chip TPU v5e has no interconnect"), std::string::npos)
        << run.error().message;
}

// The report names links by their kind and shows the busiest one; waits are the average over all
// devices.
TEST(Devices, theReportNamesTheInterconnect)
{
    const ir::Program program =
        onDevices(4, twoSemaphores(), [](pl::Ref x, pl::Ref out, const Refs& refs) {
            permute(x, out, refs, right(4));
        });
    const Result<analysis::Report> report = analysis::report(*runOn(program, 4).trace);
    ASSERT_TRUE(report) << report.error().message;
    const std::map<std::string, Picoseconds> busy(report->busy.begin(), report->busy.end());
    EXPECT_EQ(busy.at("ICI"), Picoseconds(kShardTime));
    EXPECT_EQ(busy.at("HBM"), Picoseconds(0));
    EXPECT_EQ(report->split.compute + report->split.exposedCopies, report->time);
    ASSERT_EQ(report->traffic.size(), 2U); // read at one end and written at the other
    EXPECT_DOUBLE_EQ(report->traffic[0].refetchFactor, 1); // each device moves its own part
    EXPECT_DOUBLE_EQ(report->traffic[1].refetchFactor, 1);
    EXPECT_DOUBLE_EQ(report->roofline.memory.datasheet.value(), 4 * 819e9);
}

// What lies in VMEM at both ends is neither read from HBM nor written to it.
TEST(Devices, aCopyBetweenMemoriesOnChipsDoesNotCountAsThatOfHbm)
{
    const std::vector<pl::Scratch> scratch{{"a", kF32, {8, 128}},
                                           {"b", kF32, {8, 128}},
                                           pl::dmaSemaphores("sent"),
                                           pl::dmaSemaphores("received")};
    const ir::Program program = onDevices(2, scratch, [](pl::Ref x, pl::Ref out, const Refs& refs) {
        meet(2);
        pl::dmaStart(x, refs[0], refs[2]);
        pl::dmaWait(refs[0], refs[2]);
        permute(refs[0], refs[1], {refs[2], refs[3]}, right(2));
        pl::dmaStart(refs[1], out, refs[2]);
        pl::dmaWait(out, refs[2]);
    });
    const machine::RunResult run = runOn(program, 2);
    EXPECT_EQ(findingsText(run), "");
    const Result<analysis::Report> report = analysis::report(*run.trace);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->hbmRead, Bytes(2 * 4096));
    EXPECT_EQ(report->hbmWritten, Bytes(2 * 4096));
    ASSERT_EQ(report->traffic.size(), 3U);
    EXPECT_EQ(report->traffic[1].way, trace::Summary::OnChip);
    EXPECT_EQ(report->traffic[1].bytes, Bytes(2 * 4096));
    EXPECT_TRUE(run.trace->info().operands[1].isOnChip);
}

TEST(Devices, moreValuesThanThereIsRoomForAreRefused)
{
    ir::Program program = onDevices(2, {}, [](pl::Ref, pl::Ref, const Refs&) {});
    program.mesh = {{"d", 256}};
    program.values.resize(100'000);
    const Result<machine::RunResult> run =
        machine::run(program, {Array{kF32, {2048, 128}, nullptr}}, v5e(),
                     {.values = machine::ValueMode::Needed});
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find("256 devices with"), std::string::npos)
        << run.error().message;
}

// Both value modes give the same events.
TEST(Devices, neededValuesGiveTheSameTimes)
{
    const ir::Program program =
        onDevices(4, twoSemaphores(), [](pl::Ref x, pl::Ref out, const Refs& refs) {
            permute(x, out, refs, right(4));
        });
    const machine::RunResult full = runOn(program, 4);
    const machine::RunResult needed =
        mustRun(program, {Array{kF32, {32, 128}, nullptr}}, machine::ValueMode::Needed);
    EXPECT_EQ(full.trace->copies().end, needed.trace->copies().end);
    EXPECT_EQ(full.trace->waits().end, needed.trace->waits().end);
}

} // namespace pallascope::machine_test
