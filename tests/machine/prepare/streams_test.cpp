// How much of an array a fusion copies from and to HBM.
#include "core/trace/pipelines.h"
#include "tests/chip/edited_chip.h"
#include "tests/ir/wholes.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using ir_test::fusion;

const Shape kNarrow{1024, 4}; // 1024 x 128 with its lanes padded; 4 x 1024 if the axes are swapped

// Kernels may use all of its VMEM, so fusions keep nothing there.
const chip::Chip kFull = chip::edited({{"/memories/1/default_limit", 128 << 20}});

// x[1024,4] goes through an array between two fusions. `sees` may make a view of the array before
// the second one.
std::vector<std::int64_t> copiesThrough(const std::function<void(pl::Ref)>& sees)
{
    const ir::Program program = mustTrace(pl::kernel(
        "through", {pl::in("x", kF32, kNarrow), pl::out("out", kF32, kNarrow)},
        [&](pl::Ref x, pl::Ref out) {
            pl::runScoped({{"between", kF32, kNarrow, ir::MemorySpace::Hbm}},
                          [&](const std::vector<pl::Ref>& refs) {
                              fusion({"first"}, [&] { refs[0][pl::all] = x[pl::all] + 1.0; });
                              sees(refs[0]);
                              fusion({"second"}, [&] { out[pl::all] = refs[0][pl::all] * 2.0; });
                              return std::vector<pl::Value>{};
                          });
        }));
    const machine::RunResult run =
        mustRun(program, {counting(kF32, kNarrow)}, machine::ValueMode::Full, kFull);
    EXPECT_EQ(findingsText(run), "");
    return run.trace->copies().bytes;
}

std::vector<std::int64_t> copiesOf(const std::function<pl::Value(pl::Value)>& part, Shape result)
{
    const Shape shape{64, 128};
    const ir::Program program = mustTrace(
        pl::kernel("part", {pl::in("x", kF32, shape), pl::out("out", kF32, std::move(result))},
                   [&](pl::Ref x, pl::Ref out) {
                       fusion({"part"}, [&] { out[pl::all] = part(x[pl::all].load()); });
                   }));
    return mustRun(program, {counting(kF32, shape)}).trace->copies().bytes;
}

constexpr std::int64_t kPadded = 1024 * 128 * 4, kCompact = 4 * 1024 * 4;

} // namespace

TEST(Streams, anArrayThatOnlyFusionsTouchLiesAsPadsLeast)
{
    EXPECT_EQ(copiesThrough([](const pl::Ref&) {}),
              (std::vector<std::int64_t>{kPadded, kCompact, kCompact, kPadded}));
}

// As an argument is that lies with another axis in the lanes: what it takes is what it moves.
TEST(Streams, anArrayThatIsSeenTransposedTakesTheBytesOfThatOrder)
{
    const ir::Program program = mustTrace(
        pl::kernel("turned", {pl::in("x", kF32, kNarrow), pl::out("out", kF32, {4, 1024})},
                   [&](pl::Ref x, pl::Ref out) {
                       const pl::Ref turned = x.transpose({1, 0});
                       fusion({"turned"}, [&] { out[pl::all] = turned[pl::all] + 1.0; });
                   }));
    const machine::RunResult run = mustRun(program, {counting(kF32, kNarrow)});
    EXPECT_EQ(run.trace->copies().bytes, (std::vector<std::int64_t>{kCompact, kCompact}));
    for (const trace::Operand& operand : run.trace->info().operands) {
        EXPECT_EQ(trace::storedBytes(operand), Bytes(kCompact)) << operand.name;
    }
}

TEST(Streams, aWindowOfWhatIsSeenTransposedTakesItsShare)
{
    const ir::Program program = mustTrace(pl::kernel(
        "row", {pl::in("x", kF32, {2, 1024, 1}), pl::out("out", kF32, {1024})},
        [&](pl::Ref x, pl::Ref out) {
            const pl::Ref column =
                x.transpose({0, 2, 1}).reshape({2, 1024, 1}).at({1, pl::all, pl::all});
            fusion({"row"}, [&] { out[pl::all] = pl::reshape(column[pl::all].load(), {1024}); });
        }));
    const machine::RunResult run = mustRun(program, {counting(kF32, {2, 1024, 1})});
    EXPECT_EQ(run.trace->copies().bytes, (std::vector<std::int64_t>{4096, 4096}));
}

TEST(Streams, anArrayThatAKernelReadsLiesInItsTiles)
{
    const auto copies = copiesThrough([](const pl::Ref& between) {
        pl::emitPipeline({.in = {pl::wholeArray()}}, [](const pl::Ref&) {})(between);
    });
    ASSERT_GE(copies.size(), 4U);
    EXPECT_EQ(copies[1], kPadded);
    EXPECT_EQ(copies[copies.size() - 2], kPadded);
}

// 1024 elements in a line are 4 KiB, whatever shape a view gives them.
TEST(Streams, anArrayThatIsSeenInAnotherShapeMovesWhatItTakes)
{
    const ir::Program program =
        mustTrace(pl::kernel("seen", {pl::in("x", kF32, {1024}), pl::out("out", kF32, {1024, 1})},
                             [](pl::Ref x, pl::Ref out) {
                                 const pl::Ref seen = x.reshape({1024, 1});
                                 fusion({"seen"}, [&] { out[pl::all] = seen[pl::all] + 1.0; });
                             }));
    const machine::RunResult run = mustRun(program, {counting(kF32, {1024})});
    EXPECT_EQ(run.trace->copies().bytes, (std::vector<std::int64_t>{4096, 1024 * 128 * 4}));
}

TEST(Streams, aFusionThatOnlySlicesReadsTheSlices)
{
    const auto first = [](const pl::Value& x) { return pl::slice(x, {0, 0}, {8, 128}); };
    EXPECT_EQ(copiesOf(first, {8, 128}), (std::vector<std::int64_t>{8 * 128 * 4, 8 * 128 * 4}));
    const auto two = [&](const pl::Value& x) { return first(x) + pl::slice(x, {8, 0}, {16, 128}); };
    EXPECT_EQ(copiesOf(two, {8, 128}), (std::vector<std::int64_t>{16 * 128 * 4, 8 * 128 * 4}));
    // Whole tiles are read: as much for one lane as for all.
    const auto lane = [](const pl::Value& x) { return pl::slice(x, {0, 0}, {64, 1}); };
    EXPECT_EQ(copiesOf(lane, {64, 1}), (std::vector<std::int64_t>{64 * 128 * 4, 64 * 128 * 4}));
    const auto rows = [](const pl::Value& x) { return pl::slice(x, {12, 0}, {20, 128}); };
    EXPECT_EQ(copiesOf(rows, {8, 128}), (std::vector<std::int64_t>{16 * 128 * 4, 8 * 128 * 4}));
    // An array that something else uses too is read whole.
    const auto sum = [&](const pl::Value& x) {
        return first(x) + pl::reduce(ir::OpCode::ReduceSum, x, {0, 1});
    };
    EXPECT_EQ(copiesOf(sum, {8, 128}), (std::vector<std::int64_t>{64 * 128 * 4, 8 * 128 * 4}));
}

} // namespace pallascope::machine_test
