// What is derived from a pipeline: how many buffers an operand has, whether its block moves, and
// which grid axes the block follows.
#include "core/ir/pipeline_facts.h"
#include "tests/ir/kernels.h"

#include <gtest/gtest.h>

namespace pallascope::ir_test {

namespace {

// A program with grid (2, 1, 3). x is [16,384] and cut by `spec`; out is one block.
ir::Program withSpec(const pl::BlockSpec& spec)
{
    const auto kernel = [&](pl::Ref xHbm, pl::Ref outHbm) {
        const auto body = [](pl::Ref, pl::Ref) {};
        pl::emitPipeline({.grid = {2, 1, 3}, .in = {spec}, .out = {pl::wholeArray()}},
                         body)(xHbm, outHbm);
    };
    const Shape shape{16, 384};
    return pl::kernel("facts", {pl::in("x", DType::F32, shape), pl::out("out", DType::F32, shape)},
                      kernel)
        .value();
}

ir::OperandFacts factsOf(const pl::BlockSpec& spec, std::size_t operand = 0)
{
    const ir::Program program = withSpec(spec);
    return ir::operandFacts(program, *ir::pipelinesOf(program).at(0), operand);
}

} // namespace

TEST(PipelineFacts, aBlockThatMovesHasItsBuffersAndFollowsItsAxes)
{
    const ir::OperandFacts facts = factsOf(pl::block(
        {8, 128}, [](auto i, auto, auto k) { return pl::at(i, k); }, 3));
    EXPECT_FALSE(facts.trivial);
    EXPECT_EQ(facts.inCount, 3);
    EXPECT_EQ(facts.outCount, 0);
    EXPECT_EQ(facts.slots, 3);
    EXPECT_EQ(facts.blockCounts, (std::vector<Extent>{2, 3}));
    EXPECT_EQ(facts.gridAxes, (std::vector<std::int32_t>{0, 2}));
}

TEST(PipelineFacts, blocksThatOverhangCount)
{
    const ir::OperandFacts facts =
        factsOf(pl::block({16, 256}, [](auto, auto j, auto k) { return pl::at(j, k); }));
    EXPECT_EQ(facts.blockCounts, (std::vector<Extent>{1, 2}));
    EXPECT_EQ(facts.gridAxes, (std::vector<std::int32_t>{1, 2}));
}

TEST(PipelineFacts, computedIndicesFollowNoAxis)
{
    const ir::OperandFacts facts =
        factsOf(pl::block({8, 128}, [](auto i, auto, auto k) { return pl::at(i + k, 0); }));
    EXPECT_FALSE(facts.trivial);
    EXPECT_EQ(facts.gridAxes, (std::vector<std::int32_t>{-1, -1}));
}

TEST(PipelineFacts, aWholeBlockIsTrivialUnlessItsMapMoves)
{
    const ir::OperandFacts whole = factsOf(pl::wholeArray());
    EXPECT_TRUE(whole.trivial);
    EXPECT_EQ(whole.slots, 1);
    const Extent rows = 16, columns = 384;
    // Axis j has only one step, so an index map that uses only j does not move the block.
    EXPECT_TRUE(factsOf(pl::block({rows, columns}, [](auto, auto j, auto) {
                    return pl::at(j, j * 2);
                })).trivial);
    EXPECT_FALSE(factsOf(pl::block({rows, columns}, [](auto i, auto, auto) {
                     return pl::at(i, 0);
                 })).trivial);
    EXPECT_FALSE(factsOf(pl::block({rows, columns}, [](auto i, auto j, auto) {
                     return pl::at(j, (i + j) * 0);
                 })).trivial);
    EXPECT_FALSE(
        factsOf(pl::block({rows, 128}, [](auto, auto, auto) { return pl::at(0, 0); })).trivial);
}

TEST(PipelineFacts, outputsHaveOutBuffers)
{
    const ir::OperandFacts out = factsOf(pl::wholeArray(), 1);
    EXPECT_EQ(out.inCount, 0);
    EXPECT_EQ(out.outCount, 2);
    EXPECT_EQ(out.slots, 1); // because its block never moves
}

TEST(PipelineFacts, operandsThatGoBothWaysShareASlot)
{
    ir::Program program =
        withSpec(pl::block({8, 128}, [](auto i, auto, auto k) { return pl::at(i, k); }));
    auto& params = std::get<ir::PipelineParams>(program.body.operations.at(0).params);
    params.specs[0].direction = ir::BlockDirection::InOut;
    params.specs[0].inBuffers = 3;
    params.specs[0].outBuffers = 2;
    const ir::OperandFacts facts = ir::operandFacts(program, program.body.operations[0], 0);
    EXPECT_EQ(facts.inCount, 3);
    EXPECT_EQ(facts.outCount, 2);
    EXPECT_EQ(facts.slots, 4);
}

TEST(PipelineFacts, stepsAreTheProductOfTheGrid)
{
    EXPECT_EQ(ir::stepCount({.grid = {}}), 1);
    EXPECT_EQ(ir::stepCount({.grid = {2, 1, 3}}), 6);
}

} // namespace pallascope::ir_test
