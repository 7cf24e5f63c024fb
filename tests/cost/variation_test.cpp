// Along which axes the elements of a value differ, and what that leaves to compute.
#include "core/cost/variation.h"
#include "core/ir/infer.h"
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

namespace pallascope::cost_test {

using ir::OpCode;

namespace {

class VariationOf : public testing::Test
{
protected:
    ir::ValueId value(Shape shape, DType dtype = kF32)
    {
        return ir_test::freshValue(m_program, {dtype, std::move(shape), {}});
    }

    // The value that an operation yields, with the type that its rule gives.
    ir::ValueId made(OpCode code, std::vector<ir::ValueId> operands, ir::Params params = {})
    {
        ir::Operation operation{
            .code = code, .operands = std::move(operands), .params = std::move(params)};
        const ir::Type type = ir::inferTypes(m_program, operation).value().at(0);
        operation.results = {value(type.shape, type.dtype)};
        m_variation.add(operation);
        return operation.results[0];
    }

    ir::ValueId spread(ir::ValueId from, Shape shape, std::vector<std::int32_t> dimensions = {})
    {
        return made(OpCode::BroadcastInDim, {from},
                    ir::BroadcastParams{std::move(shape), std::move(dimensions)});
    }

    ir::ValueId iota(std::int32_t dimension)
    {
        return made(OpCode::Iota, {}, ir::IotaParams{kF32, {16, 256}, dimension});
    }

    ir::ValueId reshaped(ir::ValueId from, Shape shape)
    {
        return made(OpCode::Reshape, {from}, ir::ShapeParams{std::move(shape)});
    }

    ir::Program m_program;
    cost::Variation m_variation{m_program};
};

} // namespace

TEST_F(VariationOf, whatNobodySaidIsAlongEveryAxis)
{
    EXPECT_EQ(m_variation.distinct(value({16, 256})), (Shape{16, 256}));
    EXPECT_EQ(m_variation.distinct(value({})), (Shape{}));
}

TEST_F(VariationOf, aBroadcastIsAlongTheAxesThatItKeeps)
{
    EXPECT_EQ(m_variation.distinct(spread(value({}), {16, 256})), (Shape{1, 1}));
    EXPECT_EQ(m_variation.distinct(spread(value({256}), {16, 256}, {1})), (Shape{1, 256}));
    EXPECT_EQ(m_variation.distinct(spread(value({16}), {16, 256}, {0})), (Shape{16, 1}));
    EXPECT_EQ(m_variation.distinct(spread(value({16, 1}), {16, 256}, {0, 1})), (Shape{16, 1}));
    EXPECT_EQ(m_variation.distinct(spread(value({16, 256}), {4, 16, 256}, {1, 2})),
              (Shape{1, 16, 256}));
    // Broadcast twice: along an axis that a broadcast added, elements do not differ.
    const ir::ValueId row = spread(value({}), {256});
    EXPECT_EQ(m_variation.distinct(spread(row, {16, 256}, {1})), (Shape{1, 1}));
    const ir::ValueId column = spread(value({16}), {16, 256}, {0});
    EXPECT_EQ(m_variation.distinct(spread(column, {4, 16, 256}, {1, 2})), (Shape{1, 16, 1}));
}

TEST_F(VariationOf, anIotaIsAlongItsDimension)
{
    EXPECT_EQ(m_variation.distinct(iota(0)), (Shape{16, 1}));
    EXPECT_EQ(m_variation.distinct(iota(1)), (Shape{1, 256}));
}

TEST_F(VariationOf, randomBitsIsAlongEveryAxis)
{
    const ir::ValueId word = value({}, DType::UInt32);
    EXPECT_EQ(m_variation.distinct(
                  made(OpCode::PrngRandomBits, {word, word, word}, ir::ShapeParams{{16, 256}})),
              (Shape{16, 256}));
}

TEST_F(VariationOf, elementwiseResultsIsThatOfTheirOperandsTogether)
{
    const ir::ValueId rows = iota(0), lanes = iota(1), all = value({16, 256}),
                      none = spread(value({}), {16, 256});
    const auto of = [&](OpCode code, std::vector<ir::ValueId> operands, ir::Params params = {}) {
        return m_variation.distinct(made(code, std::move(operands), std::move(params)));
    };
    EXPECT_EQ(of(OpCode::Add, {lanes, lanes}), (Shape{1, 256}));
    EXPECT_EQ(of(OpCode::Add, {none, lanes}), (Shape{1, 256}));
    EXPECT_EQ(of(OpCode::Add, {none, none}), (Shape{1, 1}));
    EXPECT_EQ(of(OpCode::Add, {rows, lanes}), (Shape{16, 256}));
    EXPECT_EQ(of(OpCode::Add, {rows, all}), (Shape{16, 256}));
    EXPECT_EQ(of(OpCode::Exp, {rows}), (Shape{16, 1}));
    EXPECT_EQ(of(OpCode::Lt, {lanes, none}), (Shape{1, 256}));
    EXPECT_EQ(of(OpCode::ConvertElementType, {rows}, ir::DTypeParams{DType::BF16}), (Shape{16, 1}));
    const ir::ValueId mask = made(OpCode::Lt, {rows, none});
    EXPECT_EQ(of(OpCode::SelectN, {mask, lanes, lanes}), (Shape{16, 256}));
    EXPECT_EQ(of(OpCode::SelectN, {mask, none, none}), (Shape{16, 1}));
    // A scalar does not differ; the mask of a select may be a scalar.
    EXPECT_EQ(of(OpCode::SelectN, {value({}, kBool), lanes, none}), (Shape{1, 256}));
}

TEST_F(VariationOf, reductionsIsAlongTheAxesThatTheyKeep)
{
    const ir::ValueId rows = iota(0), lanes = iota(1);
    const auto of = [&](ir::ValueId from, std::vector<std::int32_t> axes) {
        return m_variation.distinct(
            made(OpCode::ReduceSum, {from}, ir::AxesParams{std::move(axes)}));
    };
    EXPECT_EQ(of(rows, {1}), (Shape{16}));
    EXPECT_EQ(of(rows, {0}), (Shape{1}));
    EXPECT_EQ(of(lanes, {1}), (Shape{1}));
    EXPECT_EQ(of(lanes, {0}), (Shape{256}));
    EXPECT_EQ(of(value({16, 256}), {0}), (Shape{256}));
    const ir::ValueId deep = spread(value({256}), {4, 16, 256}, {2});
    EXPECT_EQ(of(deep, {1}), (Shape{1, 256}));
    EXPECT_EQ(of(deep, {0, 2}), (Shape{1}));
    // Running sums along an axis differ there even if their terms do not.
    const ir::ValueId ones = spread(value({}), {16, 256});
    EXPECT_EQ(m_variation.distinct(made(OpCode::Cumsum, {ones}, ir::CumulativeParams{1, false})),
              (Shape{16, 256}));
}

TEST_F(VariationOf, reshapedValuesStaysWhereAxesOfOneComeAndGo)
{
    const ir::ValueId lanes = iota(1), none = spread(value({}), {16, 256});
    EXPECT_EQ(m_variation.distinct(reshaped(lanes, {16, 1, 256})), (Shape{1, 1, 256}));
    EXPECT_EQ(m_variation.distinct(reshaped(lanes, {1, 16, 256, 1})), (Shape{1, 1, 256, 1}));
    EXPECT_EQ(m_variation.distinct(reshaped(reshaped(lanes, {16, 1, 256}), {16, 256})),
              (Shape{1, 256}));
    // Along axes that are cut or joined elements may differ, unless nothing differs.
    EXPECT_EQ(m_variation.distinct(reshaped(lanes, {4096})), (Shape{4096}));
    EXPECT_EQ(m_variation.distinct(reshaped(lanes, {32, 128})), (Shape{32, 128}));
    EXPECT_EQ(m_variation.distinct(reshaped(none, {32, 128})), (Shape{1, 1}));
    const ir::ValueId deep = spread(value({256}), {4, 1, 256}, {2});
    EXPECT_EQ(m_variation.distinct(made(OpCode::Squeeze, {deep}, ir::AxesParams{{1}})),
              (Shape{1, 256}));
}

TEST_F(VariationOf, whatIsMovedElsewhereIsAlongEveryAxis)
{
    const ir::ValueId lanes = iota(1);
    EXPECT_EQ(m_variation.distinct(made(OpCode::Transpose, {lanes}, ir::PermutationParams{{1, 0}})),
              (Shape{256, 16}));
    EXPECT_EQ(m_variation.distinct(made(OpCode::Slice, {lanes}, ir::SliceParams{{0, 0}, {8, 128}})),
              (Shape{1, 128}));
    EXPECT_EQ(m_variation.distinct(made(OpCode::Tile, {lanes}, ir::TileParams{{2, 1}})),
              (Shape{1, 256}));
}

namespace {

// The cycles of the vector unit for the operations of a body, one after the other.
std::string vectorCycles(const ir_test::RefsBody& body)
{
    const Shape shape{512, 512};
    const ir::Program program =
        ir_test::traced(
            {pl::in("x", kF32, shape), pl::in("bias", kF32, {512}), pl::out("out", kF32, shape)},
            body)
            .value();
    const cost::SegmentCost cost =
        cost::segmentCost(program, pointersTo(bodyOf(program)), v5e()).value();
    std::string text;
    for (const cost::Place& place : cost.places) {
        for (const ir::Operation* operation : pointersTo(bodyOf(program))) {
            if (operation->id == place.operation && place.unit == Vpu) {
                text += (text.empty() ? "" : " ") + std::string(ir::opName(operation->code)) + ":"
                        + std::to_string(place.length.value());
            }
        }
    }
    return text;
}

} // namespace

// f32[512,512] is 256 registers at 4 per cycle; a row of 512 is one register, a column 64.
TEST(CostOfVariation, ofABroadcastChainIsThatOfWhatIsBroadcast)
{
    EXPECT_EQ(vectorCycles([](const std::vector<pl::Ref>& refs) {
                  const pl::Value bias =
                      pl::broadcastTo(refs[1][pl::all].load(), {512, 512}, {1}) * 2.0 + 1.0;
                  refs[2][pl::all] = refs[0][pl::all] + bias;
              }),
              "mul:1 add:1 add:64");
    EXPECT_EQ(vectorCycles([](const std::vector<pl::Ref>& refs) {
                  const pl::Value row = pl::reshape(refs[1][pl::all], {512, 1});
                  const pl::Value column = pl::broadcastTo(row, {512, 512}, {0, 1}) * 3.0;
                  refs[2][pl::all] = refs[0][pl::all] * column;
              }),
              "mul:16 mul:64");
    EXPECT_EQ(vectorCycles([](const std::vector<pl::Ref>& refs) {
                  const pl::Value rows = pl::iota(kF32, {512, 512}, 0),
                                  lanes = pl::iota(kF32, {512, 512}, 1);
                  const pl::Value mask = rows < lanes;
                  refs[2][pl::all] = pl::select(mask, refs[0][pl::all], 0.0);
              }),
              "iota:16 iota:1 lt:64 select_n:64");
}

// The operations are counted on all elements of the arrays, however much a compiler saves.
// The FLOPs are those that the unit computes, so that no run is above its peak.
TEST(CostOfVariation, isThatOfOneRegisterInItsFlopsToo)
{
    ir::Program program;
    const auto value = [&](Shape shape) {
        program.values.push_back({{kF32, std::move(shape), {}}, {}, {}});
        return ir::ValueId{static_cast<std::int32_t>(program.values.size() - 1)};
    };
    const ir::ValueId scalar = value({}), spread = value({512, 512}), sum = value({512, 512});
    const ir::Operation broadcast{.code = OpCode::BroadcastInDim,
                                  .operands = {scalar},
                                  .results = {spread},
                                  .params = ir::BroadcastParams{{512, 512}, {}}};
    const ir::Operation add{.code = OpCode::Add, .operands = {spread, spread}, .results = {sum}};
    cost::Variation variation(program);
    variation.add(broadcast);
    variation.add(add);
    const auto known = cost::operationCost(program, add, v5e(), {}, &variation).value();
    const auto unknown = cost::operationCost(program, add, v5e()).value();
    EXPECT_EQ(known.demands.at(0).cycles, Cycles(1));
    EXPECT_EQ(unknown.demands.at(0).cycles, Cycles(64));
    EXPECT_EQ(known.useful, Flops(1));
    EXPECT_EQ(known.executed, Flops(128)) << "a row of lanes";
    EXPECT_EQ(unknown.useful, Flops(512 * 512));
}

} // namespace pallascope::cost_test
