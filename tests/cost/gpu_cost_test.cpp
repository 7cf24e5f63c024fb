// What operations cost a warpgroup of a GPU, by hand from the figures of the H100: 128 lanes of
// FP32, 16 of special functions, 128 bytes of shared memory per cycle and SM.
#include "core/cost/block_grid.h"
#include "core/cost/left_out.h"
#include "core/cost/live_registers.h"
#include "core/ir/builder_gpu.h"
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace pallascope::cost_test {

namespace {

chip::Chip gpuOf(const char* name)
{
    return chip::parse(chip::chipText(name), std::string(name) + ".json").value();
}

// A core_map whose body gets f32[64,128] in shared memory.
ir::Program programOf(const std::function<void(const pl::Ref&)>& body)
{
    Result<ir::Program> program =
        pl::kernel("blocks", {pl::out("out", kF32, {64, 128})}, [&](const pl::Ref&) {
            pl::coreMap("wg", 1, [&] {
                pl::runScoped({{"tile", kF32, {64, 128}, ir::MemorySpace::Smem}},
                              [&](const std::vector<pl::Ref>& refs) -> std::vector<pl::Value> {
                                  body(refs[0]);
                                  return {};
                              });
            });
        });
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    return std::move(*program);
}

// What all operations of the program but stores cost as one segment.
cost::SegmentCost segmentOf(const ir::Program& program, const char* name)
{
    std::vector<const ir::Operation*> operations;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        const bool isStore = operation.code == ir::OpCode::Swap;
        if (!ir::endsSegment(operation.code) && !isStore) {
            operations.push_back(&operation);
        }
    });
    const chip::Chip chip = gpuOf(name);
    const cost::LeftOut leftOut(program, chip);
    Result<cost::SegmentCost> cost =
        cost::segmentCost(program, operations, chip, {.leftOut = &leftOut});
    EXPECT_TRUE(cost) << (cost ? "" : cost.error().message);
    return std::move(*cost);
}

// How long they take.
std::int64_t lastingOf(const std::function<void(const pl::Ref&)>& body,
                       const char* name = "h100_sxm")
{
    return segmentOf(programOf(body), name).cycles.value();
}

// The cycles of each unit, by name, of all operations with this code in a core_map whose body gets
// f32[64,128] in shared memory.
std::map<std::string, std::int64_t> cyclesOf(ir::OpCode code,
                                             const std::function<void(const pl::Ref&)>& body)
{
    const chip::Chip h100 = gpuOf("h100_sxm");
    const ir::Program program = programOf(body);
    std::map<std::string, std::int64_t> cycles;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code != code) {
            return;
        }
        const auto cost = cost::operationCost(program, operation, h100);
        EXPECT_TRUE(cost) << (cost ? "" : cost.error().message);
        for (const cost::Demand& demand : cost->demands) {
            cycles[h100.units[static_cast<std::size_t>(demand.unit)].name] += demand.cycles.value();
        }
    });
    return cycles;
}

using UnitCycles = std::map<std::string, std::int64_t>;

constexpr std::int64_t kElements = 64 * 128, kRegisters = kElements / 128;
constexpr std::int64_t kLoad = 4 * kRegisters; // cycles to load the tile
constexpr std::int64_t kExponentials = 8 * kRegisters;

// The sums of exp(x - the largest of the row).
void exponentialsOfRows(const pl::Ref& tile)
{
    const pl::Value loaded = tile[pl::all].load();
    const pl::Value largest = pl::reduce(ir::OpCode::ReduceMax, loaded, {1});
    const pl::Value powers = pl::exp(loaded - pl::broadcastTo(largest, {64, 128}, {0}));
    const pl::Value sums = pl::reduce(ir::OpCode::ReduceSum, powers, {1});
    tile[pl::all] = pl::broadcastTo(sums, {64, 128}, {0});
}

} // namespace

TEST(GpuCost, ofSharedMemoryIsThatOfItsBytes)
{
    const auto copy = [](const pl::Ref& tile) { tile[pl::all] = tile[pl::all] + 1.0; };
    EXPECT_EQ(cyclesOf(ir::OpCode::Get, copy),
              (UnitCycles{{"load", kLoad}, {"issue", kRegisters}}));
    EXPECT_EQ(cyclesOf(ir::OpCode::Swap, copy),
              (UnitCycles{{"store", kLoad}, {"issue", kRegisters}}));
    EXPECT_EQ(cyclesOf(ir::OpCode::Add, copy),
              (UnitCycles{{"FP32", kRegisters}, {"issue", kRegisters}}));
}

// exp(x) is exp2(x * log2(e)).
TEST(GpuCost, ofAnExponentialIsThatOfSpecialFunctions)
{
    const auto body = [](const pl::Ref& tile) { tile[pl::all] = pl::exp(tile[pl::all]); };
    EXPECT_EQ(
        cyclesOf(ir::OpCode::Exp, body),
        (UnitCycles{{"FP32", kRegisters}, {"SFU", kElements / 16}, {"issue", 2 * kRegisters}}));
}

TEST(GpuCost, ofAProductIsTheRateOfTheTensorCore)
{
    const auto body = [](const pl::Ref& tile) {
        const pl::Value half = pl::convert(tile[pl::all], kBf16);
        tile[pl::all] = pl::dot(half, pl::full({128, 128}, 1, kBf16), kF32);
    };
    EXPECT_EQ(cyclesOf(ir::OpCode::DotGeneral, body),
              (UnitCycles{{"TC", 2 * kElements * 128 / 4096}}));
}

// Narrow products of wgmma wait for shared memory, which gives 128 bytes in a cycle: an instruction
// on 64 rows reads all of the right operand, and the left one where it is not in registers.
TEST(GpuCost, ofANarrowWgmmaIsThatOfItsReads)
{
    constexpr Extent kK = 64;
    const auto cyclesOf = [](Extent m, Extent n, bool inRegisters) {
        namespace gpu = pl::gpu;
        const auto body = [&](const pl::Ref& out) {
            gpu::launch({}, [&] {
                gpu::runScoped({gpu::smem("a", kBf16, {m, kK}), gpu::smem("b", kBf16, {kK, n}),
                                gpu::accumulator("sum", {m, n})},
                               true, [&](const std::vector<pl::Ref>& refs) {
                                   if (inRegisters) {
                                       gpu::wgmma(refs[2], refs[0][pl::all].load(), refs[1]);
                                   } else {
                                       gpu::wgmma(refs[2], refs[0], refs[1]);
                                   }
                                   gpu::wgmmaWait(0);
                                   out[pl::all] = gpu::load(refs[2]);
                               });
            });
        };
        const Result<ir::Program> program =
            pl::kernel("narrow", {pl::out("out", kF32, {m, n})}, body);
        EXPECT_TRUE(program) << (program ? "" : program.error().message);
        const chip::Chip h100 = cost_test::gpuOf("h100_sxm");
        std::int64_t cycles = 0;
        ir::forEachOperation(program->body, [&](const ir::Operation& operation) {
            if (operation.code == ir::OpCode::Wgmma) {
                cycles = cost::operationCost(*program, operation, h100)->demands[0].cycles.value();
            }
        });
        return cycles;
    };
    constexpr std::int64_t kSteps = kK / 16; // instructions, of 16 in k each
    EXPECT_EQ(cyclesOf(64, 128, false), kSteps * 64);
    EXPECT_EQ(cyclesOf(64, 64, false), kSteps * 32); // work and reads take as long
    EXPECT_EQ(cyclesOf(64, 32, false), kSteps * (16 + 8));
    EXPECT_EQ(cyclesOf(64, 32, true), kSteps * 16);
    EXPECT_EQ(cyclesOf(128, 32, false), 2 * kSteps * (16 + 8));
}

// Instructions for different elements overlap, so the busiest unit decides.
TEST(GpuCost, ofASegmentIsThatOfItsBusiestUnit)
{
    EXPECT_EQ(lastingOf([](const pl::Ref& tile) { tile[pl::all] = tile[pl::all] + 2.0; }), kLoad);
    EXPECT_EQ(lastingOf([](const pl::Ref& tile) { tile[pl::all] = pl::exp(tile[pl::all] + 2.0); }),
              kExponentials);
}

// No element can be subtracted from before the largest of its row is known, so that the two
// sections follow each other. The sum goes on while the special functions work.
TEST(GpuCost, ofASoftmaxIsThatOfItsSections)
{
    EXPECT_EQ(lastingOf(exponentialsOfRows), kLoad + kExponentials);
}

// Beside products the special functions take 0.34 of their time longer. The loads, maxima,
// subtractions, multiplications and sums delay products.
TEST(GpuCost, ofASegmentBesideProducts)
{
    const ir::Program program = programOf(exponentialsOfRows);
    const cost::SegmentCost cost = segmentOf(program, "h100_sxm");
    const std::int64_t maxima = 2 * (kRegisters + 4), sums = kRegisters + 4, shuffles = 2 * 2 * 4;
    const auto share = [](double factor, std::int64_t cycles) {
        return std::llround(factor * static_cast<double>(cycles));
    };
    EXPECT_EQ(cost.slowed.value(), share(0.32, kLoad) + share(0.34, kExponentials));
    EXPECT_EQ(cost.delays.value(), share(0.93, kLoad) + share(0.8, maxima) + share(0.73, shuffles)
                                       + share(0.8, 2 * kRegisters + sums) + share(0.73, shuffles));
    EXPECT_EQ(segmentOf(program, "a100_80").delays.value(), 0); // not known
}

// The tile fills 64 registers of each thread. Powers of it overwrite it, unless it is needed later.
// To that come those that every kernel needs.
TEST(GpuCost, ofABlockAreRegistersForWhatIsAliveAtATime)
{
    const auto registersOf = [](const std::function<void(const pl::Ref&)>& body) {
        return cost::blockGrids(programOf(body), h100()).at(0).block.registersPerThread;
    };
    EXPECT_EQ(registersOf([](const pl::Ref& tile) { tile[pl::all] = pl::exp(tile[pl::all]); }),
              64 + cost::kOtherRegisters);
    EXPECT_EQ(registersOf([](const pl::Ref& tile) {
                  const pl::Value loaded = tile[pl::all].load();
                  tile[pl::all] = pl::exp(loaded) + loaded;
              }),
              2 * 64 + cost::kOtherRegisters);
    EXPECT_EQ(registersOf([](const pl::Ref& tile) {
                  pl::gpu::setMaxRegisters(40, false);
                  tile[pl::all] = pl::exp(tile[pl::all]);
              }),
              255); // the kernel says itself how many its agents have
}

// A thread has 32 elements of each of two rows. It combines them one after the other, 5 cycles
// each, then with those of the 3 other threads of the row in 2 rounds of a shuffle, 24 cycles each.
TEST(GpuCost, ofARowsSumIsThatOfItsChain)
{
    const auto body = [](const pl::Ref& tile) {
        const pl::Value sums = pl::reduce(ir::OpCode::ReduceSum, tile[pl::all], {1});
        tile[pl::all] = pl::broadcastTo(sums, {64, 128}, {0});
    };
    EXPECT_EQ(cyclesOf(ir::OpCode::ReduceSum, body),
              (UnitCycles{{"FP32", kRegisters + 2 * 2},
                          {"SHFL", 2 * 2 * 4},
                          {"issue", kRegisters + 2 * 2 + 2 * 2}}));
    const auto twice = [](const pl::Ref& tile) { // the second one of what is in registers
        const pl::Value loaded = tile[pl::all].load();
        const pl::Value sums = pl::reduce(ir::OpCode::ReduceSum, loaded, {1});
        const pl::Value less = loaded - pl::broadcastTo(sums, {64, 128}, {0});
        tile[pl::all] =
            pl::broadcastTo(pl::reduce(ir::OpCode::ReduceSum, less, {1}), {64, 128}, {0});
    };
    EXPECT_EQ(lastingOf(body), kLoad);
    EXPECT_EQ(lastingOf(twice), kLoad + (32 + 2) * 5 + 2 * 24);
}

// What belongs to a row is in all 4 threads that have parts of it: 64 numbers fill 2 registers.
TEST(GpuCost, ofWhatARowHasIsThatOfItsCopies)
{
    const auto body = [](const pl::Ref& tile) {
        const pl::Value sums = pl::reduce(ir::OpCode::ReduceSum, tile[pl::all], {1}) + 2.0;
        tile[pl::all] = pl::broadcastTo(sums, {64, 128}, {0});
    };
    EXPECT_EQ(cyclesOf(ir::OpCode::Add, body), (UnitCycles{{"FP32", 2}, {"issue", 2}}));
}

// There is a branch in the division of each register: 6 instructions of 5 cycles and one of 17 wait
// for each other.
TEST(GpuCost, ofDivisionsIsThatOfOneAfterTheOther)
{
    const auto body = [](const pl::Ref& tile) { tile[pl::all] = 2.0 / tile[pl::all]; };
    EXPECT_EQ(lastingOf(body), kRegisters * (6 * 5 + 17));
}

// A product adds to the sum that is there, and a multiplication by one is no instruction. Operands
// of mma are loaded; those that Triton's products read from shared memory are in
// triton_cost_test.cpp.
TEST(GpuCost, isNoneForWhatProductsDoThemselves)
{
    const auto body = [](bool scales, bool adds) {
        return [scales, adds](const pl::Ref& tile) {
            const pl::Value loaded = tile[pl::all].load();
            const pl::Value right = scales ? loaded * 1.0 : loaded;
            const pl::Value left = pl::full({64, 64}, 3, kF32),
                            product = pl::dot(left, right, kF32);
            tile[pl::all] = adds ? product + pl::full({64, 128}, 5, kF32) : product;
        };
    };
    const std::int64_t plain = lastingOf(body(false, false));
    constexpr std::int64_t kProduct = 2 * 64 * 64 * 128 / 2048 * 10 / 6 + 1; // mma.sync: 60 %
    EXPECT_EQ(plain, kLoad + kProduct + 67);                                 // and the wait for it
    EXPECT_EQ(lastingOf(body(true, true)), plain);
    EXPECT_EQ(lastingOf(body(false, false), "a100_80"), kLoad + 2 * 64 * 64 * 128 / 1024);
}

} // namespace pallascope::cost_test
