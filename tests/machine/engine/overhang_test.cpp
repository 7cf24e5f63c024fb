// How many bytes are moved for a block that overhangs its array: whole tiles, as JAX's
// emit_pipeline cuts the last copy along an axis. The figures come from JAX,
// jax/_src/pallas/mosaic/pipeline.py, run in versions 0.9 to 0.12.
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

// The sizes of the copies of x, one for each step, in elements.
std::vector<std::int64_t> moved(DType dtype, const Shape& array, const pl::BlockSpec& spec,
                                std::int64_t steps, const std::string& schedule = "0.12")
{
    const ir::Program program = mustTrace(pl::kernel(
        "reads", {pl::in("x", dtype, array), pl::out("out", dtype, {8, 128})},
        [&](pl::Ref x, pl::Ref out) {
            const auto body = [&](pl::Ref, pl::Ref held) {
                held[pl::all] = pl::full({8, 128}, 0, dtype);
            };
            pl::emitPipeline({.grid = {steps},
                              .in = {spec},
                              .out = {pl::block({8, 128}, [](auto) { return pl::at(0, 0); })},
                              .schedule = schedule},
                             body)(x, out);
        }));
    const machine::RunResult run =
        mustRun(program, {Array{dtype, array, nullptr}}, machine::ValueMode::Needed);
    std::vector<std::int64_t> elements;
    for (std::size_t i = 0; i < run.trace->copies().size(); ++i) {
        if (run.trace->copies().operand[i] == 0) {
            elements.push_back(run.trace->copies().bytes[i] * 8 / dtypeBits(dtype));
        }
    }
    return elements;
}

using Elements = std::vector<std::int64_t>;

const auto kColumn = [](auto i) { return pl::at(0, i); };
const auto kLine = [](auto i) { return pl::at(i); };

} // namespace

TEST(Overhang, ofRowsIsCopiedInTilesOfEight)
{
    const Extent whole = 256 * 128;
    EXPECT_EQ(moved(DType::F32, {600, 128}, pl::block({256, 128}, kRow), 3),
              (Elements{whole, whole, 88 * 128}));
    // Independent of the packed tile.
    for (const DType dtype : {DType::F32, DType::BF16, DType::Int8}) {
        EXPECT_EQ(moved(dtype, {601, 128}, pl::block({256, 128}, kRow), 3),
                  (Elements{whole, whole, 96 * 128}));
    }
}

TEST(Overhang, ofLanesIsCopiedWholeAndOfALineInItsTiles)
{
    EXPECT_EQ(moved(DType::F32, {8, 200}, pl::block({8, 128}, kColumn), 2),
              (Elements{8 * 128, 8 * 128}));
    EXPECT_EQ(moved(DType::F32, {3000}, pl::block({1024}, kLine), 3), (Elements{1024, 1024, 1024}));
    EXPECT_EQ(moved(DType::F32, {2700}, pl::block({1024}, kLine), 3), (Elements{1024, 1024, 768}));
    EXPECT_EQ(moved(DType::BF16, {2600}, pl::block({1024}, kLine), 3),
              (Elements{1024, 1024, 768})); // in tiles of 256 elements
}

// Arrays in HBM lie in whole tiles, and a row of lanes is moved as a whole. A row of bf16 shares
// its 32 bits with the next one.
TEST(Overhang, ofAnAxisThatABlockTakesWholeIsItsPadding)
{
    EXPECT_EQ(moved(DType::F32, {32, 64}, pl::block({8, 64}, kRow), 2),
              (Elements{8 * 128, 8 * 128}));
    EXPECT_EQ(moved(DType::BF16, {32, 200}, pl::block({16, 200}, kRow), 2),
              (Elements{16 * 256, 16 * 256}));
    EXPECT_EQ(moved(DType::F32, {3, 256}, pl::block({3, 128}, kColumn), 2),
              (Elements{4 * 128, 4 * 128}));
    EXPECT_EQ(moved(DType::BF16, {4, 1, 128},
                    pl::block({pl::squeezed(), 1, 128}, [](auto i) { return pl::at(i, 0, 0); }), 2),
              (Elements{2 * 128, 2 * 128}));
    EXPECT_EQ(moved(DType::F32, {100}, pl::block({100}, kLine), 1), (Elements{128}));
}

// Five rows in a slice of at most 16: copied exactly until 0.10, and in whole tiles from 0.11 on.
TEST(Overhang, ofAShortBoundedSliceDependsOnTheVersion)
{
    const pl::BlockSpec spec =
        pl::block({pl::boundedSlice(16), 128}, [](auto i) { return pl::at(i * 8, i * 0 + 5, 0); });
    for (const auto& [schedule, rows] :
         {std::pair("0.9", 5), std::pair("0.10", 5), std::pair("0.11", 8), std::pair("0.12", 8)}) {
        EXPECT_EQ(moved(DType::F32, {32, 128}, spec, 2, schedule),
                  (Elements{rows * 128, rows * 128}))
            << schedule;
    }
}

} // namespace pallascope::machine_test
