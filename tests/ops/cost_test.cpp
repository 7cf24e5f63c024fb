// Which units operations use, and for how long.
#include "core/cost/segment.h"
#include "core/ir/infer.h"
#include "tests/machine/support.h"
#include "tests/ops/cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace pallascope::ops_test {
namespace {

using ir::OpCode;

// The registers of 32-bit elements that each kind of unit works on. Units that are not named are
// not used.
using Demands = std::map<UnitKind, std::int64_t>;

struct Priced
{
    OpCode code;
    std::vector<ir::Type> operands;
    ir::Params params;
    Demands registers;
};

cost::OperationCost costOf(const Priced& priced)
{
    ir::Program program;
    ir::Operation operation{.code = priced.code, .params = priced.params};
    const auto add = [&](const ir::Type& type) {
        program.values.push_back({type, {}, {}});
        return ir::ValueId{static_cast<std::int32_t>(program.values.size() - 1)};
    };
    for (const ir::Type& type : priced.operands) {
        operation.operands.push_back(add(type));
    }
    const Result<std::vector<ir::Type>> types = ir::inferTypes(program, operation);
    for (const ir::Type& type : *types) {
        operation.results.push_back(add(type));
    }
    return *cost::operationCost(program, operation, machine_test::v5e());
}

ir::Type array(DType dtype, std::initializer_list<Extent> shape)
{
    return {dtype, Shape(shape), {}};
}

TEST(Cost, everyKindOfOperationUsesItsUnits)
{
    // (16, 256) of 32 bits is 2 x 2 registers of (8, 128).
    const ir::Type x = array(DType::F32, {16, 256}), i = array(DType::Int32, {16, 256}),
                   u = array(DType::UInt32, {16, 256}), scalar = array(DType::F32, {}),
                   word = array(DType::UInt32, {});
    const std::vector<Priced> all{
        {OpCode::Nextafter, {x, x}, {}, {{UnitKind::Vector, 4}}},
        {OpCode::Clz, {i}, {}, {{UnitKind::Vector, 4}}},
        {OpCode::Clamp, {scalar, x, scalar}, {}, {{UnitKind::Vector, 4}}},
        {OpCode::Erf, {x}, {}, {{UnitKind::Transcendental, 4}}},
        {OpCode::Reciprocal, {x}, ir::ReciprocalParams{}, {{UnitKind::Transcendental, 4}}},
        // x^5 = x * (x^2)^2 has three products.
        {OpCode::IntegerPow, {x}, ir::IntegerPowParams{5}, {{UnitKind::Vector, 12}}},
        // x^-5 has one division more.
        {OpCode::IntegerPow, {x}, ir::IntegerPowParams{-5}, {{UnitKind::Vector, 16}}},
        // 20 rounds of addition, rotation (3 operations) and xor; 5 injections of 3 additions each;
        // 2 additions at the start.
        {OpCode::Threefry2x32, {u, u, u, u}, {}, {{UnitKind::Vector, 4 * 117}}},
        // The chip makes random bits itself: one instruction for each register, whatever replaces
        // them here.
        {OpCode::PrngRandomBits,
         {word, word, word},
         ir::ShapeParams{Shape{16, 256}},
         {{UnitKind::Vector, 4}}},
        {OpCode::StopGradient, {x}, {}, {}},
        {OpCode::BitcastConvertType, {x}, ir::DTypeParams{DType::Int32}, {}},
        // (256, 16) is padded to (256, 128).
        {OpCode::Transpose, {x}, ir::PermutationParams{{1, 0}}, {{UnitKind::Crosslane, 32}}},
        {OpCode::Roll, {x, array(DType::Int32, {})}, ir::RollParams{1}, {{UnitKind::Crosslane, 4}}},
        {OpCode::Gather,
         {x, array(DType::Int32, {16, 256, 1})},
         ir::GatherParams{1},
         {{UnitKind::Crosslane, 4}}},
        // Parts that begin at whole registers are free; other parts must be shifted.
        {OpCode::Slice, {x}, ir::SliceParams{{8, 128}, {16, 256}, {}}, {}},
        {OpCode::Slice, {x}, ir::SliceParams{{4, 0}, {12, 256}, {}}, {{UnitKind::Crosslane, 2}}},
        {OpCode::Slice,
         {x},
         ir::SliceParams{{0, 0}, {16, 256}, {2, 1}},
         {{UnitKind::Crosslane, 2}}},
        {OpCode::Split, {x}, ir::SplitParams{{128, 128}, 1}, {}},
        {OpCode::Split, {x}, ir::SplitParams{{100, 156}, 1}, {{UnitKind::Crosslane, 6}}},
        {OpCode::Concatenate, {x, x}, ir::AxisParams{0}, {}},
        {OpCode::Concatenate,
         {array(DType::F32, {3, 256}), x},
         ir::AxisParams{0},
         {{UnitKind::Crosslane, 6}}},
        {OpCode::Stack, {x, x}, ir::AxisParams{0}, {}},
        {OpCode::Stack, {x, x}, ir::AxisParams{1}, {{UnitKind::Crosslane, 8}}},
        {OpCode::Unstack, {array(DType::F32, {2, 16, 256})}, ir::AxisParams{0}, {}},
        {OpCode::Tile, {x}, ir::TileParams{{2, 1}}, {}},
        {OpCode::Tile,
         {array(DType::F32, {16, 100})},
         ir::TileParams{{1, 2}},
         {{UnitKind::Crosslane, 4}}},
        {OpCode::Pad, {x, scalar}, ir::PadParams{{8, 0}, {0, 0}, {0, 0}}, {}},
        {OpCode::Pad,
         {x, scalar},
         ir::PadParams{{1, 0}, {7, 0}, {0, 0}},
         {{UnitKind::Crosslane, 6}}},
        // Along sublanes, the vector unit works alone. Along lanes, it makes one register of a
        // row's registers, which the crosslane unit then handles. Running sums along lanes have no
        // such shortcut.
        {OpCode::Argmax, {x}, ir::ArgParams{0}, {{UnitKind::Vector, 4}}},
        {OpCode::Argmax, {x}, ir::ArgParams{1}, {{UnitKind::Vector, 4}, {UnitKind::Crosslane, 2}}},
        {OpCode::Cumsum, {x}, ir::CumulativeParams{0}, {{UnitKind::Vector, 4}}},
        {OpCode::Cumsum,
         {x},
         ir::CumulativeParams{1},
         {{UnitKind::Vector, 4}, {UnitKind::Crosslane, 4}}},
        {OpCode::Rev, {x}, ir::AxesParams{{0}}, {{UnitKind::Crosslane, 4}}},
        {OpCode::DebugPrint, {x}, ir::TextParams{"{}"}, {}},
    };
    const chip::Chip& chip = machine_test::v5e();
    for (const Priced& priced : all) {
        Demands expected;
        for (const auto& [kind, registers] : priced.registers) {
            const chip::Unit& unit = *chip.unitOf(kind);
            const double cycles = static_cast<double>(registers) * unit.cyclesPerRegister;
            expected[kind] =
                static_cast<std::int64_t>(std::ceil(cycles / static_cast<double>(unit.count)));
        }
        Demands found;
        for (const cost::Demand& demand : costOf(priced).demands) {
            found[chip.units[static_cast<std::size_t>(demand.unit)].kind] += demand.cycles.value();
        }
        EXPECT_EQ(found, expected) << ir::opName(priced.code);
    }
}

TEST(Cost, everyCaseHasACost)
{
    for (const Case& one : cases()) {
        if (one.code == OpCode::DotGeneral) {
            continue; // these depend on the dtypes that the chip's matrix unit takes
        }
        const Single test = single(one);
        const Result<cost::OperationCost> cost =
            cost::operationCost(test.program, test.operation, machine_test::v5e());
        EXPECT_TRUE(cost) << one.name;
    }
}

} // namespace
} // namespace pallascope::ops_test
