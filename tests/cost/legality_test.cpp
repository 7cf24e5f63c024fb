// Legal and illegal blocks of a pallas_call. The verdicts must be those of JAX's own lowering.
#include "core/base/check.h"
#include "core/cost/legality.h"
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>

namespace pallascope::cost_test {

namespace {

using Json = nlohmann::json;

struct Case
{
    Shape array;
    std::vector<ir::BlockDim> block;
    DType dtype = DType::F32;
    ir::MemorySpace space = ir::MemorySpace::Vmem;
    // The index map returns the grid's index on the first axis, or else only zeros.
    bool moves = true;
    bool grid = true;
    std::string schedule = "0.12";
};

// A program with one input that has this block, and an output that has a legal one.
ir::Program programOf(const Case& of, ir::PipelineOrigin origin = ir::PipelineOrigin::PallasCall)
{
    pl::BlockSpec spec;
    spec.block = of.block;
    spec.space = of.space;
    if (of.moves) {
        spec.indexMap = pl::IndexMap([&](auto i) {
            std::vector<pl::Operand> indices(of.array.rank(), pl::Operand(0));
            indices[0] = i;
            return indices;
        });
    }
    pl::Grid grid{.in = {spec}, .out = {pl::wholeArray()}, .schedule = of.schedule};
    if (of.grid) {
        grid.grid = {2};
    }
    const auto kernel = [&](const std::vector<pl::Ref>& refs) {
        pl::detail::pipeline(
            grid, origin, [](const std::vector<pl::Ref>&) { return true; }, refs);
        return true;
    };
    Result<ir::Program> program = pl::detail::traceKernel(
        "blocked", {pl::in("x", of.dtype, of.array), pl::out("out", DType::F32, Shape{8, 128})},
        kernel, pl::Here::current());
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    return std::move(*program);
}

std::vector<cost::IllegalBlock> illegalOf(const ir::Program& program)
{
    static const chip::Chip kChip = v5e();
    return cost::illegalBlocks(program, *ir::pipelinesOf(program).at(0), kChip);
}

std::string sentenceOf(const Case& of)
{
    const auto illegal = illegalOf(programOf(of));
    return illegal.empty() ? "" : illegal[0].sentence;
}

Case caseOf(const Json& json)
{
    Case of{.array = Shape(json.at("array").get<std::vector<Extent>>())};
    for (const Json& size : json.at("block")) {
        of.block.push_back(size.is_null() ? ir::BlockDim{ir::BlockKind::Squeezed, 1}
                                          : ir::BlockDim{ir::BlockKind::Blocked, size});
    }
    of.dtype = *dtypeFromName(json.at("dtype").get<std::string>());
    const std::map<std::string, ir::MemorySpace> spaces{{"vmem", ir::MemorySpace::Vmem},
                                                        {"smem", ir::MemorySpace::Smem},
                                                        {"any", ir::MemorySpace::Any},
                                                        {"hbm", ir::MemorySpace::Hbm}};
    of.space = spaces.at(json.at("space"));
    of.moves = json.at("moves");
    of.grid = json.at("grid");
    return of;
}

std::vector<ir::BlockDim> blocked(const std::vector<Extent>& sizes)
{
    std::vector<ir::BlockDim> dims;
    for (const Extent size : sizes) {
        dims.push_back({ir::BlockKind::Blocked, size});
    }
    return dims;
}

} // namespace

TEST(BlockLegality, isThatOfJaxsOwnLowering)
{
    std::ifstream file(PALLASCOPE_COST_TESTS "/block_legality.json");
    const Json cases = Json::parse(file);
    // A phrase of our sentence for each kind of refusal of JAX.
    const std::map<std::string, std::string> phrases{{"rank", "needs one axis at least"},
                                                     {"window", "in HBM it must be"},
                                                     {"tile", "last two axes"},
                                                     {"line", "the only axis"},
                                                     {"grid", "without a grid"}};
    std::map<std::string, int> seen;
    for (const Json& json : cases) {
        for (const char* version : {"0.9", "0.10"}) {
            SCOPED_TRACE(json.dump() + " in JAX " + version);
            Case of = caseOf(json);
            of.schedule = version;
            const Json& refused = json.at("refused").at(version);
            const std::string sentence = sentenceOf(of);
            if (refused.is_null()) {
                EXPECT_EQ(sentence, "");
                ++seen["none"];
                continue;
            }
            EXPECT_NE(sentence.find(phrases.at(refused)), std::string::npos) << sentence;
            ++seen[refused];
        }
    }
    EXPECT_EQ(seen.size(), 6U) << "each answer occurs";
}

// The block that a sentence proposes must be legal, and its size the nearest, as found by trying
// all sizes.
TEST(BlockLegality, proposesTheNearestLegalBlock)
{
    const auto proposed = [](const Case& of) {
        const std::string sentence = sentenceOf(of);
        const std::size_t begin = sentence.find("legal block is (");
        return begin == std::string::npos ? sentence : sentence.substr(begin + 15);
    };
    EXPECT_EQ(proposed({.array = {16, 300}, .block = blocked({8, 100})}), "(8, 128).");
    EXPECT_EQ(proposed({.array = {16, 300}, .block = blocked({5, 299})}), "(8, 300).");
    EXPECT_EQ(proposed({.array = {16, 300}, .block = blocked({13, 200})}), "(16, 256).");
    EXPECT_EQ(proposed({.array = {4, 16, 2, 128},
                        .block = {{ir::BlockKind::Squeezed, 1},
                                  {ir::BlockKind::Blocked, 8},
                                  {ir::BlockKind::Squeezed, 1},
                                  {ir::BlockKind::Blocked, 128}}}),
              "(None, 8, 2, 128).");
    for (const DType dtype : {DType::F32, DType::BF16, DType::Int8}) {
        constexpr Extent kArray = 2500;
        std::vector<std::string> answers{"no block"};
        for (Extent size = 1; size <= kArray; ++size) {
            answers.push_back(
                proposed({.array = {kArray}, .block = blocked({size}), .dtype = dtype}));
        }
        const auto legal = [&](Extent size) {
            return size > 0 && size <= kArray && answers[static_cast<std::size_t>(size)].empty();
        };
        for (Extent size = 1; size <= kArray; ++size) {
            Extent distance = 0;
            while (!legal(size - distance) && !legal(size + distance)) {
                ++distance;
            }
            const Extent best = legal(size - distance) ? size - distance : size + distance;
            EXPECT_EQ(answers[static_cast<std::size_t>(size)],
                      distance == 0 ? "" : "(" + std::to_string(best) + ",).");
        }
    }
}

TEST(BlockLegality, namesTheSpecAndTheRule)
{
    const auto illegal = illegalOf(programOf({.array = {16, 300}, .block = blocked({8, 100})}));
    ASSERT_EQ(illegal.size(), 1U);
    EXPECT_EQ(illegal[0].spec, 0U);
    EXPECT_EQ(illegal[0].sentence,
              "The TPU lowering refuses the block (8, 100) of x, f32[16,300]: its last two axes "
              "must be multiples of 8 and 128 (a squeezed one counts as 1), or whole axes of the "
              "array; the nearest legal block is (8, 128).");
}

TEST(BlockLegality, isNoMatterOfEmitPipeline)
{
    const Case of{.array = {16, 300}, .block = blocked({8, 100})};
    EXPECT_TRUE(illegalOf(programOf(of, ir::PipelineOrigin::EmitPipeline)).empty());
}

TEST(BlockLegality, isJudgedByTheTilesOfTheChip)
{
    const ir::Program program = programOf({.array = {16, 300}, .block = blocked({8, 100})});
    chip::Chip untiled = v5e();
    untiled.memories[static_cast<std::size_t>(*untiled.memoryIndex("VMEM"))].tile.clear();
    const ir::Operation& pipeline = *ir::pipelinesOf(program).at(0);
    EXPECT_TRUE(cost::illegalBlocks(program, pipeline, untiled).empty());
}

} // namespace pallascope::cost_test
