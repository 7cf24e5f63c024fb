// A NaN is followed back to where a program makes it, through memories and copies.
#include "core/ir/builder.h"
#include "core/ir/builder_gpu.h"
#include "core/study/element_history.h"
#include "tests/study/runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

namespace pallascope::study {

namespace {

using Kind = NanLink::Kind;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Each step has eight rows of x and of out, and scratch of that size.
template<class Body>
ir::Program inEightSteps(const std::string& name, std::int64_t rowsOfX, const Body& body)
{
    const pl::BlockSpec spec = pl::block({8, 128}, [](auto i) { return pl::at(i, 0); });
    Result<ir::Program> program = pl::kernel(
        name, {pl::in("x", DType::F32, {rowsOfX, 128}), pl::out("out", DType::F32, {64, 128})},
        [&](pl::Ref xHbm, pl::Ref outHbm) {
            pl::pallasCall({.grid = {8},
                            .in = {spec},
                            .out = {spec},
                            .scratch = {{"kept", DType::F32, {8, 128}}}},
                           body)(xHbm, outHbm);
        });
    PALLASCOPE_CHECK(program.has_value());
    return *std::move(program);
}

// Each step takes logarithms of its rows, keeps them in scratch, doubles them from there.
ir::Program logarithms(std::int64_t rowsOfX = 64)
{
    return inEightSteps("logarithms", rowsOfX, [](pl::Ref x, pl::Ref out, pl::Ref kept) {
        kept[pl::all] = pl::elementwise(ir::OpCode::Log, {x[pl::all]});
        out[pl::all] = kept[pl::all] * 2;
    });
}

// Adds the blocks of x up in scratch that nobody has set to zero.
ir::Program sums()
{
    return inEightSteps("sums", 64, [](pl::Ref x, pl::Ref out, pl::Ref kept) {
        kept[pl::all] = kept[pl::all] + x[pl::all];
        out[pl::all] = kept[pl::all] * 2;
    });
}

// Each block of a GPU takes the logarithm of its row from itself, and stores that in GMEM, or in
// SMEM, from where a copy brings it there.
ir::Program differences(bool byCopy)
{
    namespace gpu = pl::gpu;
    Result<ir::Program> program = pl::kernel(
        "differences", {pl::in("x", DType::F32, {64, 128}), pl::out("out", DType::F32, {64, 128})},
        [&](pl::Ref x, pl::Ref out) {
            gpu::launch({{{"block", 4}}}, [&] {
                gpu::runScoped(
                    {gpu::smem("row", DType::F32, {1, 128})}, true, [&](const auto& refs) {
                        const auto mine = pl::ds(pl::axisIndex("block"), 1);
                        const pl::Value logs =
                            pl::elementwise(ir::OpCode::Log, {x[{mine, pl::all}].load()});
                        if (!byCopy) {
                            out[{mine, pl::all}] = logs - logs;
                            return;
                        }
                        refs[0][pl::all] = logs - logs;
                        gpu::commitSmem();
                        gpu::copySmemToGmem(refs[0], out.at({mine, pl::all}));
                        gpu::waitSmemToGmem(0);
                    });
            });
        });
    PALLASCOPE_CHECK(program.has_value());
    return *std::move(program);
}

Array onesWith(const std::vector<std::pair<std::int64_t, double>>& others, std::int64_t rows = 64)
{
    Array array = makeArray(DType::F32, {rows, 128});
    for (std::int64_t i = 0; i < rows * 128; ++i) {
        writeElement(DType::F32, array.data.get(), i, 1);
    }
    for (const auto& [element, number] : others) {
        writeElement(DType::F32, array.data.get(), element, number);
    }
    return array;
}

std::unique_ptr<machine::Replay> begun(const ir::Program& program, const Array& x,
                                       const std::string& chip = "tpu_v5e")
{
    auto replay = machine::Replay::start(program, {x}, chipNamed(chip), {});
    PALLASCOPE_CHECK(replay.has_value());
    return std::move(*replay);
}

std::vector<NanLink> originOf(machine::Replay& replay, const std::string& element)
{
    const Result<ElementChoice> choice = parseElement(element);
    PALLASCOPE_CHECK(choice.has_value());
    auto found = nanOrigin(replay, *choice);
    PALLASCOPE_CHECK(found.has_value() && found->has_value());
    return std::move(**found);
}

std::vector<Kind> kindsOf(const std::vector<NanLink>& links)
{
    std::vector<Kind> kinds;
    for (const NanLink& link : links) {
        kinds.push_back(link.kind);
    }
    return kinds;
}

std::string text(const ir::Program& program, const machine::Spot& spot)
{
    std::string text = program.value(spot.ref).name;
    for (const std::int64_t index : spot.index) {
        text += " " + std::to_string(index);
    }
    return text;
}

} // namespace

TEST(NanOrigin, isTheOperationAndTheStepThatMakeIt)
{
    const ir::Program program = logarithms();
    const auto replay = begun(program, onesWith({{59 * 128 + 5, -1}}));
    const std::vector<NanLink> links = originOf(*replay, "out[59,5]");
    ASSERT_EQ(kindsOf(links), (std::vector<Kind>{Kind::Copied, Kind::Stored, Kind::Loaded,
                                                 Kind::Stored, Kind::Born}));
    EXPECT_EQ(text(program, links[0].spot), "out 59 5");
    EXPECT_EQ(text(program, links[0].from), "out 3 5");
    EXPECT_EQ(text(program, links[2].from), "kept 3 5");
    EXPECT_EQ(links.back().step, trace::StepRow{7});
    bool isLog = false;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        isLog =
            isLog || (operation.id == links.back().operation && operation.code == ir::OpCode::Log);
    });
    EXPECT_TRUE(isLog);
    EXPECT_FALSE(links.back().isOfInf);
}

// Blocks of the result have its name, and elements with the same index.
TEST(NanOrigin, isThatOfTheArrayBeforeThatOfABlock)
{
    const ir::Program program = logarithms();
    const auto both = begun(program, onesWith({{3 * 128 + 5, -1}, {59 * 128 + 5, -1}}));
    std::vector<NanLink> links = originOf(*both, "out[3,5]");
    EXPECT_EQ(links.at(0).kind, Kind::Copied);
    EXPECT_EQ(links.back().step, trace::StepRow{0});
    const auto later = begun(program, onesWith({{59 * 128 + 5, -1}}));
    links = originOf(*later, "out[3,5]");
    EXPECT_EQ(links.at(0).kind, Kind::Stored) << "the array holds none there";
    EXPECT_EQ(links.back().step, trace::StepRow{7});
}

TEST(NanOrigin, isTheInputThatHasIt)
{
    const ir::Program program = logarithms();
    // Another NaN of the same block comes first in it, and is not the one that is followed.
    const auto replay = begun(program, onesWith({{24 * 128, kNan}, {27 * 128 + 5, kNan}}));
    const std::vector<NanLink> links = originOf(*replay, "out[27,5]");
    ASSERT_EQ(kindsOf(links),
              (std::vector<Kind>{Kind::Copied, Kind::Stored, Kind::Loaded, Kind::Stored,
                                 Kind::Loaded, Kind::Copied, Kind::Given}));
    EXPECT_EQ(text(program, links.back().spot), "x 27 5");
}

// All SMs share GMEM, so that who has it says nothing.
TEST(NanOrigin, namesTheSmThatStoredItInGmem)
{
    for (const bool byCopy : {false, true}) {
        const ir::Program program = differences(byCopy);
        const auto replay = begun(program, onesWith({{2 * 128 + 5, 0}}), "h100_sxm");
        const std::vector<NanLink> links = originOf(*replay, "out[2,5]");
        ASSERT_EQ(kindsOf(links), byCopy
                                      ? (std::vector<Kind>{Kind::Copied, Kind::Stored, Kind::Born})
                                      : (std::vector<Kind>{Kind::Stored, Kind::Born}));
        for (const NanLink& link : links) {
            ASSERT_GE(link.agent, 0);
            EXPECT_EQ(replay->places()[static_cast<std::size_t>(link.agent)].agent,
                      "SM 2 Warpgroup 0");
        }
    }
}

// What is undefined is followed as a NaN is, past all sums that keep it, to memory in which nothing
// was stored.
TEST(NanOrigin, isMemoryThatNobodyWrote)
{
    const ir::Program program = sums();
    const auto replay = begun(program, onesWith({}));
    const std::vector<NanLink> links = originOf(*replay, "out[59,5]");
    ASSERT_EQ(kindsOf(links),
              (std::vector<Kind>{Kind::Copied, Kind::Stored, Kind::Loaded, Kind::Undefined}));
    EXPECT_EQ(text(program, links[2].from), "kept 3 5");
    EXPECT_TRUE(links.front().isUndefined);
}

TEST(NanOrigin, isTheEdgeOfAnArray)
{
    const ir::Program program = logarithms(60);
    const auto replay = begun(program, onesWith({}, 60));
    const std::vector<NanLink> links = originOf(*replay, "out[63,5]");
    ASSERT_EQ(kindsOf(links), (std::vector<Kind>{Kind::Copied, Kind::Stored, Kind::Loaded,
                                                 Kind::Stored, Kind::Loaded, Kind::Edge}));
    EXPECT_EQ(text(program, links.back().spot), "x 7 5");
}

TEST(NanOrigin, isNothingWhereThereIsNoNan)
{
    const ir::Program program = logarithms();
    const auto replay = begun(program, onesWith({{59 * 128 + 5, -1}}));
    EXPECT_TRUE(originOf(*replay, "out[0,0]").empty());
}

TEST(ElementHistory, namesRefsAndElementsThatExist)
{
    const ir::Program program = logarithms();
    const auto replay = begun(program, onesWith({}));
    const auto message = [&](ElementChoice choice) {
        const auto found = elementHistory(*replay, choice);
        return found ? "" : found.error().message;
    };
    EXPECT_EQ(message({"y", {0, 0}, ""}),
              "There is no ref \"y\" in logarithms; expected x, out or kept.");
    EXPECT_EQ(message({"kept", {8, 0}, ""}),
              "There is no element kept[8,0]; the shape of kept is [8,128].");
    EXPECT_EQ(message({"kept", {0}, ""}),
              "There is no element kept[0]; the shape of kept is [8,128].");
    EXPECT_EQ(message({"kept", {0, 0}, "hbm"}),
              "There is no ref \"kept\" in hbm in logarithms; expected x or out.");
    EXPECT_EQ(parseElement("args[5][3]")->ref, "args[5]");
    for (const char* const text : {"", "[3]", "x[3", "x[-1]", "x[1,]", "x[a]"}) {
        EXPECT_FALSE(parseElement(text).has_value()) << text;
    }
}

} // namespace pallascope::study
