// What one operation costs on a v5e, compared with cycles worked out by hand.
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

namespace pallascope::cost_test {

using ir::OpCode;

namespace {

class Cost : public testing::Test
{
protected:
    ir::ValueId value(DType dtype, Shape shape, std::optional<ir::MemorySpace> space = {})
    {
        return ir_test::freshValue(m_program, {dtype, std::move(shape), space});
    }

    Result<cost::OperationCost> tried(OpCode code, const std::vector<ir::ValueId>& operands,
                                      ir::ValueId result, ir::Params params = {})
    {
        const ir::Operation operation{
            .code = code, .operands = operands, .results = {result}, .params = std::move(params)};
        return cost::operationCost(m_program, operation, m_chip);
    }

    // "unit:cycles ..." in the order of the demands.
    std::string demands(OpCode code, const std::vector<ir::ValueId>& operands, ir::ValueId result,
                        ir::Params params = {})
    {
        m_cost = tried(code, operands, result, std::move(params)).value();
        std::string text;
        for (const cost::Demand& demand : m_cost.demands) {
            text += (text.empty() ? "" : " ")
                    + m_chip.units[static_cast<std::size_t>(demand.unit)].name + ":"
                    + std::to_string(demand.cycles.value());
        }
        return text;
    }

    std::string dot(DType left, Shape a, DType right, Shape b, Shape result,
                    ir::DotParams dimensions = {{1}, {0}, {}, {}, kF32})
    {
        const ir::ValueId x = value(left, std::move(a)), y = value(right, std::move(b));
        return demands(OpCode::DotGeneral, {x, y}, value(dimensions.dtype, std::move(result)),
                       dimensions);
    }

    chip::Chip m_chip = v5e();
    ir::Program m_program;
    cost::OperationCost m_cost;                        // of the last call of demands()
    const ir::ValueId m_big = value(kF32, {512, 512}); // 1 MiB: 256 registers
    const ir::ValueId m_half = value(kBf16, {512, 512});
    const ir::ValueId m_scalar = value(kF32, {});
};

} // namespace

TEST_F(Cost, aDotPushesItsRowsThroughTheArray)
{
    // 512 rows x 4 tiles of k x 4 tiles of n = 8192 pushes over 4 MXUs.
    EXPECT_EQ(dot(kBf16, {512, 512}, kBf16, {512, 512}, {512, 512}), "MXU:2048");
    EXPECT_EQ(m_cost.flopsUnit, Mxu);
    EXPECT_EQ(m_cost.useful, Flops(std::int64_t{2} * 512 * 512 * 512));
    EXPECT_EQ(m_cost.executed, m_cost.useful);
    // A mixed product runs at the rate of its wider side.
    EXPECT_EQ(dot(kInt8, {512, 512}, kInt8, {512, 512}, {512, 512}), "MXU:1024");
    EXPECT_EQ(dot(kInt8, {512, 512}, kBf16, {512, 512}, {512, 512}), "MXU:2048");
    EXPECT_EQ(dot(kBf16, {512, 512}, kInt8, {512, 512}, {512, 512}), "MXU:2048");
}

TEST_F(Cost, aDotOfF32TakesAsManyPassesOfBf16AsItsPrecisionSays)
{
    const auto cost = [&](DType left, DType right, ir::DotPrecision precision) {
        return dot(left, {512, 512}, right, {512, 512}, {512, 512},
                   {{1}, {0}, {}, {}, kF32, precision});
    };
    for (const auto& [left, right] : {std::pair{kF32, kF32}, {kF32, kBf16}, {kBf16, kF32}}) {
        EXPECT_EQ(cost(left, right, ir::DotPrecision::Default), "MXU:2048");
        EXPECT_EQ(m_cost.product->passes, 1);
        EXPECT_EQ(cost(left, right, ir::DotPrecision::High), "MXU:6144");
        EXPECT_EQ(cost(left, right, ir::DotPrecision::Highest), "MXU:12288");
        EXPECT_EQ(m_cost.product->passes, 6);
        EXPECT_EQ(m_cost.useful, Flops(std::int64_t{2} * 512 * 512 * 512));
    }
    // What fits in bf16 takes one pass, whatever precision is asked for.
    EXPECT_EQ(cost(kBf16, kBf16, ir::DotPrecision::Highest), "MXU:2048");
}

TEST_F(Cost, aDotPaysForWholeTiles)
{
    // 5 rows become 8, k = 100 is one tile of 128, n = 130 is 2 tiles: 16 pushes on 4 MXUs.
    EXPECT_EQ(dot(kBf16, {5, 100}, kBf16, {100, 130}, {5, 130}), "MXU:4");
    EXPECT_EQ(m_cost.useful, Flops(2 * 5 * 130 * 100));
    EXPECT_EQ(m_cost.executed, Flops(2 * 16 * 128 * 128));
    // k = 200 is 2 tiles: 8 x 2 x 1 pushes.
    EXPECT_EQ(dot(kBf16, {8, 200}, kBf16, {200, 128}, {8, 128}), "MXU:4");
    EXPECT_EQ(m_cost.executed, Flops(2 * 16 * 128 * 128));
    // One row: 8 pushes on 4 MXUs.
    EXPECT_EQ(dot(kBf16, {1, 128}, kBf16, {128, 128}, {1, 128}), "MXU:2");
}

TEST_F(Cost, aDotOfABatchIsItsParts)
{
    // 3 x (16 rows x 1 x 1), with the contracting axes where they are: 48 pushes on 4 MXUs.
    EXPECT_EQ(dot(kBf16, {3, 64, 16}, kBf16, {3, 32, 64}, {3, 16, 32}, {{1}, {2}, {0}, {0}, kF32}),
              "MXU:12");
    EXPECT_EQ(m_cost.useful, Flops(2 * 3 * 16 * 32 * 64));
}

TEST_F(Cost, aDotOfADtypeWithoutARateRunsAsTheFloatThatHoldsItsNumbers)
{
    const auto dot8 = [&](DType dtype) {
        const ir::ValueId a = value(dtype, {8, 128}), b = value(dtype, {128, 128});
        return demands(OpCode::DotGeneral, {a, b}, value(kF32, {8, 128}),
                       ir::DotParams{{1}, {0}, {}, {}, kF32});
    };
    EXPECT_EQ(dot8(DType::F8E4M3FN), dot8(DType::BF16)); // 4 bits of exponent do not fit in e5m2
    EXPECT_EQ(dot8(DType::F16), dot8(DType::F32));
    EXPECT_EQ(m_cost.product->dtype, DType::BF16);
}

TEST_F(Cost, aDotOfADtypeWithoutARateIsRefusedWithThoseThatHaveOne)
{
    const ir::ValueId x = value(kInt, {8, 8});
    const auto cost = tried(OpCode::DotGeneral, {x, x}, x, ir::DotParams{{1}, {0}, {}, {}, kInt});
    EXPECT_EQ(
        ir_test::sentence(cost),
        "unknown place: dot_general of int32 and int32: the MXU of TPU v5e takes bf16, f8e5m2, "
        "f8e4m3b11fnuz, int4, uint4, int8, uint8.");
}

TEST_F(Cost, elementwiseWorkIsRegistersOverSlots)
{
    // 256 registers on 4 slots; bf16 is widened to 32 bits first.
    EXPECT_EQ(demands(OpCode::Add, {m_big, m_big}, m_big), "VPU:64");
    EXPECT_EQ(m_cost.flopsUnit, Vpu);
    EXPECT_EQ(m_cost.useful, Flops(512 * 512));
    EXPECT_EQ(m_cost.executed, Flops(512 * 512));
    EXPECT_EQ(demands(OpCode::Mul, {m_half, m_half}, m_half), "VPU:64");
    // f32[3,100] is one padded tile of 4 x 128.
    const ir::ValueId small = value(kF32, {3, 100});
    EXPECT_EQ(demands(OpCode::Add, {small, small}, small), "VPU:1");
    EXPECT_EQ(m_cost.useful, Flops(300));
    EXPECT_EQ(m_cost.executed, Flops(512));
    // f32[8,640] is 5 registers: two cycles of 4 slots.
    const ir::ValueId five = value(kF32, {8, 640});
    EXPECT_EQ(demands(OpCode::Neg, {five}, five), "VPU:2");
}

TEST_F(Cost, comparisonsCountFlopsConvertsAndSelectsDoNot)
{
    const ir::ValueId mask = value(kBool, {512, 512});
    EXPECT_EQ(demands(OpCode::Lt, {m_big, m_big}, mask), "VPU:64");
    EXPECT_EQ(m_cost.useful, Flops(512 * 512));
    EXPECT_EQ(demands(OpCode::SelectN, {mask, m_big, m_big}, m_big), "VPU:64");
    EXPECT_EQ(m_cost.useful, Flops(0));
    EXPECT_EQ(demands(OpCode::ConvertElementType, {m_big}, m_half, ir::DTypeParams{kBf16}),
              "VPU:64");
    EXPECT_EQ(m_cost.flopsUnit, -1);
    EXPECT_EQ(demands(OpCode::Iota, {}, m_big, ir::IotaParams{kF32, {512, 512}, 0}), "VPU:64");
    EXPECT_EQ(m_cost.useful, Flops(0));
}

TEST_F(Cost, transcendentalsAreCountedApart)
{
    EXPECT_EQ(demands(OpCode::Exp, {m_big}, m_big), "EUP:512"); // 256 registers x 2 cycles
    EXPECT_EQ(m_cost.transcendentals, 512 * 512);
    EXPECT_EQ(m_cost.useful, Flops(0));
}

TEST_F(Cost, reductionsAcrossLanesGoThroughTheCrosslaneUnit)
{
    const ir::ValueId row = value(kF32, {512});
    EXPECT_EQ(demands(OpCode::ReduceSum, {m_big}, row, ir::AxesParams{{0}}), "VPU:64");
    EXPECT_EQ(m_cost.useful, Flops(512 * 512));
    // The VPU combines the registers of a row. 64 registers are left, and take 8 cycles each on 2
    // XLUs.
    EXPECT_EQ(demands(OpCode::ReduceMax, {m_big}, row, ir::AxesParams{{1}}), "VPU:64 XLU:256");
    // Rows are reduced first. What is left is f32[512], 2 KiB in one register.
    EXPECT_EQ(demands(OpCode::ReduceSum, {m_big}, m_scalar, ir::AxesParams{{0, 1}}),
              "VPU:64 XLU:4");
    EXPECT_EQ(m_cost.useful, Flops(512 * 512));
}

TEST_F(Cost, transposesCrossLanesAndOtherLayoutIsFree)
{
    EXPECT_EQ(demands(OpCode::Transpose, {m_big}, m_big, ir::PermutationParams{{1, 0}}),
              "XLU:1024");
    EXPECT_EQ(
        demands(OpCode::Reshape, {m_big}, value(kF32, {64, 8, 512}), ir::ShapeParams{{64, 8, 512}}),
        "");
    EXPECT_EQ(
        demands(OpCode::BroadcastInDim, {m_scalar}, m_big, ir::BroadcastParams{{512, 512}, {}}),
        "");
    EXPECT_EQ(m_cost.useful, Flops(0));
}

TEST_F(Cost, rollsByWholeRegistersAreFree)
{
    const auto rolled = [&](ir::ValueId array, std::int32_t axis, double by,
                            std::int32_t strideAxis = -1) {
        const ir::ValueId shift = value(kInt, {});
        m_program.values[static_cast<std::size_t>(shift.index)].literal = by;
        return demands(OpCode::Roll, {array, shift}, array, ir::RollParams{axis, 1, strideAxis});
    };
    EXPECT_EQ(rolled(m_big, 1, 128), "");
    EXPECT_EQ(rolled(m_big, 0, 8), "");
    EXPECT_EQ(rolled(value(kF32, {4, 512, 512}), 0, 1), "");
    EXPECT_EQ(rolled(m_big, 1, 1), "XLU:1024");
    EXPECT_EQ(rolled(m_big, 0, 4), "XLU:1024");
    EXPECT_EQ(rolled(m_big, 1, 128, 0), "XLU:1024"); // each row by another number
    EXPECT_EQ(rolled(value(kF32, {512, 200}), 1, 128), "XLU:512") << "its end is within registers";
    EXPECT_EQ(demands(OpCode::Roll, {m_big, value(kInt, {})}, m_big, ir::RollParams{1}),
              "XLU:1024");
}

// 256 registers in three rounds: 8 cycles each on 2 XLUs, and one cycle each on 4 slots of the VPU.
TEST_F(Cost, reshapesThatMakeLanesOfRowsTurnRegisters)
{
    const ir::ValueId wide = value(kF32, {1024, 256});
    EXPECT_EQ(demands(OpCode::Reshape, {m_big}, wide, ir::ShapeParams{{1024, 256}}),
              "XLU:3072 VPU:192");
    EXPECT_EQ(m_cost.useful, Flops(0));
    // What is the same everywhere is turned only once.
    const ir::ValueId row = value(kF32, {4, 128}), line = value(kF32, {512});
    EXPECT_EQ(demands(OpCode::Reshape, {row}, line, ir::ShapeParams{{512}}), "XLU:12 VPU:1");
}

// 32 registers in 28 rounds: 8 cycles each on 2 XLUs, and twice as many operations, to compare and
// to choose, on 4 slots.
TEST_F(Cost, sortsGoOverTheRegistersRoundByRound)
{
    const ir::ValueId keys = value(kF32, {256, 128});
    EXPECT_EQ(demands(OpCode::Sort, {keys}, keys, ir::SortParams{1, 1}), "XLU:3584 VPU:448");
}

TEST_F(Cost, loadsAndStoresMovePackedRegisters)
{
    const ir::ValueId f32 = value(kF32, {512, 512}, ir::MemorySpace::Vmem);
    const ir::ValueId bf16 = value(kBf16, {512, 512}, ir::MemorySpace::Vmem);
    EXPECT_EQ(demands(OpCode::Get, {f32}, m_big), "load:86");   // 256 over 3
    EXPECT_EQ(demands(OpCode::Get, {bf16}, m_half), "load:43"); // 128 over 3
    EXPECT_EQ(demands(OpCode::Swap, {f32, m_big}, m_big), "store:256");
    EXPECT_EQ(demands(OpCode::Swap, {bf16, m_half}, m_half), "store:128");
    // A slice costs what it touches: f32[8,128] is one register.
    EXPECT_EQ(demands(OpCode::Get, {f32}, value(kF32, {8, 128})), "load:1");
}

TEST_F(Cost, scalarsRunOnTheScalarUnitAndCountNothing)
{
    EXPECT_EQ(demands(OpCode::Add, {m_scalar, m_scalar}, m_scalar), "scalar:1");
    EXPECT_EQ(m_cost.useful, Flops(0));
    EXPECT_EQ(demands(OpCode::Exp, {m_scalar}, m_scalar), "scalar:1");
    EXPECT_EQ(m_cost.transcendentals, 0);
    EXPECT_EQ(demands(OpCode::ProgramId, {}, value(kInt, {}), ir::AxisParams{0}), "scalar:1");
    const ir::ValueId vmem = value(kF32, {8, 128}, ir::MemorySpace::Vmem);
    const ir::ValueId smem = value(kInt, {16}, ir::MemorySpace::Smem);
    EXPECT_EQ(demands(OpCode::Get, {vmem}, m_scalar), "scalar:1");
    EXPECT_EQ(demands(OpCode::Get, {smem}, value(kInt, {})), "scalar:1");
    EXPECT_EQ(demands(OpCode::Get, {smem}, value(kInt, {4})), "scalar:4");
}

TEST_F(Cost, aUnitThatTheChipLacksIsNamed)
{
    std::erase_if(m_chip.units, [](const chip::Unit& unit) {
        return unit.kind == UnitKind::Vector || unit.kind == UnitKind::Matrix;
    });
    EXPECT_EQ(ir_test::sentence(tried(OpCode::Add, {m_big, m_big}, m_big)),
              "unknown place: add needs a vector unit, which TPU v5e lacks.");
    EXPECT_EQ(ir_test::sentence(tried(OpCode::DotGeneral, {m_big, m_big}, m_big,
                                      ir::DotParams{{1}, {0}, {}, {}, kF32})),
              "unknown place: dot_general needs a matrix unit, which TPU v5e lacks.");
}

TEST_F(Cost, cyclesThatNoRunCouldTakeAreRefused)
{
    for (chip::Unit& unit : m_chip.units) {
        unit.cyclesPerRegister = 1e16;
    }
    EXPECT_EQ(ir_test::sentence(tried(OpCode::Add, {m_big, m_big}, m_big)),
              "unknown place: add takes more than 1e15 cycles of VPU; use smaller blocks or a chip "
              "with a faster unit.");
}

TEST_F(Cost, controlIsNoPartOfASegment)
{
    EXPECT_THROW((void)tried(OpCode::Cond, {m_scalar}, m_big), std::logic_error);
}

} // namespace pallascope::cost_test
