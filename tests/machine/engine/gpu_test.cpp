// Runs kernels of a GPU: blocks on SMs, warpgroups that share a block's memory, copies by the TMA,
// barriers, groups of stores, products of the tensor core.
#include "core/ir/builder_gpu.h"
#include "tests/machine/support.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;
using Refs = std::vector<pl::Ref>;

machine::RunResult runOnGpu(const ir::Program& program, const std::vector<Array>& inputs,
                            machine::ValueMode values = machine::ValueMode::Full)
{
    return mustRun(program, inputs, values, h100());
}

constexpr Extent kTileElements = 256;

// Each block doubles a tile of x: in by the TMA, out by the TMA.
struct DoubleParts
{
    bool waitsIn = true, waitsOut = true;
};

ir::Program doubleProgram(Extent blocks, const DoubleParts& parts = {})
{
    return mustTrace(pl::kernel(
        "double",
        {pl::in("x", kF32, {blocks * kTileElements}), pl::out("y", kF32, {blocks * kTileElements})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::launch({{{"block", static_cast<std::int32_t>(blocks)}}}, [&] {
                const pl::Value first = pl::axisIndex("block") * static_cast<int>(kTileElements);
                gpu::runScoped({gpu::smem("in", kF32, {kTileElements}),
                                gpu::smem("out", kF32, {kTileElements}), gpu::barrier("ready")},
                               true, [&](const Refs& refs) {
                                   gpu::copyGmemToSmem(x.at(pl::ds(first, kTileElements)), refs[0],
                                                       refs[2]);
                                   if (parts.waitsIn) {
                                       gpu::barrierWait(refs[2]);
                                   }
                                   refs[1][pl::all] = refs[0][pl::all].load() * 2.0F;
                                   gpu::commitSmem();
                                   gpu::copySmemToGmem(refs[1], y.at(pl::ds(first, kTileElements)));
                                   if (parts.waitsOut) {
                                       gpu::waitSmemToGmem(0);
                                   }
                               });
            });
        }));
}

} // namespace

TEST(Gpu, blocksCopyInAndOutByTheTma)
{
    constexpr Extent kManyBlocks = 300; // more than there are SMs
    const Array x = counting(kF32, {kManyBlocks * kTileElements});
    const machine::RunResult run = runOnGpu(doubleProgram(kManyBlocks), {x});
    EXPECT_EQ(findingsText(run), "");
    std::vector<double> expected = elementsOf(x);
    for (double& element : expected) {
        element *= 2;
    }
    EXPECT_EQ(elementsOf(run.outputs[0]), expected);
}

// Loads and stores without a copy are recorded as those of the tile that they reach.
TEST(Gpu, loadsAndStoresOfGmemAreOfTheBlocksThatTheyReach)
{
    constexpr Extent kRows = 8, kColumns = 64, kDown = 2, kAcross = 3;
    const Shape all{kDown * kRows, kAcross * kColumns};
    const ir::Program program = mustTrace(pl::kernel(
        "tiles", {pl::in("x", kF32, all), pl::out("y", kF32, all)}, [&](pl::Ref x, pl::Ref y) {
            gpu::launch({{{"i", kDown}, {"j", kAcross}}}, [&] {
                const pl::Value row = pl::axisIndex("i") * static_cast<int>(kRows),
                                column = pl::axisIndex("j") * static_cast<int>(kColumns);
                const auto tile = [&](const pl::Ref& ref) {
                    return ref.at({pl::ds(row, kRows), pl::ds(column, kColumns)});
                };
                tile(y)[pl::all] = tile(x)[pl::all].load() * 2.0F;
            });
        }));
    const machine::RunResult run = runOnGpu(program, {counting(kF32, all)});
    const trace::Copies& copies = run.trace->copies();
    std::vector<std::int64_t> loaded, stored;
    for (std::size_t i = 0; i < copies.block.size(); ++i) {
        (copies.out[i] != 0 ? stored : loaded).push_back(copies.block[i]);
    }
    std::sort(loaded.begin(), loaded.end());
    std::sort(stored.begin(), stored.end());
    const std::vector<std::int64_t> each{0, 1, 2, 3, 4, 5};
    EXPECT_EQ(loaded, each);
    EXPECT_EQ(stored, each);
}

// The TMA fills with zeros what lies behind an array, and drops it: nothing moves.
TEST(Gpu, aTileThatLiesBehindItsArrayReadsAsZerosAndIsDropped)
{
    constexpr Extent kRows = 2 * kTileElements;
    const auto run = [&](std::int32_t first) {
        const ir::Program program = mustTrace(pl::kernel(
            "behind",
            {pl::in("at", DType::Int32, {1}), pl::in("x", kF32, {kRows}),
             pl::out("y", kF32, {kRows})},
            [&](pl::Ref at, pl::Ref x, pl::Ref y) {
                gpu::launch({}, [&] {
                    gpu::runScoped(
                        {gpu::smem("tile", kF32, {kTileElements}), gpu::barrier("ready")}, true,
                        [&](const Refs& refs) {
                            const pl::Value from = at[0].load();
                            gpu::copyGmemToSmem(x.at(pl::ds(from, kTileElements)), refs[0],
                                                refs[1]);
                            gpu::barrierWait(refs[1]);
                            gpu::copySmemToGmem(refs[0], y.at(pl::ds(0, kTileElements)));
                            gpu::copySmemToGmem(refs[0],
                                                y.at(pl::ds(kTileElements, kTileElements)));
                            gpu::copySmemToGmem(refs[0], y.at(pl::ds(from, kTileElements)));
                            gpu::waitSmemToGmem(0);
                        });
                });
            }));
        return runOnGpu(program, {arrayOf(DType::Int32, {1}, {static_cast<double>(first)}),
                                  counting(kF32, {kRows})});
    };
    const machine::RunResult behind = run(kRows + 8), inside = run(kTileElements);
    EXPECT_EQ(findingsText(behind), "");
    EXPECT_EQ(elementsOf(behind.outputs[0]), std::vector<double>(kRows, 0));
    EXPECT_LT(behind.trace->end(), inside.trace->end());
}

TEST(Gpu, aReadBeforeTheBarrierIsFound)
{
    const machine::RunResult run =
        runOnGpu(doubleProgram(1, {.waitsIn = false}), {counting(kF32, {kTileElements})});
    EXPECT_EQ(findingsOf(run, "read_before_wait").size(), 1U) << findingsText(run);
}

TEST(Gpu, aStoreForWhichNobodyWaitsIsCutOff)
{
    const machine::RunResult run =
        runOnGpu(doubleProgram(1, {.waitsOut = false}), {counting(kF32, {kTileElements})});
    EXPECT_EQ(findingsOf(run, "freed_in_flight").size(), 1U) << findingsText(run);
}

namespace {

struct Ring
{
    bool waitsForFree = true;  // warpgroup 1, before it refills a slot
    bool waitsForReady = true; // warpgroup 0, before it loads from one
    int readsLater = 0;        // ns
};

// Warpgroup 1 brings tiles into `slots` slots; warpgroup 0 adds them up and gives the slots back.
ir::Program ringProgram(std::int32_t tiles, std::int32_t slots, const Ring& ring = {})
{
    return mustTrace(pl::kernel(
        "ring", {pl::in("x", kF32, {tiles, kTileElements}), pl::out("y", kF32, {kTileElements})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::launch({{}, 2, "wg"}, [&] {
                const auto body = [&](const Refs& refs) {
                    const pl::Ref &tile = refs[0], &ready = refs[1], &free = refs[2];
                    const auto isMemory = pl::axisIndex("wg") == 1;
                    pl::when(isMemory, [&] {
                        pl::foriLoop(tiles, {}, [&](pl::Value i, std::vector<pl::Value>) {
                            const pl::Value slot = i % slots;
                            if (ring.waitsForFree) {
                                pl::when(i >= slots, [&] { gpu::barrierWait(free.at(slot)); });
                            }
                            gpu::copyGmemToSmem(x.at({i, pl::all}), tile.at({slot, pl::all}),
                                                ready.at(slot));
                            return std::vector<pl::Value>{};
                        });
                    });
                    pl::when(pl::axisIndex("wg") == 0, [&] {
                        if (ring.readsLater > 0) {
                            pl::delay(ring.readsLater);
                        }
                        const std::vector<pl::Value> sum = pl::foriLoop(
                            tiles, {pl::full({kTileElements}, 0, kF32)},
                            [&](pl::Value i, std::vector<pl::Value> carry) {
                                const pl::Value slot = i % slots;
                                if (ring.waitsForReady) {
                                    gpu::barrierWait(ready.at(slot));
                                }
                                pl::Value next =
                                    carry[0] + tile.at({slot, pl::all})[pl::all].load();
                                gpu::commitSmem();
                                gpu::barrierArrive(free.at(slot));
                                return std::vector<pl::Value>{next};
                            });
                        y[pl::all] = sum[0];
                    });
                };
                gpu::runScoped({gpu::smem("tile", kF32, {slots, kTileElements}),
                                gpu::barrier("ready", 1, {slots}),
                                gpu::barrier("free", 1, {slots})},
                               true, body);
            });
        }));
}

} // namespace

// Whichever warpgroup copies, what the block shares counts as the memory of its first one.
TEST(Gpu, copiesIntoSharedMemoryLieInThatOfTheFirstWarpgroup)
{
    const machine::RunResult run =
        runOnGpu(ringProgram(8, 2), {counting(kF32, {8, kTileElements})});
    const trace::CopyEnds& ends = run.trace->copyEnds();
    std::int64_t copiesIn = 0;
    for (std::size_t end = 1; end < ends.size(); end += 2) { // targets
        copiesIn += ends.agent[end] == 0 ? 1 : 0;
    }
    EXPECT_EQ(copiesIn, 8);
    EXPECT_EQ(ends.size(), 16U);
}

TEST(Gpu, warpgroupsHandTilesOverByBarriers)
{
    const Array x = counting(kF32, {8, kTileElements});
    const machine::RunResult run = runOnGpu(ringProgram(8, 2), {x});
    EXPECT_EQ(findingsText(run), "");
    std::vector<double> expected(kTileElements, 0.0);
    const std::vector<double> elements = elementsOf(x);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        expected[i % kTileElements] += elements[i];
    }
    EXPECT_EQ(elementsOf(run.outputs[0]), expected);
}

TEST(Gpu, aSlotThatIsFilledBeforeItIsFreeIsFound)
{
    const machine::RunResult run =
        runOnGpu(ringProgram(8, 2, {.waitsForFree = false}), {counting(kF32, {8, kTileElements})});
    EXPECT_NE(findingsText(run), "");
    EXPECT_TRUE(findingsOf(run, "read_before_wait").empty()) << findingsText(run);
}

// The load lacks the wait, whether the copy that it should wait for has started by then or not.
TEST(Gpu, aLoadOfAnotherWarpgroupsCopyWithoutAWaitIsFoundAtTheLoad)
{
    for (const int later : {0, 100'000}) {
        const ir::Program program =
            ringProgram(2, 2, {.waitsForReady = false, .readsLater = later});
        const machine::RunResult run = runOnGpu(program, {counting(kF32, {2, kTileElements})});
        const auto found = findingsOf(run, "read_before_wait");
        ASSERT_EQ(found.size(), 1U) << findingsText(run);
        EXPECT_EQ(found[0].operand, "tile");
        EXPECT_NE(
            found[0].message.find(" without a wait for the copy that writes the same elements"),
            std::string::npos)
            << found[0].message;
        EXPECT_NE(found[0].message.find("Wait at the barrier ready first"), std::string::npos)
            << found[0].message;
        EXPECT_EQ(findingsBesidesResults(run), "read_before_wait x" + std::to_string(found[0].count)
                                                   + ": " + found[0].message + "; ");
        EXPECT_EQ(findingsBesidesResults(run),
                  findingsBesidesResults(mustRun(program, {counting(kF32, {2, kTileElements})},
                                                 machine::ValueMode::Needed, h100())));
    }
}

namespace {

// A matrix product by tiles, as in a Hopper kernel of one warpgroup with `slots` slots.
ir::Program productProgram(Extent m, Extent n, Extent k, std::int32_t slots, bool waits)
{
    constexpr Extent kM = 64, kN = 128, kK = 64;
    return mustTrace(pl::kernel(
        "product",
        {pl::in("a", DType::F16, {m, k}), pl::in("b", DType::F16, {k, n}),
         pl::out("c", kF32, {m, n})},
        [&](pl::Ref a, pl::Ref b, pl::Ref c) {
            gpu::launch({{{"m", static_cast<std::int32_t>(m / kM)},
                          {"n", static_cast<std::int32_t>(n / kN)}}},
                        [&] {
                            const pl::Value row = pl::axisIndex("m") * static_cast<int>(kM),
                                            column = pl::axisIndex("n") * static_cast<int>(kN);
                            const auto body = [&](const Refs& refs) {
                                const auto fetch = [&](const pl::Value& step) {
                                    const pl::Value slot = step % slots,
                                                    at = step * static_cast<int>(kK);
                                    gpu::copyGmemToSmem(a.at({pl::ds(row, kM), pl::ds(at, kK)}),
                                                        refs[0].at({slot, pl::all, pl::all}),
                                                        refs[2].at(slot));
                                    gpu::copyGmemToSmem(b.at({pl::ds(at, kK), pl::ds(column, kN)}),
                                                        refs[1].at({slot, pl::all, pl::all}),
                                                        refs[2].at(slot));
                                };
                                const auto steps = static_cast<std::int64_t>(k / kK);
                                pl::foriLoop(slots, {}, [&](pl::Value i, std::vector<pl::Value>) {
                                    fetch(i);
                                    return std::vector<pl::Value>{};
                                });
                                pl::foriLoop(steps, {}, [&](pl::Value i, std::vector<pl::Value>) {
                                    const pl::Value slot = i % slots;
                                    gpu::barrierWait(refs[2].at(slot));
                                    gpu::wgmma(refs[3], refs[0].at({slot, pl::all, pl::all}),
                                               refs[1].at({slot, pl::all, pl::all}));
                                    gpu::wgmmaWait(0);
                                    pl::when(i + slots < static_cast<int>(steps),
                                             [&] { fetch(i + slots); });
                                    return std::vector<pl::Value>{};
                                });
                                if (!waits) {
                                    gpu::wgmma(refs[3], refs[0].at({0, pl::all, pl::all}),
                                               refs[1].at({0, pl::all, pl::all}));
                                }
                                c[{pl::ds(row, kM), pl::ds(column, kN)}] = gpu::load(refs[3]);
                            };
                            gpu::runScoped({gpu::smem("a_smem", DType::F16, {slots, kM, kK}),
                                            gpu::smem("b_smem", DType::F16, {slots, kK, kN}),
                                            gpu::barrier("ready", 2, {slots}),
                                            gpu::accumulator("acc", {kM, kN})},
                                           true, body);
                        });
        }));
}

} // namespace

TEST(Gpu, theTensorCoreAddsProductsToAnAccumulator)
{
    constexpr Extent kM = 128, kN = 256, kK = 256;
    const Array a = normalArray(DType::F16, {kM, kK}, 0), b = normalArray(DType::F16, {kK, kN}, 1);
    const machine::RunResult run = runOnGpu(productProgram(kM, kN, kK, 2, true), {a, b});
    EXPECT_EQ(findingsText(run), "");
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const std::vector<double> left = elementsOf(a), right = elementsOf(b),
                              found = elementsOf(run.outputs[0]);
    const Matrix expected = Eigen::Map<const Matrix>(left.data(), kM, kK)
                            * Eigen::Map<const Matrix>(right.data(), kK, kN);
    for (Extent i = 0; i < kM * kN; ++i) {
        EXPECT_NEAR(found[static_cast<std::size_t>(i)], expected.data()[i], 1e-3);
    }
}

TEST(Gpu, anAccumulatorThatIsReadTooSoonIsFound)
{
    const machine::RunResult run =
        runOnGpu(productProgram(64, 128, 128, 2, false),
                 {normalArray(DType::F16, {64, 128}, 0), normalArray(DType::F16, {128, 128}, 1)});
    EXPECT_EQ(findingsOf(run, "read_before_wait").size(), 1U) << findingsText(run);
}

TEST(Gpu, aPhaseThatNobodyWaitsForAndOneThatStaysOpenAreFound)
{
    const auto arriving = [](int times, std::int32_t arrivals) {
        return mustTrace(pl::kernel("arrives", {pl::out("y", kF32, {8})}, [&](pl::Ref y) {
            gpu::launch({}, [&] {
                y[pl::all] = pl::full({8}, 0, kF32);
                gpu::runScoped({gpu::barrier("ready", arrivals)}, true, [&](const Refs& refs) {
                    for (int i = 0; i < times; ++i) {
                        gpu::barrierArrive(refs[0]);
                    }
                });
            });
        }));
    };
    EXPECT_EQ(findingsOf(runOnGpu(arriving(2, 1), {}), "barrier_misuse").size(), 1U);
    EXPECT_EQ(findingsOf(runOnGpu(arriving(1, 2), {}), "barrier_misuse").size(), 1U);
    EXPECT_EQ(findingsText(runOnGpu(arriving(1, 1), {})), "");
}

// A warpgroup that arrives at a barrier of its own and waits for it finds the phase complete: each
// round takes an arrival and a load from shared memory, as the chip file says (arrive_cycles,
// shared_load_cycles).
TEST(Gpu, arrivalsAndWaitsTakeTheirCycles)
{
    const auto timeOf = [](std::int64_t rounds) {
        const ir::Program program =
            mustTrace(pl::kernel("rounds", {pl::out("y", kF32, {kTileElements})}, [&](pl::Ref y) {
                gpu::launch({}, [&] {
                    gpu::runScoped({gpu::barrier("own")}, true, [&](const Refs& refs) {
                        (void)pl::foriLoop(rounds, {}, [&](pl::Value, std::vector<pl::Value>) {
                            gpu::barrierArrive(refs[0]);
                            gpu::barrierWait(refs[0]);
                            return std::vector<pl::Value>{};
                        });
                    });
                    y[pl::all] = pl::full({kTileElements}, 0, kF32);
                });
            }));
        return runOnGpu(program, {}).trace->end();
    };
    const chip::Chip chip = h100();
    const double cycles = chip.multiprocessor->arriveCycles + chip.multiprocessor->sharedLoadCycles;
    const double expected = 100 * cycles / static_cast<double>(chip.agents[0].clock.value()) * 1e12;
    const double took = static_cast<double>((timeOf(150) - timeOf(50)).value());
    EXPECT_GE(took, expected);
    EXPECT_LT(took, 1.5 * expected); // the loop itself takes a few cycles
}

TEST(Gpu, neededRunsHaveTheSameTimes)
{
    const ir::Program program = productProgram(128, 256, 256, 2, true);
    const machine::RunResult full = runOnGpu(
        program, {normalArray(DType::F16, {128, 256}, 0), normalArray(DType::F16, {256, 256}, 1)});
    const machine::RunResult needed =
        runOnGpu(program, {Array{DType::F16, {128, 256}, {}}, Array{DType::F16, {256, 256}, {}}},
                 machine::ValueMode::Needed);
    EXPECT_EQ(full.trace->end(), needed.trace->end());
    EXPECT_EQ(full.trace->copies().size(), needed.trace->copies().size());
}

} // namespace pallascope::machine_test
