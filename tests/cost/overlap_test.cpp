// How the units of a chip share the time of a segment, and figures that say more than how fast a
// unit is.
#include "tests/chip/edited_chip.h"
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pallascope::cost_test {

using ir::OpCode;

namespace {

// A segment that a test puts together from operations.
class Overlap : public testing::Test
{
protected:
    ir::ValueId value(DType dtype, Shape shape, std::optional<ir::MemorySpace> space = {})
    {
        return ir_test::freshValue(m_program, {dtype, std::move(shape), space});
    }

    ir::ValueId registers(Extent count) { return value(kF32, {8 * count, 128}); }

    ir::ValueId add(OpCode code, std::vector<ir::ValueId> operands, ir::ValueId result,
                    ir::Params params = {})
    {
        m_operations.push_back({.code = code,
                                .operands = std::move(operands),
                                .results = {result},
                                .params = std::move(params),
                                .id = static_cast<std::int32_t>(m_operations.size())});
        return result;
    }

    // Work for one unit alone, of this many cycles of the v5e. It depends on no other work.
    void vector(Extent cycles) { add(OpCode::Neg, {registers(4 * cycles)}, registers(4 * cycles)); }

    void transcendental(Extent cycles)
    {
        add(OpCode::Exp, {registers(cycles / 2)}, registers(cycles / 2));
    }

    void crosslane(Extent cycles)
    {
        const Extent edge = 128 * cycles / 64; // tiles of 128 have 16 registers; 8 cycles; 2 XLUs
        add(OpCode::Transpose, {value(kF32, {edge, 128})}, value(kF32, {128, edge}),
            ir::PermutationParams{{1, 0}});
    }

    void matrix(Extent cycles)
    {
        add(OpCode::DotGeneral, {value(kBf16, {4 * cycles, 128}), value(kBf16, {128, 128})},
            value(kF32, {4 * cycles, 128}), ir::DotParams{{1}, {0}, {}, {}, kF32});
    }

    void load(Extent cycles)
    {
        const Shape shape{8 * 3 * cycles, 128};
        add(OpCode::Get, {value(kF32, shape, ir::MemorySpace::Vmem)}, value(kF32, shape));
    }

    void store(Extent cycles)
    {
        const Shape shape{8 * cycles, 128};
        add(OpCode::Swap, {value(kF32, shape, ir::MemorySpace::Vmem), value(kF32, shape)},
            value(kF32, shape));
    }

    cost::SegmentCost segment(const chip::Figures& figures)
    {
        std::vector<const ir::Operation*> pointers;
        for (const ir::Operation& operation : m_operations) {
            pointers.push_back(&operation);
        }
        return cost::segmentCost(m_program, pointers, chip::edited(figures)).value();
    }

    std::int64_t cycles(const chip::Figures& figures) { return segment(figures).cycles.value(); }

    static chip::Figures overlap(int exponent)
    {
        return {{"/constants/overlap_exponent", exponent}};
    }

    ir::Program m_program;
    std::vector<ir::Operation> m_operations;
};

} // namespace

TEST_F(Overlap, isFullWithoutAnExponent)
{
    vector(300);
    EXPECT_EQ(cycles({}), 300);
    transcendental(400);
    EXPECT_EQ(cycles({}), 400);
    matrix(100);
    crosslane(128);
    load(399);
    EXPECT_EQ(cycles({}), 400);
}

TEST_F(Overlap, ofUnitsThatComputeIsTheNormOfTheExponent)
{
    vector(300);
    EXPECT_EQ(cycles(overlap(2)), 300); // one unit alone takes its own time
    transcendental(400);
    EXPECT_EQ(cycles(overlap(2)), 500);
    EXPECT_EQ(cycles(overlap(4)),
              std::ceil(std::pow(std::pow(300.0, 4) + std::pow(400.0, 4), 0.25)));
    EXPECT_EQ(cycles(overlap(64)), 401); // almost no time is added, but it is rounded up
}

TEST_F(Overlap, isOfTheUnitsThatWaitForOneAnother)
{
    matrix(128);
    vector(128);
    EXPECT_EQ(cycles(overlap(2)), 182); // 128 * sqrt(2)
    transcendental(128);
    EXPECT_EQ(cycles(overlap(2)), 222); // 128 * sqrt(3)
    EXPECT_EQ(cycles(overlap(4)), 169);
    crosslane(128); // this unit works ahead of the others
    EXPECT_EQ(cycles(overlap(4)), 169);
    crosslane(128);
    EXPECT_EQ(cycles(overlap(4)), 256);
}

TEST_F(Overlap, ofOneUnitsOperationsIsNone)
{
    vector(100);
    vector(200);
    transcendental(400);
    EXPECT_EQ(cycles(overlap(2)), 500);
}

TEST_F(Overlap, ofLoadsStoresAndScalarsIsFull)
{
    vector(300);
    transcendental(400);
    load(499);
    store(450);
    const ir::ValueId scalar = value(kF32, {});
    add(OpCode::Add, {scalar, scalar}, value(kF32, {}));
    EXPECT_EQ(cycles(overlap(2)), 500);
    load(101); // loads of 600 cycles in all
    EXPECT_EQ(cycles(overlap(2)), 600);
    store(200); // 650 cycles in all
    EXPECT_EQ(cycles(overlap(2)), 650);
    chip::Figures slow = overlap(2);
    slow.emplace_back("/units/6/cycles_per_register", 700);
    EXPECT_EQ(cycles(slow), 700);
}

TEST_F(Overlap, ofNothingButLoadsIsTheirs)
{
    load(70);
    store(30);
    EXPECT_EQ(cycles(overlap(2)), 70);
}

// The segment is longer than its busiest unit takes, so every operation has its place.
TEST_F(Overlap, leavesEveryOperationItsPlace)
{
    vector(300);
    transcendental(400);
    const cost::SegmentCost cost = segment(overlap(2));
    ASSERT_EQ(cost.places.size(), 2U);
    EXPECT_EQ(cost.places[0].length, Cycles(300));
    EXPECT_EQ(cost.places[1].length, Cycles(400));
    for (const cost::Place& place : cost.places) {
        EXPECT_GE(place.offset, Cycles(0));
        EXPECT_LE(place.offset + place.length, cost.cycles);
    }
    EXPECT_EQ(cost.duration, Picoseconds(333'334)); // 500 / 1.5 GHz
}

TEST_F(Overlap, latenciesAddUpAlongOperationsThatNeedEachOther)
{
    const chip::Figures latencies{{"/units/1/latency_cycles", 7},    // VPU
                                  {"/units/2/latency_cycles", 20},   // EUP
                                  {"/units/3/latency_cycles", 100}}; // XLU
    ir::ValueId last = registers(1);
    for (int i = 0; i < 3; ++i) {
        last = add(OpCode::Neg, {last}, registers(1));
    }
    EXPECT_EQ(cycles({}), 3);
    EXPECT_EQ(cycles(latencies), 21);
    last = add(OpCode::Exp, {last}, registers(1));
    EXPECT_EQ(cycles(latencies), 41);
    // Operations beside the chain add no time, nor does a change of layout inside the chain.
    for (int i = 0; i < 5; ++i) {
        add(OpCode::Neg, {registers(1)}, registers(1));
    }
    EXPECT_EQ(cycles(latencies), 41);
    last = add(OpCode::Reshape, {last}, value(kF32, {8, 1, 128}), ir::ShapeParams{{8, 1, 128}});
    EXPECT_EQ(cycles(latencies), 41);
    last = add(OpCode::Neg, {last}, value(kF32, {8, 1, 128}));
    EXPECT_EQ(cycles(latencies), 48);
    // The result of an operation on two units is ready when the slower one is done.
    add(OpCode::ReduceMax, {last}, value(kF32, {8, 1}), ir::AxesParams{{2}});
    EXPECT_EQ(cycles(latencies), 148);
}

TEST_F(Overlap, latenciesOfOneOperationCountOnceHoweverLargeItIs)
{
    vector(300);
    EXPECT_EQ(cycles({{"/units/1/latency_cycles", 7}}), 300);
    EXPECT_EQ(cycles({{"/units/1/latency_cycles", 301}}), 301);
}

// ---- more than how fast a unit is

namespace {

class Figures : public Overlap
{
protected:
    // "unit:cycles ..." of the operations, one after the other.
    std::string demands(const chip::Figures& figures)
    {
        std::string text;
        for (const cost::Place& place : segment(figures).places) {
            const chip::Chip chip = chip::edited({});
            text += (text.empty() ? "" : " ")
                    + chip.units[static_cast<std::size_t>(place.unit)].name + ":"
                    + std::to_string(place.length.value());
        }
        return text;
    }

    void dot(DType dtype, ir::DotPrecision precision, Extent rows = 512)
    {
        add(OpCode::DotGeneral, {value(dtype, {rows, 512}), value(dtype, {512, 512})},
            value(kF32, {rows, 512}), ir::DotParams{{1}, {0}, {}, {}, kF32, precision});
    }
};

} // namespace

// 4 x 4 tiles of 512 rows each on 4 MXUs. Each pass goes through all of them again.
TEST_F(Figures, cyclesPerTileAreOfEveryTileAndPass)
{
    const chip::Figures figures{{"/units/0/cycles_per_tile", 10}};
    dot(kBf16, ir::DotPrecision::Default);
    EXPECT_EQ(demands({}), "MXU:2048");
    EXPECT_EQ(demands(figures), "MXU:2088");
    m_operations.clear();
    dot(kF32, ir::DotPrecision::High);
    EXPECT_EQ(demands(figures), "MXU:6264");
    m_operations.clear();
    dot(kBf16, ir::DotPrecision::Default, 8); // for few rows, the tiles cost more than the rows
    EXPECT_EQ(demands(figures), "MXU:72");
}

// 256 registers of results, for each of 4 tiles along k, on the 4 slots of the vector unit.
TEST_F(Figures, cyclesPerResultAreOfTheVectorUnit)
{
    const chip::Figures figures{{"/units/0/cycles_per_result", 0.25}};
    dot(kBf16, ir::DotPrecision::Default);
    EXPECT_EQ(demands({}), "MXU:2048");
    EXPECT_EQ(demands(figures), "MXU:2048 VPU:64");
    m_operations.clear();
    dot(kF32, ir::DotPrecision::Highest);
    EXPECT_EQ(demands(figures), "MXU:12288 VPU:384");
    m_operations.clear();
    // Three products of 16 x 32 with two registers each and one tile along k.
    add(OpCode::DotGeneral, {value(kBf16, {3, 16, 64}), value(kBf16, {3, 64, 32})},
        value(kF32, {3, 16, 32}), ir::DotParams{{2}, {1}, {0}, {0}, kF32});
    EXPECT_EQ(demands({{"/units/0/cycles_per_result", 4}}), "MXU:12 VPU:6");
}

// The FLOPs of a product count on the matrix unit alone.
TEST_F(Figures, cyclesPerResultAreNoFlops)
{
    dot(kBf16, ir::DotPrecision::Default);
    const cost::SegmentCost cost = segment({{"/units/0/cycles_per_result", 0.25}});
    EXPECT_EQ(cost.useful[Mxu], Flops(std::int64_t{2} * 512 * 512 * 512));
    EXPECT_EQ(cost.useful[Vpu], Flops(0));
}

// [512,512] of 32 bits is 256 registers on 4 slots; of 16 bits it is 128 registers.
TEST_F(Figures, packedDtypesAreComputedWithAsTheyAre)
{
    const chip::Figures packed{{"/units/1/packed", {"bf16", "int8"}}};
    const auto of = [&](OpCode code, DType from, DType to, ir::Params params = {}) {
        m_operations.clear();
        const ir::ValueId operand = value(from, {512, 512});
        std::vector<ir::ValueId> operands{operand};
        if (code == OpCode::Add || code == OpCode::Lt) {
            operands.push_back(operand);
        }
        const Shape shape = code == OpCode::ReduceMax ? Shape{512} : Shape{512, 512};
        add(code, operands, value(to, shape), std::move(params));
        return demands({}) + " " + demands(packed);
    };
    EXPECT_EQ(of(OpCode::Add, kF32, kF32), "VPU:64 VPU:64");
    EXPECT_EQ(of(OpCode::Add, kBf16, kBf16), "VPU:64 VPU:32");
    EXPECT_EQ(of(OpCode::Add, kInt8, kInt8), "VPU:64 VPU:16");
    // Not in the list of packed dtypes.
    EXPECT_EQ(of(OpCode::Add, DType::F16, DType::F16), "VPU:64 VPU:64");
    // A comparison has the width of what it compares, a conversion that of its wider side.
    EXPECT_EQ(of(OpCode::Lt, kBf16, kBool), "VPU:64 VPU:32");
    EXPECT_EQ(of(OpCode::Lt, kF32, kBool), "VPU:64 VPU:64");
    EXPECT_EQ(of(OpCode::ConvertElementType, kF32, kBf16, ir::DTypeParams{kBf16}), "VPU:64 VPU:64");
    EXPECT_EQ(of(OpCode::ConvertElementType, kBf16, kF32, ir::DTypeParams{kF32}), "VPU:64 VPU:64");
    EXPECT_EQ(of(OpCode::ReduceMax, kBf16, kBf16, ir::AxesParams{{0}}), "VPU:64 VPU:32");
    // FLOPs are counted in elements.
    EXPECT_EQ(of(OpCode::Add, kBf16, kBf16), "VPU:64 VPU:32");
    EXPECT_EQ(segment(packed).useful[Vpu], Flops(512 * 512));
}

TEST_F(Figures, operationsTakeTheInstructionsThatTheChipSays)
{
    const chip::Figures figures{
        {"/operations/div/vector", 9},         {"/operations/div/transcendental", 1},
        {"/operations/exp/vector", 2.5},       {"/operations/exp/transcendental", 1},
        {"/operations/integer_pow/vector", 2}, {"/operations/sign/scalar", 0}};
    const ir::ValueId x = value(kF32, {512, 512}); // 256 registers
    const auto of = [&](OpCode code, std::vector<ir::ValueId> operands, ir::Params params = {}) {
        m_operations.clear();
        const Shape shape = m_program.type(operands[0]).shape;
        add(code, std::move(operands), value(kF32, shape), std::move(params));
        return demands(figures);
    };
    EXPECT_EQ(of(OpCode::Div, {x, x}), "VPU:576 EUP:512");
    EXPECT_EQ(of(OpCode::Exp, {x}), "VPU:160 EUP:512");
    // 4 multiplications.
    EXPECT_EQ(of(OpCode::IntegerPow, {x}, ir::IntegerPowParams{-5}), "VPU:512");
    EXPECT_EQ(of(OpCode::Sign, {x}), "scalar:0");
    EXPECT_EQ(of(OpCode::Add, {x, x}), "VPU:64"); // the chip says nothing about it
    const ir::ValueId scalar = value(kF32, {});
    EXPECT_EQ(of(OpCode::Div, {scalar, scalar}), "scalar:1");
}

// Whatever other units help, the FLOPs count on the vector unit.
TEST_F(Figures, operationsOfSeveralUnitsCountTheirFlopsOnTheVectorUnit)
{
    const ir::ValueId x = value(kF32, {512, 512});
    add(OpCode::Div, {x, x}, value(kF32, {512, 512}));
    const cost::SegmentCost cost =
        segment({{"/operations/div/vector", 9}, {"/operations/div/transcendental", 1}});
    EXPECT_EQ(cost.useful[Vpu], Flops(512 * 512));
    EXPECT_EQ(cost.executed[Vpu], Flops(512 * 512));
    EXPECT_EQ(cost.useful[Eup], Flops(0));
    EXPECT_EQ(cost.executed[Eup], Flops(0));
}

// Cores that share an operation each do an equal part of it, rounded up.
TEST_F(Figures, coresShareOperations)
{
    const ir::ValueId x = value(kF32, {8 * 10, 128}); // 10 registers take 3 cycles
    add(OpCode::Exp, {x}, x);
    const chip::Chip chip = v5e();
    const auto alone = cost::operationCost(m_program, m_operations[0], chip).value();
    const auto shared = cost::operationCost(m_program, m_operations[0], chip, {0, 3}).value();
    EXPECT_EQ(alone.demands.at(0).cycles, Cycles(20));
    EXPECT_EQ(shared.demands.at(0).cycles, Cycles(7));
    EXPECT_EQ(shared.transcendentals, alone.transcendentals);
}

} // namespace pallascope::cost_test
