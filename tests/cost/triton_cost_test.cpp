// What the operations of Triton's kernels cost on an H100, by hand from the figures of its file,
// and what their blocks take.
#include "core/cost/block_grid.h"
#include "core/cost/left_out.h"
#include "core/cost/live_registers.h"
#include "core/ir/builder_gpu.h"
#include "core/ir/infer.h"
#include "core/ir/verify.h"
#include "tests/cost/v5e.h"
#include "tests/support/by_triton.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace pallascope::cost_test {

namespace {

using Body = std::function<void(const std::vector<pl::Ref>&)>;
using UnitCycles = std::map<std::string, std::int64_t>;

// A pl.pallas_call on a GPU whose body gets bf16[128,128] in HBM and bf16[64,128] in shared memory.
ir::Program byTriton(const Body& body, std::int32_t warps = 4)
{
    const pl::Scratch slot{"slot", kBf16, {64, 128}, ir::MemorySpace::Smem};
    Result<ir::Program> program = pl::kernel(
        "block", {pl::in("x", kBf16, {128, 128}), pl::out("out", kF32, {128, 128})},
        [&](const pl::Ref& x, const pl::Ref& out) {
            pl::gpu::launch({}, [&] {
                pl::runScoped({slot},
                              [&](const std::vector<pl::Ref>& refs) -> std::vector<pl::Value> {
                                  body({x, out, refs[0]});
                                  return {};
                              });
            });
        });
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    test::compileByTriton(*program, warps);
    EXPECT_TRUE(ir::verify(*program));
    return std::move(*program);
}

bool awaitsEachProduct(const ir::Program& program)
{
    bool awaits = false;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        awaits = awaits
                 || (operation.code == ir::OpCode::CoreMap
                     && cost::awaitsEachProduct(program, operation, h100(),
                                                cost::LeftOut(program, h100())));
    });
    return awaits;
}

// What all operations but loads and stores of HBM cost as one segment.
cost::SegmentCost segmentOf(const ir::Program& program, cost::Runner runner = {})
{
    const cost::LeftOut leftOut(program, h100());
    runner.leftOut = &leftOut;
    std::vector<const ir::Operation*> operations;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        const bool isFar = ir::opEntry(operation.code).kind == ir::OpKind::Memory
                           && ir::isFar(*program.type(operation.operands[0]).space);
        if (!ir::endsSegment(operation.code) && !isFar) {
            operations.push_back(&operation);
        }
    });
    Result<cost::SegmentCost> cost = cost::segmentCost(program, operations, h100(), runner);
    EXPECT_TRUE(cost) << (cost ? "" : cost.error().message);
    return std::move(*cost);
}

// The cycles of each unit that operations with this code take, by the compiler.
UnitCycles cyclesOf(const ir::Program& program, ir::OpCode code, std::string_view compiler)
{
    UnitCycles cycles;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code != code) {
            return;
        }
        const auto cost = cost::operationCost(program, operation, h100(), {.compiler = compiler});
        EXPECT_TRUE(cost) << (cost ? "" : cost.error().message);
        for (const cost::Demand& demand : cost->demands) {
            cycles[h100().units[static_cast<std::size_t>(demand.unit)].name] +=
                demand.cycles.value();
        }
    });
    return cycles;
}

// x @ slot.T, which the tensor core takes 4096 operations of in a cycle.
constexpr std::int64_t kWork = 2 * 128 * 64 * 128 / 4096;

pl::Value timesSlot(const pl::Value& left, const pl::Value& slot)
{
    return pl::dot(left, pl::transpose(slot, {1, 0}), kF32);
}

void multiply(const std::vector<pl::Ref>& refs)
{
    refs[1][{pl::all, pl::ds(0, 64)}] = timesSlot(refs[0][pl::all].load(), refs[2][pl::all].load());
}

} // namespace

// f32 at HIGHEST precision is multiplied as it is: an instruction of the FP32 units, which do 128
// of them in a cycle, for each product of two numbers. At other precisions it is rounded to TF32.
TEST(TritonCost, ofProductsAtFullPrecisionIsThatOfTheVectorUnit)
{
    constexpr std::int64_t kM = 64, kN = 32, kK = 128;
    const auto costAt = [&](ir::DotPrecision precision) {
        const Result<ir::Program> program =
            pl::kernel("product",
                       {pl::in("x", kF32, {kM, kK}), pl::in("y", kF32, {kK, kN}),
                        pl::out("out", kF32, {kM, kN})},
                       [&](const pl::Ref& x, const pl::Ref& y, const pl::Ref& out) {
                           pl::gpu::launch({}, [&] {
                               out[pl::all] = pl::dotGeneral(x[pl::all].load(), y[pl::all].load(),
                                                             {{1}, {0}, {}, {}, kF32, precision});
                           });
                       });
        UnitCycles cycles = cyclesOf(*program, ir::OpCode::DotGeneral, ir::kTriton);
        std::erase_if(cycles, [](const auto& one) { return one.first == "issue"; });
        return cycles;
    };
    const UnitCycles fused{{"FP32", kM * kN * kK / 128}},
        onTensorCore{{"TC", 2 * kM * kN * kK / 2048}};
    EXPECT_EQ(costAt(ir::DotPrecision::Highest), fused);
    EXPECT_EQ(costAt(ir::DotPrecision::High), onTensorCore);
    EXPECT_EQ(costAt(ir::DotPrecision::Default), onTensorCore);
}

// A product reads a loaded operand from shared memory, also turned, and if numbers stand in for
// some of its elements. One that is computed beside it is in registers, from where it takes longer
// to start.
TEST(TritonCost, ofProductsIsThatOfWhereTheirOperandsAre)
{
    EXPECT_EQ(segmentOf(byTriton(multiply)).cycles.value(), kWork + 67);
    const auto masked = [](const std::vector<pl::Ref>& refs) {
        const pl::Value mask = pl::full({64, 128}, 1, DType::Bool);
        const pl::Value some =
            pl::select(mask, refs[2][pl::all].load(), pl::full({64, 128}, 0, kBf16));
        refs[1][{pl::all, pl::ds(0, 64)}] = timesSlot(refs[0][pl::all].load(), some);
    };
    EXPECT_EQ(segmentOf(byTriton(masked)).cycles.value(), kWork + 67);
    const auto computed = [](const std::vector<pl::Ref>& refs) {
        const pl::Value left = refs[0][pl::all].load() * 2.0;
        refs[1][{pl::all, pl::ds(0, 64)}] = timesSlot(left, refs[2][pl::all].load());
    };
    constexpr std::int64_t kDoubled = 128 * 128 / 128; // registers, one instruction each
    EXPECT_EQ(segmentOf(byTriton(computed)).cycles.value(), kDoubled + kWork + 120);
}

// Products of fewer than 64 rows are mma.sync, of 16 rows each and at 60 % of the rate. If another
// product depends on one, Triton gives each of the four warps rows of its own, and those that get
// none repeat what others do: 32 rows are the work of 64. All warps load the whole right operand
// then, and the rows that they repeat. One load of each operand in shared memory is an operation of
// its own; the left one is loaded from GMEM and comes there first.
TEST(TritonCost, ofProductsOfFewRowsIsThatOfMma)
{
    // x[rows,128] times the first columns of slot.T, and that times a part of slot
    const auto workOf = [](Extent rows, Extent columns, bool isChained,
                           const std::string& unit = "TC") {
        const ir::Program program = byTriton([&](const std::vector<pl::Ref>& refs) {
            const pl::Value left = refs[0][{pl::ds(0, rows), pl::all}].load();
            const pl::Value right = refs[2][{pl::ds(0, columns), pl::all}].load();
            const pl::Value product = timesSlot(left, right);
            refs[1][{pl::ds(0, rows), pl::ds(0, columns)}] = product;
            if (isChained) {
                refs[1][{pl::ds(0, rows), pl::all}] =
                    pl::dot(pl::convert(product, kBf16), right, kF32);
            }
        });
        const cost::LeftOut leftOut(program, h100());
        std::int64_t cycles = 0;
        ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
            if (operation.code == ir::OpCode::DotGeneral) {
                const auto cost = cost::operationCost(
                    program, operation, h100(),
                    {.leftOut = &leftOut, .compiler = ir::kTriton, .threads = 128});
                for (const cost::Demand& demand : cost->demands) {
                    const chip::Unit& of = h100().units[static_cast<std::size_t>(demand.unit)];
                    cycles += of.name == unit ? demand.cycles.value() : 0;
                }
            }
        });
        return cycles;
    };
    const auto cyclesFor = [](Extent rows, Extent columns, double rate) {
        return static_cast<std::int64_t>(
            std::ceil(static_cast<double>(2 * rows * columns * 128) / (4096 * rate)));
    };
    EXPECT_EQ(workOf(64, 64, false), cyclesFor(64, 64, 1)) << "wgmma";
    EXPECT_EQ(workOf(32, 64, false), cyclesFor(32, 64, 0.6));
    EXPECT_EQ(workOf(8, 64, false), cyclesFor(16, 64, 0.6));
    EXPECT_EQ(workOf(32, 32, true), 2 * cyclesFor(64, 32, 0.6)) << "by rows";
    EXPECT_EQ(workOf(32, 64, true), 2 * cyclesFor(32, 64, 0.6)) << "by columns";

    constexpr std::int64_t kRow = 128 * 2 / 128; // cycles for a row of either operand
    EXPECT_EQ(workOf(64, 64, false, "load"), 0) << "the tensor core reads shared memory by itself";
    EXPECT_EQ(workOf(32, 64, false, "load"), (2 * 32 + 64) * kRow) << "by two warps each";
    EXPECT_EQ(workOf(32, 32, true, "load"), (2 * 32 + 2 * 3 * 32) * kRow);
}

// Without enough registers each instruction of 64 rows and 16 columns is waited for.
TEST(TritonCost, ofProductsWithoutRegistersIsThatOfEachInstruction)
{
    const ir::Program program = byTriton(multiply);
    EXPECT_EQ(segmentOf(program, {.awaitsEachProduct = true}).cycles.value(),
              kWork + (128 / 64) * (128 / 16) * 67);
    EXPECT_FALSE(awaitsEachProduct(program));
    const auto many = [](const std::vector<pl::Ref>& refs) {
        const pl::Value sums = refs[1][pl::all].load(), more = sums * 3.0;
        multiply(refs);
        refs[1][pl::all] = sums + more;
    };
    const ir::Program large = byTriton(many); // two sums of 128 registers each
    EXPECT_TRUE(awaitsEachProduct(large));
    const ir::Program divided = byTriton(many, 8);
    EXPECT_FALSE(awaitsEachProduct(divided));
}

// Two warpgroups divide each section. The second one follows the first one by the longest section.
TEST(TritonCost, ofTwoWarpgroupsIsThatOfOneBehindTheOther)
{
    const auto body = [](const std::vector<pl::Ref>& refs) {
        const pl::Value product = timesSlot(refs[0][pl::all].load(), refs[2][pl::all].load());
        refs[1][{pl::all, pl::ds(0, 64)}] = pl::exp(product);
    };
    const ir::Program program = byTriton(body);
    constexpr std::int64_t kPowers = 128 * 64 / 16;
    EXPECT_EQ(segmentOf(program).cycles.value(), kWork + 67 + kPowers);
    EXPECT_EQ(segmentOf(program, {.threads = 256}).cycles.value(),
              kWork / 2 + 67 + kPowers / 2 + kPowers / 2);
}

// Of four partitions of a multiprocessor, one warp uses one. It asks the same work of the units.
TEST(TritonCost, ofFewWarpsIsThatOfTheirPartitions)
{
    const ir::Program program = byTriton(
        [](const std::vector<pl::Ref>& refs) { refs[1][pl::all] = pl::exp(refs[1][pl::all]); });
    const cost::SegmentCost four = segmentOf(program);
    for (const std::int64_t warps : {1, 2}) {
        const cost::SegmentCost few = segmentOf(program, {.threads = 32 * warps});
        EXPECT_EQ(few.cycles.value(), four.cycles.value() * 4 / warps);
        ASSERT_EQ(few.places.size(), four.places.size());
        for (std::size_t i = 0; i < few.places.size(); ++i) {
            EXPECT_EQ(few.places[i].length, four.places[i].length);
        }
    }
}

// Triton keeps subnormal numbers, so more instructions surround a special function.
TEST(TritonCost, ofFunctionsIsThatOfWhatItsCompilerMakes)
{
    const ir::Program program = byTriton(
        [](const std::vector<pl::Ref>& refs) { refs[1][pl::all] = pl::exp(refs[1][pl::all]); });
    constexpr std::int64_t kRegisters = 128;
    EXPECT_EQ(
        cyclesOf(program, ir::OpCode::Exp, ""),
        (UnitCycles{{"SFU", 8 * kRegisters}, {"FP32", kRegisters}, {"issue", 2 * kRegisters}}));
    EXPECT_EQ(
        cyclesOf(program, ir::OpCode::Exp, ir::kTriton),
        (UnitCycles{{"SFU", 8 * kRegisters}, {"FP32", 8 * kRegisters}, {"issue", 9 * kRegisters}}));
}

// The dtype that is converted counts where the file names it.
TEST(TritonCost, ofConversionsIsThatOfBothDtypes)
{
    const auto from = [](DType dtype) {
        return cyclesOf(byTriton([&](const std::vector<pl::Ref>& refs) {
                            const pl::Value numbers = pl::iota(dtype, {128, 128}, 1);
                            refs[1][pl::all] = pl::convert(pl::convert(numbers, kBf16), kF32);
                        }),
                        ir::OpCode::ConvertElementType, "")
            .at("FP32");
    };
    const std::int64_t kBack = 2 * 128;
    EXPECT_EQ(from(kF32), 128 + kBack);
    EXPECT_EQ(from(DType::Int8), 3.5 * 128 + kBack);
}

// A thread issues three instructions for each 16 bytes that it copies. What the file has for each
// copy comes to that.
TEST(TritonCost, ofCopiesIsThatOfTheThreadsThatMakeThem)
{
    const ir::Program program = byTriton([](const std::vector<pl::Ref>& refs) {
        pl::gpu::copyGmemToSmem(refs[0].at({pl::ds(0, 64), pl::all}), refs[2]);
        pl::gpu::waitGmemToSmem(0);
    });
    EXPECT_EQ(cyclesOf(program, ir::OpCode::CopyGmemToSmem, ir::kTriton),
              (UnitCycles{{"issue", 67 + 3 * 8 + 32}, {"store", 32 * 4}}));
    EXPECT_TRUE(cyclesOf(program, ir::OpCode::CopyGmemToSmem, "").empty());
}

// The left operand, made before the loop, lies in shared memory beside the slot, once also where
// another loop is around; the sum stays in registers, where each round's product is added.
TEST(TritonCost, ofABlockIsSharedMemoryForOperandsAndRegistersForSums)
{
    using Values = std::vector<pl::Value>;
    const auto body = [](const std::vector<pl::Ref>& refs) {
        const pl::Value left = refs[0][pl::all].load() * 2.0;
        const auto add = [&](pl::Value, const Values& carried) -> Values {
            return {carried[0] + timesSlot(left, refs[2][pl::all].load())};
        };
        const Values sums =
            pl::foriLoop(2, {pl::full({128, 64}, 0, kF32)}, [&](pl::Value, const Values& carried) {
                return pl::foriLoop(4, carried, add);
            });
        refs[1][{pl::all, pl::ds(0, 64)}] = sums[0];
    };
    const cost::BlockGrid grid = cost::blockGrids(byTriton(body), h100()).at(0);
    EXPECT_EQ(grid.shared.arrays, Bytes(64 * 128 * 2 + 128 * 128 * 2));
    EXPECT_EQ(grid.block.registersPerThread, 64 + cost::kOtherRegisters);
}

// A number of a row is in four threads: 128 of them fill 4 registers. A copy in a round keeps two
// registers for each 16 bytes of a thread.
TEST(TritonCost, ofABlockAreRegistersForRowsAndAddresses)
{
    using Values = std::vector<pl::Value>;
    const auto body = [](const std::vector<pl::Ref>& refs) {
        const Values start{pl::full({128, 64}, 0, kF32), pl::full({128}, 0, kF32)};
        const Values sums =
            pl::foriLoop(4, start, [&](pl::Value round, const Values& carried) -> Values {
                const pl::Value left = refs[0][pl::all].load();
                pl::when(round == 0, [&] {
                    pl::gpu::copyGmemToSmem(refs[0].at({pl::ds(0, 64), pl::all}), refs[2]);
                });
                return {carried[0] + timesSlot(left, refs[2][pl::all].load()), carried[1] + 1.0};
            });
        refs[1][{pl::all, pl::ds(0, 64)}] = sums[0] + pl::broadcastTo(sums[1], {128, 64}, {0});
    };
    const cost::BlockGrid grid = cost::blockGrids(byTriton(body), h100()).at(0);
    EXPECT_EQ(grid.block.registersPerThread, 64 + 4 + 2 * 8 + cost::kOtherRegisters + 4);
}

} // namespace pallascope::cost_test
