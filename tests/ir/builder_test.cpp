// The tracer behind Pallas-style C++: types, places and order of what the author of a kernel
// writes.
#include "tests/ir/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pallascope::ir_test {

using ir::OpCode;

namespace {

constexpr const char* kFile = "builder_test.cpp";

// The operations of a program in program order, with those in regions.
std::vector<const ir::Operation*> operationsOf(const ir::Program& program)
{
    std::vector<const ir::Operation*> all;
    ir::forEachOperation(program.body,
                         [&](const ir::Operation& operation) { all.push_back(&operation); });
    return all;
}

std::vector<std::string> namesOf(const ir::Program& program)
{
    std::vector<std::string> names;
    for (const ir::Operation* operation : operationsOf(program)) {
        names.emplace_back(ir::opName(operation->code));
    }
    return names;
}

std::vector<pl::detail::ArgumentSpec> twoBlocks(const Shape& shape = {8, 128})
{
    return {pl::in("x", DType::F32, shape), pl::out("out", DType::F32, shape)};
}

} // namespace

TEST(Builder, everyOperationKnowsTheLineItWasWrittenOn)
{
    int first = 0;
    const auto body = [&](const std::vector<pl::Ref>& refs) {
        first = __LINE__ + 1;
        const pl::Value x = refs[0][pl::all].load();
        const pl::Value doubled = x + // the operator's line is that of its right operand
                                  x;
        refs[1][pl::all] = pl::exp(doubled);
        refs[1][pl::all] += 1.0;
    };
    const Result<ir::Program> program = traced(twoBlocks(), body);
    ASSERT_TRUE(program) << sentence(program);
    std::vector<std::pair<std::string, int>> lines;
    for (const ir::Operation* operation : operationsOf(*program)) {
        const auto at = static_cast<std::size_t>(operation->location.index);
        EXPECT_EQ(program->locations[at].file, "ir/builder_test.cpp");
        lines.emplace_back(ir::opName(operation->code), program->locations[at].line - first);
    }
    lines.erase(lines.begin()); // the pipeline
    const std::vector<std::pair<std::string, int>> expected = {
        {"get", 0}, {"add", 2}, {"exp", 3}, {"swap", 3}, {"get", 4}, {"broadcast_in_dim", 4},
        {"add", 4}, {"swap", 4}};
    EXPECT_EQ(lines, expected);
}

TEST(Builder, operationsAreNumberedInProgramOrder)
{
    const Result<ir::Program> program = traced(
        twoBlocks(),
        [](const std::vector<pl::Ref>& refs) {
            pl::when(pl::programId(0) == 0, [&] { refs[1][pl::all] = pl::zerosLike(refs[1]); });
            refs[1][pl::all] = refs[0][pl::all];
        },
        {.grid = {2}});
    ASSERT_TRUE(program) << sentence(program);
    const auto operations = operationsOf(*program);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        EXPECT_EQ(operations[i]->id, static_cast<std::int32_t>(i));
    }
    EXPECT_EQ(program->operationCount, static_cast<std::int32_t>(operations.size()));
    const std::vector<std::string> expected = {"pipeline",         "program_id", "eq",  "cond",
                                               "broadcast_in_dim", "swap",       "get", "swap"};
    EXPECT_EQ(namesOf(*program), expected);
}

TEST(Builder, numbersTakeTheOtherOperandsTypeOnEitherSide)
{
    const Result<ir::Program> program =
        traced({pl::in("x", DType::BF16, {8, 128}), pl::out("out", DType::BF16, {8, 128})},
               [](const std::vector<pl::Ref>& refs) {
                   const pl::Value x = refs[0][pl::all].load();
                   EXPECT_EQ((2.0 * x).dtype(), DType::BF16);
                   EXPECT_EQ((x / 3).shape(), Shape({8, 128}));
                   EXPECT_EQ((x > 0.0).dtype(), DType::Bool);
                   const pl::Value kept = pl::select(x > 0.0, x, 0.0);
                   EXPECT_EQ(kept.dtype(), DType::BF16);
                   refs[1][pl::all] = kept;
               });
    EXPECT_TRUE(program) << sentence(program);
}

TEST(Builder, shapesAndTypesFollowTheOperations)
{
    const Result<ir::Program> program =
        traced({pl::in("x", DType::BF16, {4, 8}), pl::in("y", DType::BF16, {8, 16}),
                pl::out("out", DType::F32, {4, 16})},
               [](const std::vector<pl::Ref>& refs) {
                   const pl::Value product =
                       pl::dot(refs[0][pl::all], refs[1][pl::all], DType::F32);
                   EXPECT_EQ(product.shape(), Shape({4, 16}));
                   EXPECT_EQ(product.dtype(), DType::F32);
                   const pl::Value row = refs[0][{2, pl::all}].load();
                   EXPECT_EQ(row.shape(), Shape({8}));
                   const pl::Value window = refs[1][{pl::ds(1, 3, 2), pl::ds(4, 8)}].load();
                   EXPECT_EQ(window.shape(), Shape({3, 8}));
                   EXPECT_EQ(pl::reduce(OpCode::ReduceSum, window, {0}).shape(), Shape({8}));
                   EXPECT_EQ(pl::transpose(window, {1, 0}).shape(), Shape({8, 3}));
                   EXPECT_EQ(pl::reshape(window, {24}).shape(), Shape({24}));
                   EXPECT_EQ(pl::broadcastTo(row, {5, 8}, {1}).shape(), Shape({5, 8}));
                   EXPECT_EQ(pl::iota(DType::Int32, {4, 8}, 1).dtype(), DType::Int32);
                   EXPECT_EQ(pl::convert(row, DType::Int32).dtype(), DType::Int32);
                   refs[2][pl::all] = product;
               });
    EXPECT_TRUE(program) << sentence(program);
}

TEST(Builder, loopsCarryTheirTypes)
{
    const Result<ir::Program> program = traced(twoBlocks(), [](const std::vector<pl::Ref>& refs) {
        const auto grow = [&](const pl::Value& i, std::vector<pl::Value> carry) {
            EXPECT_EQ(i.dtype(), DType::Int32);
            return std::vector<pl::Value>{carry[0] + refs[0][pl::all], carry[1] + i};
        };
        const pl::Value start = refs[0][pl::all].load();
        const std::vector<pl::Value> last =
            pl::foriLoop(3, {start, pl::iota(DType::Int32, {8, 128}, 0)},
                         [&](pl::Value i, std::vector<pl::Value> carry) {
                             return grow(i, {carry[0], carry[1]});
                         });
        EXPECT_EQ(last[0].dtype(), DType::F32);
        EXPECT_EQ(last[1].dtype(), DType::Int32);
        const std::vector<pl::Value> doubled = pl::whileLoop(
            {last[0]},
            [](std::vector<pl::Value> carry) {
                return pl::reduce(OpCode::ReduceMax, carry[0], {0, 1}) < 100.0;
            },
            [](std::vector<pl::Value> carry) { return std::vector<pl::Value>{carry[0] * 2.0}; });
        refs[1][pl::all] = doubled[0];
    });
    EXPECT_TRUE(program) << sentence(program);
}

TEST(Builder, loopOrderPermutesTheGridNotTheAuthorsAxes)
{
    const Result<ir::Program> program =
        traced(twoBlocks(),
               [](const std::vector<pl::Ref>& refs) {
                   refs[1][pl::all] = pl::convert(
                       pl::full({8, 128}, 1, DType::Int32) * pl::programId(2), DType::F32);
               },
               {.grid = {2, 3, 5}, .axes = "ijk", .order = "ikj"});
    ASSERT_TRUE(program) << sentence(program);
    for (const ir::Operation* operation : operationsOf(*program)) {
        if (const auto* pipeline = std::get_if<ir::PipelineParams>(&operation->params)) {
            EXPECT_EQ(pipeline->grid, (std::vector<Extent>{2, 5, 3}));
            EXPECT_EQ(pipeline->axisNames, (std::vector<std::string>{"i", "k", "j"}));
        }
        if (operation->code == OpCode::ProgramId) { // axis k is second in the loop order
            EXPECT_EQ(std::get<ir::AxisParams>(operation->params).axis, 1);
        }
    }
}

TEST(Builder, everyLiteralIsItself)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Result<ir::Program> program = traced(twoBlocks(), [&](const std::vector<pl::Ref>& refs) {
        for (const double number : {1.0, 0.0, -0.0, nan, 1.0}) {
            refs[1][pl::all] = pl::full({8, 128}, number, DType::F32);
        }
    });
    ASSERT_TRUE(program) << sentence(program);
    std::vector<double> stored;
    for (const ir::Operation* operation : operationsOf(*program)) {
        if (operation->code == OpCode::BroadcastInDim) {
            stored.push_back(*program->value(operation->operands[0]).literal);
        }
    }
    ASSERT_EQ(stored.size(), 5U);
    EXPECT_EQ(stored[0], 1.0);
    EXPECT_FALSE(std::signbit(stored[1]));
    EXPECT_TRUE(std::signbit(stored[2]));
    EXPECT_TRUE(std::isnan(stored[3]));
    EXPECT_EQ(stored[4], 1.0);
}

TEST(Builder, theFirstMistakeIsReportedWithItsLine)
{
    int line = 0;
    const Result<ir::Program> program =
        traced({pl::in("x", DType::F32, {8, 128}), pl::in("y", DType::F32, {8, 64}),
                pl::out("out", DType::F32, {8, 128})},
               [&](const std::vector<pl::Ref>& refs) {
                   line = __LINE__ + 1;
                   const pl::Value sum = refs[0][pl::all] + refs[1][pl::all];
                   refs[2][pl::all] = pl::dot(sum, sum, DType::F32); // a second mistake
               });
    EXPECT_EQ(sentence(program),
              place(kFile, line)
                  + ": add takes operands of one type, not f32[8,128] and f32[8,64].");
}

TEST(Builder, aStoreOfAnotherTypeIsRefusedOnItsLine)
{
    int line = 0;
    const Result<ir::Program> program =
        traced({pl::in("x", DType::BF16, {8, 128}), pl::out("out", DType::F32, {8, 128})},
               [&](const std::vector<pl::Ref>& refs) {
                   line = __LINE__ + 1;
                   refs[1][pl::all] = refs[0][pl::all];
               });
    EXPECT_EQ(sentence(program),
              place(kFile, line) + ": swap stores bf16[8,128] where the ref holds f32[8,128].");
}

TEST(Builder, wrongIndicesAndAxesAreRefused)
{
    int line = 0;
    const auto threeIndices = [&](const std::vector<pl::Ref>& refs) {
        line = __LINE__ + 1;
        refs[1][{0, 0, 0}] = 1.0;
    };
    const std::string indices = sentence(traced(twoBlocks(), threeIndices));
    EXPECT_EQ(indices, place(kFile, line) + ": a ref of shape [8,128] is indexed with 3 indices.");
    const auto secondAxis = [&](const std::vector<pl::Ref>&) {
        line = __LINE__ + 1;
        (void)pl::programId(1);
    };
    const std::string axis = sentence(traced(twoBlocks(), secondAxis, {.grid = {4}}));
    EXPECT_EQ(axis, place(kFile, line) + ": program_id asks for grid axis 1 of a grid of 1 axes.");
}

TEST(Builder, aPipelineIsCalledWithWhatItDeclares)
{
    int line = 0;
    const auto spec = pl::block({8, 128}, [](auto i) { return pl::at(i, 0); });
    const auto twoRefs = [](pl::Ref, pl::Ref) {};
    const auto refusal = [](const auto& kernel) {
        return sentence(pl::kernel("k", twoBlocks(), kernel));
    };
    const std::string operands = refusal([&](pl::Ref x, pl::Ref out) {
        line = __LINE__ + 1;
        const pl::Grid grid{.grid = {1}, .in = {spec}};
        pl::emitPipeline(grid, twoRefs)(x, out);
    });
    EXPECT_EQ(operands,
              place(kFile, line) + ": a pipeline with 1 block specs is called with 2 operands.");
    const std::string body = refusal([&](pl::Ref x, pl::Ref out) {
        line = __LINE__ + 1;
        const pl::Grid grid{.grid = {1}, .in = {spec}, .out = {spec}};
        pl::emitPipeline(grid, [](pl::Ref) {})(x, out);
    });
    EXPECT_EQ(body, place(kFile, line)
                        + ": a pipeline body takes another number of refs than the 2 of its block "
                          "specs and scratch.");
    const std::string map = refusal([&](pl::Ref x, pl::Ref out) {
        line = __LINE__ + 1;
        const auto wrong = pl::block({8, 128}, [](auto i) { return pl::at(i); });
        pl::emitPipeline({.grid = {1}, .in = {wrong}, .out = {spec}}, twoRefs)(x, out);
    });
    EXPECT_EQ(map, place(kFile, line)
                       + ": an index map returns 1 block indices for an array of rank 2.");
    const std::string order = refusal([&](pl::Ref x, pl::Ref out) {
        line = __LINE__ + 1;
        const pl::Grid grid{.grid = {1}, .in = {spec}, .out = {spec}, .order = "j"};
        pl::emitPipeline(grid, twoRefs)(x, out);
    });
    EXPECT_EQ(order, place(kFile, line)
                         + ": the order \"j\" is not a permutation of the grid axes \"i\".");
    line = __LINE__ + 1;
    const Result<ir::Program> kernel = pl::kernel("k", twoBlocks(), [](pl::Ref) {});
    EXPECT_EQ(sentence(kernel), place(kFile, line)
                                    + ": the kernel takes another number of refs "
                                      "than its 2 arguments.");
}

} // namespace pallascope::ir_test
