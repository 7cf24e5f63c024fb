// The dtype in which, and the number of passes with which, matrix units run products.
#include "core/cost/matrix_run.h"
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

#include <map>

namespace pallascope::cost_test {

using cost::MatrixRun;
using ir::DotPrecision;
using ir::OpCode;

namespace {

constexpr DotPrecision kDefault = DotPrecision::Default, kHigh = DotPrecision::High,
                       kHighest = DotPrecision::Highest;

// The matrix unit of a built-in chip, or one of the made-up units below.
chip::Unit matrixOf(const std::string& name)
{
    static const std::map<std::string, std::vector<DType>> kMadeUp{
        {"f32 alone", {DType::F32}},
        {"int8 alone", {DType::Int8}},
        {"fp8 and bf16", {DType::F8E4M3FN, DType::F8E5M2, DType::BF16}}};
    chip::Unit unit;
    if (const auto found = kMadeUp.find(name); found != kMadeUp.end()) {
        for (const DType dtype : found->second) {
            unit.matrixRates[dtype] = {};
        }
        return unit;
    }
    return *chip::parse(chip::chipText(name), name)->unitOf(UnitKind::Matrix);
}

struct Product
{
    std::string chip;
    DType lhs, rhs;
    DotPrecision precision;
    std::optional<MatrixRun> run;
};

std::vector<Product> cases()
{
    const auto f32 = DType::F32, bf16 = DType::BF16, f16 = DType::F16, e4m3 = DType::F8E4M3FN,
               e5m2 = DType::F8E5M2, int8 = DType::Int8, uint8 = DType::UInt8, int4 = DType::Int4,
               b11 = DType::F8E4M3B11FNUZ, uint4 = DType::UInt4, int16 = DType::Int16,
               int32 = DType::Int32;
    return {
        // f32 is cut into as many bf16 parts as the precision asks for, also if the other operand
        // is narrower.
        {"tpu_v5e", f32, f32, kDefault, {{bf16, 1}}},
        {"tpu_v5e", f32, f32, kHigh, {{bf16, 3}}},
        {"tpu_v5e", f32, f32, kHighest, {{bf16, 6}}},
        {"tpu_v2", f32, f32, kHighest, {{bf16, 6}}},
        {"tpu_v7x", f32, f32, kHigh, {{bf16, 3}}},
        {"tpu_v5e", f32, bf16, kHighest, {{bf16, 6}}},
        {"tpu_v5e", bf16, f32, kHigh, {{bf16, 3}}},
        {"tpu_v5e", int8, f32, kHigh, {{bf16, 3}}},
        // A unit that runs f32 directly.
        {"f32 alone", f32, f32, kDefault, {{f32, 1}}},
        {"f32 alone", f32, f32, kHighest, {{f32, 1}}},
        {"f32 alone", bf16, f32, kHighest, {{f32, 1}}},
        // What fits in bf16 is never cut.
        {"tpu_v5e", bf16, bf16, kDefault, {{bf16, 1}}},
        {"tpu_v5e", bf16, bf16, kHighest, {{bf16, 1}}},
        {"tpu_v5e", e4m3, e4m3, kHighest, {{bf16, 1}}},
        // f16 has three more bits of mantissa than bf16.
        {"tpu_v5e", f16, f16, kDefault, {{bf16, 1}}},
        {"tpu_v5e", f16, f16, kHighest, {{bf16, 6}}},
        {"tpu_v5e", bf16, f16, kHigh, {{bf16, 3}}},
        {"tpu_v5e", f16, bf16, kHigh, {{bf16, 3}}},
        // fp8 runs as such if the unit has a rate for it, and otherwise not: none of the three fp8
        // dtypes can stand for another.
        {"tpu_v7x", e4m3, e4m3, kDefault, {{e4m3, 1}}},
        {"tpu_v7x", e5m2, e5m2, kHighest, {{e5m2, 1}}},
        {"tpu_v5e", e5m2, e5m2, kDefault, {{e5m2, 1}}},
        {"tpu_v5e", e4m3, e4m3, kDefault, {{bf16, 1}}},
        {"tpu_v2", e5m2, e5m2, kDefault, {{bf16, 1}}},
        {"fp8 and bf16", b11, b11, kDefault, {{bf16, 1}}},
        {"tpu_v5e", e4m3, e5m2, kDefault, {{bf16, 1}}},
        {"tpu_v5e", e5m2, e4m3, kDefault, {{bf16, 1}}},
        {"tpu_v7x", e4m3, bf16, kDefault, {{bf16, 1}}},
        {"tpu_v7x", bf16, e4m3, kDefault, {{bf16, 1}}},
        // Narrow integers run as the narrowest integer that holds them, or else as bf16.
        {"tpu_v5e", int4, int4, kDefault, {{int4, 1}}},
        {"tpu_v5e", uint4, uint4, kDefault, {{uint4, 1}}},
        {"tpu_v5e", int4, int8, kDefault, {{int8, 1}}},
        {"tpu_v5e", int8, int4, kDefault, {{int8, 1}}},
        {"tpu_v2", int4, int4, kDefault, {{int8, 1}}},
        {"tpu_v2", uint4, uint4, kDefault, {{uint8, 1}}},
        {"tpu_v7x", int4, int4, kHighest, {{int8, 1}}},
        {"int8 alone", int4, int4, kDefault, {{int8, 1}}},
        {"fp8 and bf16", int8, int8, kHighest, {{bf16, 1}}}, // it has 8 bits, which bf16 holds
        {"fp8 and bf16", uint8, uint8, kDefault, {{bf16, 1}}},
        {"fp8 and bf16", int4, int4, kHighest, {{bf16, 1}}},
        // With a float as the other operand, integers run as floats.
        {"tpu_v5e", int8, bf16, kDefault, {{bf16, 1}}},
        {"tpu_v5e", bf16, int4, kHighest, {{bf16, 1}}},
        {"tpu_v5e", int8, e4m3, kDefault, {{bf16, 1}}},
        {"tpu_v5e", e4m3, int8, kDefault, {{bf16, 1}}},
        {"tpu_v5e", int32, f32, kHigh, {{bf16, 3}}},
        {"tpu_v5e", f32, int32, kHigh, {{bf16, 3}}},
        // Integers of more than 8 bits are cut. Integers of more bits than f32 holds cannot run.
        {"tpu_v5e", int16, int16, kDefault, {{bf16, 1}}},
        {"tpu_v5e", int16, int16, kHigh, {{bf16, 3}}},
        {"tpu_v5e", int32, int32, kDefault, {}},
        {"tpu_v5e", int8, int32, kDefault, {}},
        {"tpu_v5e", DType::Bool, DType::Bool, kDefault, {}},
        // If a unit has no bf16, nothing else replaces it.
        {"f32 alone", f16, f16, kDefault, {}},
        {"f32 alone", int8, int8, kDefault, {}},
        {"int8 alone", uint4, uint4, kDefault, {}},
        {"int8 alone", e4m3, e4m3, kDefault, {}},
        {"int8 alone", f32, f32, kDefault, {}},
    };
}

std::string text(const std::optional<MatrixRun>& run)
{
    return run ? std::to_string(run->passes) + " of " + std::string(dtypeName(run->dtype)) : "none";
}

} // namespace

TEST(MatrixRuns, areThoseOfTheTable)
{
    for (const Product& one : cases()) {
        EXPECT_EQ(text(cost::matrixRun(matrixOf(one.chip), one.lhs, one.rhs, one.precision)),
                  text(one.run))
            << one.chip << ": " << dtypeName(one.lhs) << " " << dtypeName(one.rhs)
            << " at precision " << static_cast<int>(one.precision);
    }
}

TEST(MatrixRuns, ofOperationsTakeTheirFactorsAndTheirPrecision)
{
    ir::Program program;
    const auto value = [&](DType dtype) {
        program.values.push_back({{dtype, {128, 128}, {}}, {}, {}});
        return ir::ValueId{static_cast<std::int32_t>(program.values.size() - 1)};
    };
    const chip::Unit unit = matrixOf("tpu_v5e");
    const ir::Operation dot{.code = OpCode::DotGeneral,
                            .operands = {value(DType::F32), value(DType::F32)},
                            .params = ir::DotParams{{1}, {0}, {}, {}, DType::F32, kHigh}};
    EXPECT_EQ(text(cost::matrixRun(unit, program, dot)), "3 of bf16");
    // A command to the unit names its sum first, which is f32 whatever the factors are.
    const ir::Operation request{
        .code = OpCode::MatmulAccLhs,
        .operands = {value(DType::F32), value(DType::Int8), value(DType::Int8)},
        .params = ir::MatrixUnitParams{}};
    EXPECT_EQ(text(cost::matrixRun(unit, program, request)), "1 of int8");
}

// The work of a segment on the matrix unit, for each way to run products.
TEST(MatrixRuns, ofASegmentAreSummedWhereTheyAreTheSame)
{
    const Shape shape{128, 128};
    const ir::Program program =
        ir_test::traced(
            {pl::in("x", DType::F32, shape), pl::in("y", DType::BF16, shape),
             pl::out("out", DType::F32, shape)},
            [](const std::vector<pl::Ref>& refs) {
                const pl::Value x = refs[0][pl::all].load(), y = refs[1][pl::all].load();
                pl::Value sum = pl::dotGeneral(x, x, {{1}, {0}, {}, {}, DType::F32, kDefault});
                for (const auto& [factor, precision] :
                     {std::pair{x, kHighest}, {y, kHigh}, {x, kHighest}}) {
                    sum =
                        sum
                        + pl::dotGeneral(factor, factor, {{1}, {0}, {}, {}, DType::F32, precision});
                }
                refs[2][pl::all] = sum;
            })
            .value();
    const cost::SegmentCost cost =
        cost::segmentCost(program, pointersTo(bodyOf(program)), v5e()).value();
    const Flops each(2 * 128 * 128 * 128);
    ASSERT_EQ(cost.products.size(), 2U);
    // Of the f32 product with default precision, and of the bf16 product.
    EXPECT_EQ(text(cost.products[0].run), "1 of bf16");
    EXPECT_EQ(cost.products[0].flops, each + each);
    EXPECT_EQ(text(cost.products[1].run), "6 of bf16");
    EXPECT_EQ(cost.products[1].flops, each + each);
    // The number of passes makes no difference.
    EXPECT_EQ(cost.useful[Mxu], each + each + each + each);
}

} // namespace pallascope::cost_test
