// Runs kernels of a GPU with several blocks on an SM: where and when each block begins, and what
// blocks of one SM share.
#include "core/chip/clock.h"
#include "core/cost/block_grid.h"
#include "core/ir/builder_gpu.h"
#include "core/machine/trace_without_run.h"
#include "tests/machine/support.h"
#include "tests/support/tried.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>
#include <set>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;
using Refs = std::vector<pl::Ref>;

// An H100 with this many SMs.
chip::Chip withSms(std::int64_t sms)
{
    auto file = nlohmann::ordered_json::parse(h100().json);
    file["agents"][0]["slots"]["value"] = sms;
    return chip::parse(file.dump(), "few_sms.json").value();
}

// As many registers a thread as a block may have, so that an SM has room for two blocks of a
// warpgroup.
const machine::Settings kMost{.registers = cost::kMostRegisters};

machine::RunResult runOnSms(const chip::Chip& chip, const ir::Program& program,
                            const machine::Settings& settings = kMost,
                            const std::vector<Array>& inputs = {})
{
    machine::Options options;
    options.settings = settings;
    Result<machine::RunResult> run = machine::run(program, inputs, chip, options);
    if (!run) {
        throw std::runtime_error(run.error().message);
    }
    return *std::move(run);
}

// Each block only waits: `delay` has the nanoseconds.
ir::Program waitingProgram(std::int32_t blocks, const std::function<pl::Operand()>& delay,
                           std::int32_t warpgroups = 1, Extent sharedFloats = 0)
{
    return mustTrace(pl::kernel("waits", {pl::out("y", kF32, {8})}, [&](pl::Ref y) {
        gpu::launch({{{"block", blocks}}, warpgroups}, [&] {
            if (sharedFloats > 0) {
                gpu::runScoped({gpu::smem("taken", kF32, {sharedFloats})}, true,
                               [&](const Refs&) { pl::delay(delay()); });
            } else {
                pl::delay(delay());
            }
        });
        gpu::launch({}, [&] { y[pl::all] = pl::full({8}, 0, kF32); });
    }));
}

// What an agent waits for by itself: one delay of one block.
struct DelayedBlock
{
    std::string agent;
    Picoseconds begin, end;
};

std::vector<DelayedBlock> delaysOf(const machine::RunResult& run)
{
    const trace::Info& info = run.trace->info();
    const trace::Waits& waits = run.trace->waits();
    std::vector<DelayedBlock> blocks;
    for (std::size_t row = 0; row < waits.size(); ++row) {
        const std::int32_t operation = waits.operation[row];
        if (operation >= 0
            && info.operations[static_cast<std::size_t>(operation)].name == "delay") {
            blocks.push_back({info.agents[static_cast<std::size_t>(waits.agent[row])],
                              Picoseconds(waits.begin[row]), Picoseconds(waits.end[row])});
        }
    }
    std::stable_sort(
        blocks.begin(), blocks.end(),
        [](const DelayedBlock& a, const DelayedBlock& b) { return a.begin < b.begin; });
    return blocks;
}

using ToldDelays = std::vector<std::string>;

// "SM 0 place 1 Warpgroup 0: 0 to 100", in nanoseconds after the first block has begun.
ToldDelays toldOf(const machine::RunResult& run)
{
    const std::vector<DelayedBlock> blocks = delaysOf(run);
    ToldDelays told;
    for (const DelayedBlock& block : blocks) {
        const auto since = [&](Picoseconds time) {
            return std::to_string((time - blocks.front().begin).value() / 1000);
        };
        told.push_back(block.agent + ": " + since(block.begin) + " to " + since(block.end));
    }
    std::sort(told.begin(), told.end());
    return told;
}

pl::Operand hundred()
{
    return 100;
}

} // namespace

TEST(Occupancy, blocksGoToAllSmsBeforeAnyGetsASecondOne)
{
    EXPECT_EQ(
        toldOf(runOnSms(withSms(2), waitingProgram(3, hundred))),
        (ToldDelays{"SM 0 place 0 Warpgroup 0: 0 to 100", "SM 0 place 1 Warpgroup 0: 0 to 100",
                    "SM 1 place 0 Warpgroup 0: 0 to 100"}));
    EXPECT_EQ(toldOf(runOnSms(withSms(2), waitingProgram(2, hundred))),
              (ToldDelays{"SM 0 Warpgroup 0: 0 to 100", "SM 1 Warpgroup 0: 0 to 100"}));
}

TEST(Occupancy, theTailBeginsWhereABlockEndsFirst)
{
    // Blocks 0 to 3 take 100, 90, 80 and 70 ns: 4 follows 3 on SM 1, and 5 follows 2 on SM 0.
    const ir::Program program =
        waitingProgram(6, [] { return pl::Operand(pl::axisIndex("block") * -10 + 100); });
    ToldDelays told = toldOf(runOnSms(withSms(2), program));
    ASSERT_EQ(told.size(), 6U);
    std::vector<std::string> agents;
    for (const std::string& one : told) {
        agents.push_back(one.substr(0, one.find(" Warpgroup")));
    }
    EXPECT_EQ(agents, (ToldDelays{"SM 0 place 0", "SM 0 place 1", "SM 0 place 1", "SM 1 place 0",
                                  "SM 1 place 1", "SM 1 place 1"}));
}

// The next block in a place begins as long after the one before it has ended as the chip file says
// (core_map among its operations); the launch covers the first.
TEST(Occupancy, aBlockBeginsSomeTimeAfterTheOneBefore)
{
    const auto gapWith = [](double instructions) {
        auto file = nlohmann::ordered_json::parse(withSms(1).json);
        for (const char* entry : {"core_map", "core_map without barriers"}) {
            file["operations"][entry] = {
                {"scalar",
                 {{"value", instructions}, {"source", "made up"}, {"status", "assumed"}}}};
        }
        const Result<chip::Chip> parsed = chip::parse(file.dump(), "one_sm.json");
        if (!parsed) {
            throw std::runtime_error(parsed.error().message);
        }
        const std::vector<DelayedBlock> blocks =
            delaysOf(runOnSms(*parsed, waitingProgram(2, hundred, 3)));
        return std::pair(blocks.front().begin, blocks.back().begin - blocks.front().end);
    };
    const auto [first, without] = gapWith(0);
    const auto [sameFirst, with] = gapWith(1755);
    EXPECT_EQ(first, sameFirst);
    EXPECT_EQ((with - without).value(), 1'000'000); // 1 us at 1.755 GHz
}

TEST(Occupancy, sharedMemoryRegistersAndWarpsLimitTheBlocksOfAnSm)
{
    const auto placesOf = [](const ir::Program& program, machine::Settings settings = kMost) {
        const machine::RunResult run = runOnSms(withSms(1), program, settings);
        const std::vector<DelayedBlock> blocks = delaysOf(run);
        return std::count_if(blocks.begin(), blocks.end(), [&](const DelayedBlock& block) {
            return block.begin == blocks.front().begin;
        });
    };
    constexpr Extent kKib = 256; // floats
    EXPECT_EQ(placesOf(waitingProgram(40, hundred)), 2);
    EXPECT_EQ(placesOf(waitingProgram(40, hundred, 1, 113 * kKib)), 2);
    EXPECT_EQ(placesOf(waitingProgram(40, hundred, 1, 114 * kKib)), 1);
    EXPECT_EQ(placesOf(waitingProgram(40, hundred), {}), 16); // few registers: by its warps
    EXPECT_EQ(placesOf(waitingProgram(40, hundred), {.registers = 128}), 4);
    EXPECT_EQ(placesOf(waitingProgram(40, hundred), {.registers = 32}), 16);
    EXPECT_EQ(placesOf(waitingProgram(40, hundred, 1, 30 * kKib), {.registers = 32}), 7);
}

TEST(Occupancy, ofEachCoreMapIsItsOwn)
{
    const ir::Program program =
        mustTrace(pl::kernel("two", {pl::out("y", kF32, {8})}, [&](pl::Ref y) {
            gpu::launch({{{"block", 4}}}, [] { pl::delay(100); });
            gpu::launch({{{"block", 4}}, 3, "wg"}, [] { pl::delay(10); }); // one block on an SM
            gpu::launch({}, [&] { y[pl::all] = pl::full({8}, 0, kF32); });
        }));
    const machine::RunResult run = runOnSms(withSms(2), program);
    EXPECT_EQ(findingsText(run), "");
    const std::vector<DelayedBlock> blocks = delaysOf(run);
    ASSERT_EQ(blocks.size(), 4U + 12U);
    EXPECT_EQ(blocks[3].begin, blocks[0].begin);
    const Picoseconds second = blocks[0].end;
    for (std::size_t i = 4; i < blocks.size(); ++i) {
        EXPECT_EQ(blocks[i].begin, second + Picoseconds(i < 10 ? 0 : 10'000));
        EXPECT_NE(blocks[i].agent.find(" place 0 "), std::string::npos) << blocks[i].agent;
    }
    ASSERT_EQ(run.trace->info().blockGrids.size(), 3U);
    EXPECT_EQ(run.trace->info().blockGrids[0].blocksPerSm, 2);
    EXPECT_EQ(run.trace->info().blockGrids[1].blocksPerSm, 1);
    EXPECT_EQ(run.trace->info().blockGrids[1].waves, 2);
}

// A program whose first kernel has clusters leaves no SM to its second one that this could use, nor
// the other way round: a cluster takes as many SMs side by side as it has blocks.
TEST(Occupancy, ofEachCoreMapHasClustersOfItsOwn)
{
    const ir::Program program =
        mustTrace(pl::kernel("two", {pl::out("y", kF32, {8})}, [&](pl::Ref y) {
            gpu::Launch ofPairs;
            ofPairs.grid = {{"block", 6}};
            ofPairs.cluster = {{"pair", 2}};
            gpu::launch(ofPairs, [] { pl::delay(100); });
            gpu::launch({{{"block", 10}}}, [] { pl::delay(50); });
            gpu::launch({}, [&] { y[pl::all] = pl::full({8}, 0, kF32); });
        }));
    const machine::RunResult run = runOnSms(withSms(5), program);
    EXPECT_EQ(findingsText(run), "");
    ToldDelays wanted; // of the pairs that begin at once: two on each two SMs side by side
    for (int sm = 0; sm < 4; ++sm) {
        for (int place = 0; place < 2; ++place) {
            wanted.push_back("SM " + std::to_string(sm) + " place " + std::to_string(place)
                             + " Warpgroup 0: 0 to 100");
        }
    }
    const ToldDelays told = toldOf(run);
    ToldDelays atOnce;
    std::copy_if(told.begin(), told.end(), std::back_inserter(atOnce),
                 [](const std::string& one) { return one.find(": 0 to ") != std::string::npos; });
    EXPECT_EQ(atOnce, wanted);
    const std::vector<DelayedBlock> delays = delaysOf(run);
    ASSERT_EQ(delays.size(), 12U + 10U);
    std::set<std::string> ofSecond;
    for (std::size_t i = 12; i < delays.size(); ++i) {
        EXPECT_EQ(delays[i].begin, delays[12].begin) << delays[i].agent;
        ofSecond.insert(delays[i].agent);
    }
    EXPECT_EQ(ofSecond.size(), 10U);
    const trace::GridBlocks& blocks = run.trace->gridBlocks();
    for (std::size_t row = 0; row < blocks.size() && blocks.grid[row] == 0; ++row) {
        const std::string& agent =
            run.trace->info().agents[static_cast<std::size_t>(blocks.agent[row])];
        const bool isEven = agent.starts_with("SM 0 ") || agent.starts_with("SM 2 ");
        EXPECT_EQ(isEven, blocks.block[row] % 2 == 0)
            << agent << " has block " << blocks.block[row];
    }
}

// What the trace says of the blocks is what their delays say.
TEST(Occupancy, theTraceSaysWhichBlockRunsWhereAndWhen)
{
    const ir::Program program =
        waitingProgram(7, [] { return pl::Operand(pl::axisIndex("block") * -10 + 100); });
    const machine::RunResult run = runOnSms(withSms(2), program);
    const trace::GridBlocks& blocks = run.trace->gridBlocks();
    const std::vector<DelayedBlock> delays = delaysOf(run);
    ASSERT_EQ(delays.size(), 7U);
    std::size_t row = 0;
    for (; row < blocks.size() && blocks.grid[row] == 0; ++row) {
        const std::string& agent =
            run.trace->info().agents[static_cast<std::size_t>(blocks.agent[row])];
        const auto its = std::find_if(delays.begin(), delays.end(), [&](const DelayedBlock& one) {
            const std::int64_t length = (100 - 10 * blocks.block[row]) * 1000;
            return one.agent == agent && one.begin.value() >= blocks.begin[row]
                   && one.end.value() <= blocks.end[row] && (one.end - one.begin).value() == length;
        });
        EXPECT_NE(its, delays.end()) << "block " << blocks.block[row];
        EXPECT_EQ(blocks.claimed[row], 0);
    }
    EXPECT_EQ(row, 7U);
    EXPECT_EQ(blocks.size(), 8U) << "the second core_map has one block";
    EXPECT_EQ(run.trace->info().blockGrids[0].extents, std::vector<Extent>{7});
}

TEST(Occupancy, aBlockAloneHasNoMoreAgentsThanItsWarpgroups)
{
    for (const std::int32_t warpgroups : {1, 3}) {
        std::vector<std::string> wanted;
        for (std::int32_t i = 0; i < warpgroups; ++i) {
            wanted.push_back("Warpgroup " + std::to_string(i));
        }
        const machine::RunResult run = runOnSms(h100(), waitingProgram(1, hundred, warpgroups));
        EXPECT_EQ(run.trace->info().agents, wanted);
    }
}

TEST(Occupancy, tooManyRegistersAreRefused)
{
    const ir::Program program = waitingProgram(4, hundred, 3);
    EXPECT_NO_THROW(runOnSms(withSms(1), program, {.registers = 168}));
    EXPECT_THROW(runOnSms(withSms(1), program, {.registers = 169}), std::runtime_error);
    EXPECT_THROW(runOnSms(withSms(1), program, {.registers = 256}), std::runtime_error);
    EXPECT_FALSE(machine::checkFit(program, withSms(1), {.registers = 169}));
}

TEST(Occupancy, ofABlockThatDoesNotFitIsNone)
{
    const ir::Program program = waitingProgram(4, hundred, 1, 60'000); // 234 KiB
    EXPECT_FALSE(machine::checkFit(program, withSms(1)));
    const auto trace = machine::traceWithoutRun(program, withSms(1), {}, {});
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ((*trace)->info().blockGrids.front().blocksPerSm, 0);
}

TEST(Occupancy, blocksOfOneSmShareItsUnits)
{
    // Each block does the same arithmetic, which keeps the FP32 units busy nearly all the time.
    const auto program = [](std::int32_t blocks) {
        return mustTrace(
            pl::kernel("adds", {pl::out("y", kF32, {blocks, 128, 64})}, [&](pl::Ref y) {
                gpu::launch({{{"block", blocks}}}, [&] {
                    pl::Value sum = pl::iota(kF32, {128, 64}, 0) * pl::iota(kF32, {128, 64}, 1);
                    for (int i = 0; i < 64; ++i) {
                        sum = sum * 1.5F + 1.0F;
                    }
                    pl::delay(1); // ends the segment
                    y.at({pl::axisIndex("block"), pl::all, pl::all})[pl::all] = sum;
                });
            }));
    };
    const auto sums = [&](std::int64_t sms) {
        const machine::RunResult run = runOnSms(withSms(sms), program(2));
        std::vector<Picoseconds> begins;
        for (const DelayedBlock& block : delaysOf(run)) {
            begins.push_back(block.begin);
        }
        return begins;
    };
    const std::vector<Picoseconds> apart = sums(2), together = sums(1);
    EXPECT_EQ(apart.at(0), apart.at(1));
    EXPECT_EQ(together.at(0), apart.at(0));
    // It has 64 registers and 129 instructions for each, and next to nothing else: the second block
    // of an SM is that much later.
    const Picoseconds longer = toPicoseconds(Cycles(64 * 129), h100().agents.front().clock);
    const double times = static_cast<double>((together.at(1) - together.at(0)).value())
                         / static_cast<double>(longer.value());
    EXPECT_NEAR(times, 1, 0.02);
}

TEST(Occupancy, blocksOfOneSmQueueAtItsTensorCoreAndHaveBarriersOfTheirOwn)
{
    constexpr Extent kM = 64, kN = 64;
    constexpr std::int32_t kAtOnce = 5;
    const ir::Program program = mustTrace(pl::kernel(
        "products",
        {pl::in("a", DType::F16, {kAtOnce, kM, kM}), pl::in("b", DType::F16, {kM, kN}),
         pl::out("c", kF32, {kAtOnce, kM, kN})},
        [&](pl::Ref a, pl::Ref b, pl::Ref c) {
            gpu::launch({{{"block", kAtOnce}}}, [&] {
                const pl::Value block = pl::axisIndex("block");
                gpu::runScoped(
                    {gpu::smem("left", DType::F16, {kM, kM}),
                     gpu::smem("right", DType::F16, {kM, kN}), gpu::barrier("ready", 2),
                     gpu::accumulator("acc", {kM, kN})},
                    true, [&](const Refs& refs) {
                        gpu::copyGmemToSmem(a.at({block, pl::all, pl::all}), refs[0], refs[2]);
                        gpu::copyGmemToSmem(b, refs[1], refs[2]);
                        gpu::barrierWait(refs[2]);
                        gpu::wgmma(refs[3], refs[0], refs[1]);
                        gpu::wgmmaWait(0);
                        c.at({block, pl::all, pl::all})[pl::all] = gpu::load(refs[3]);
                    });
            });
        }));
    const std::vector<Array> inputs{
        counting(DType::F16, {kAtOnce, kM, kM}),
        arrayOf(DType::F16, {kM, kN}, std::vector<double>(kM * kN, 0.001))};
    const machine::RunResult few = runOnSms(withSms(1), program, kMost, inputs),
                             many = runOnSms(withSms(8), program, kMost, inputs);
    EXPECT_EQ(findingsText(few), "");
    EXPECT_EQ(elementsOf(few.outputs[0]), elementsOf(many.outputs[0]));
    const std::vector<std::string>& agents = few.trace->info().agents;
    EXPECT_EQ(agents,
              (ToldDelays{"SM 0 place 0 Warpgroup 0", "SM 0 place 1 Warpgroup 0", "SM 0 TC 0"}));
    const trace::Segments& segments = few.trace->segments();
    std::vector<std::pair<Picoseconds, Picoseconds>> products;
    for (std::size_t row = 0; row < segments.size(); ++row) {
        if (segments.agent[row] == 2) {
            const Picoseconds begin(segments.begin[row]);
            products.emplace_back(
                begin, begin
                           + few.trace->info()
                                 .templates[static_cast<std::size_t>(segments.templateId[row])]
                                 .duration);
        }
    }
    ASSERT_EQ(products.size(), static_cast<std::size_t>(kAtOnce));
    std::sort(products.begin(), products.end());
    for (std::size_t i = 1; i < products.size(); ++i) {
        EXPECT_GE(products[i].first, products[i - 1].second);
    }
}

TEST(Occupancy, theBoostClockMakesArithmeticFaster)
{
    const ir::Program program =
        mustTrace(pl::kernel("adds", {pl::out("y", kF32, {128, 64})}, [&](pl::Ref y) {
            gpu::launch({}, [&] {
                pl::Value sum = pl::full({128, 64}, 1, kF32);
                for (int i = 0; i < 64; ++i) {
                    sum = sum * 1.5F + 1.0F;
                }
                y[pl::all] = sum;
            });
        }));
    const auto clockOf = [&](chip::Clock clock) {
        const machine::RunResult run = runOnSms(h100(), program, {.clock = clock});
        const auto chip = chip::parse(run.trace->info().chipJson, "in the trace");
        EXPECT_EQ(chip.value().agents.front().clock, run.trace->info().templates.back().clock);
        return std::pair(chip.value().agents.front().clock, run.trace->end());
    };
    const auto [sustained, longer] = clockOf(chip::Clock::Sustained);
    const auto [boost, shorter] = clockOf(chip::Clock::Boost);
    EXPECT_EQ(sustained, h100().multiprocessor->sustainedClock);
    EXPECT_EQ(boost, h100().multiprocessor->boostClock);
    EXPECT_LT(shorter, longer);
    const Result<chip::Chip> ofTpu = chip::atClock(v5e(), chip::Clock::Boost);
    ASSERT_FALSE(ofTpu);
    EXPECT_EQ(ofTpu.error().message,
              "The setting clock is boost, a clock of GPUs; TPU v5e has one clock.");
}

namespace {

// Where "SM 3 place 1 Warpgroup 0", or "SM 3 Warpgroup 0", stands among the places of all SMs.
std::int64_t rankOf(const std::string& agent, std::int64_t sms)
{
    const auto numberAfter = [&](const std::string& word) {
        const std::size_t at = agent.find(word);
        return at == std::string::npos ? 0 : std::stoll(agent.substr(at + word.size()));
    };
    return numberAfter("place ") * sms + numberAfter("SM ");
}

} // namespace

// A simulation of its own: blocks in order, each where it is free first. It knows of each block how
// long it took, but not where or when it ran.
TEST(Occupancy, anyGridIsDispatchedGreedily)
{
    for (std::uint32_t seed = 0; seed < test::tried<std::uint32_t>(300); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto from = [&](int low, int high) {
            return low + static_cast<int>(random() % static_cast<std::uint32_t>(high - low + 1));
        };
        const int sms = from(2, 5), blocks = from(1, 40), factor = from(1, 30),
                  modulus = from(1, 9), warpgroups = from(1, 2);
        const int registers = std::vector<int>{32, 64, 128}[static_cast<std::size_t>(from(0, 2))];
        // A unique duration tells a block: whole microseconds that often are the same, and its
        // number in nanoseconds.
        const ir::Program program = waitingProgram(
            blocks,
            [&] {
                const pl::Value block = pl::axisIndex("block");
                return pl::Operand((block * factor) % modulus * 1000 + block + 1);
            },
            warpgroups);
        const machine::RunResult run = runOnSms(withSms(sms), program, {.registers = registers});
        const std::int64_t each = run.trace->info().blockGrids.front().blocksPerSm;
        ASSERT_GT(each, 0);
        std::vector<DelayedBlock> of(static_cast<std::size_t>(blocks));
        for (const DelayedBlock& block : delaysOf(run)) {
            const std::int64_t number = (block.end - block.begin).value() / 1000 % 1000 - 1;
            DelayedBlock& known = of.at(static_cast<std::size_t>(number));
            if (block.agent.ends_with("Warpgroup 0")) {
                known.agent = block.agent;
                known.begin = block.begin;
            }
            known.end = std::max(known.end, block.end);
        }
        // Between the end of a block and the delay of the next there is a segment that computes the
        // delay, which always takes as long, unless it queues at a unit that blocks share. It is
        // short beside the differences that decide, or everything happens at the same time.
        std::vector<Picoseconds> free(
            static_cast<std::size_t>(std::min<std::int64_t>(sms * each, blocks)));
        for (std::size_t i = 0; i < of.size(); ++i) {
            const auto expected = std::min_element(free.begin(), free.end()) - free.begin();
            ASSERT_EQ(rankOf(of[i].agent, std::min(sms, blocks)), expected) << "block " << i;
            ASSERT_GE(of[i].begin, free[static_cast<std::size_t>(expected)]);
            free[static_cast<std::size_t>(expected)] = of[i].end;
        }
    }
}

} // namespace pallascope::machine_test
