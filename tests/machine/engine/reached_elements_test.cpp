// What loads, stores and atomic operations move of GMEM if they reach only some elements: those
// that a mask takes, or listed ones; and how long changes of one element take.
#include "core/ir/builder_gpu.h"
#include "core/ir/builder_memory.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <functional>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;

constexpr std::int64_t kLanes = 128;

pl::Value lanes()
{
    return pl::iota(DType::Int32, {kLanes}, 0);
}

// The bytes of each copy from GMEM or L2, or to them.
std::vector<std::int64_t> bytesOf(const machine::RunResult& run, bool out)
{
    std::vector<std::int64_t> bytes;
    const trace::Copies& copies = run.trace->copies();
    for (std::size_t i = 0; i < copies.size(); ++i) {
        if ((copies.out[i] != 0) == out) {
            bytes.push_back(copies.bytes[i]);
        }
    }
    return bytes;
}

// A block moves those lanes of x to y that the mask takes.
machine::RunResult moveMasked(const std::function<pl::Value()>& mask, std::int64_t extent = kLanes)
{
    const ir::Program program =
        mustTrace(pl::kernel("move", {pl::in("x", kF32, {extent}), pl::out("y", kF32, {extent})},
                             [&](pl::Ref x, pl::Ref y) {
                                 gpu::launch({{{"block", 1}}}, [&] {
                                     const pl::Value start = pl::axisIndex("block") * 0;
                                     const pl::Value taken = mask();
                                     const pl::Value moved =
                                         pl::maskedLoad(x.at(pl::ds(start, kLanes)), taken,
                                                        pl::full({kLanes}, 0, kF32));
                                     pl::maskedStore(y.at(pl::ds(start, kLanes)), moved, taken);
                                 });
                             }));
    return mustRun(program, {Array{kF32, {extent}, {}}}, machine::ValueMode::Needed, h100());
}

// Each of `blocks` blocks adds to the elements of y whose numbers x lists.
machine::RunResult addListed(std::int32_t blocks, const std::vector<double>& listed, double cycles)
{
    const auto count = static_cast<Extent>(listed.size());
    const ir::Program program = mustTrace(
        pl::kernel("add", {pl::in("x", DType::Int32, {count}), pl::out("y", DType::Int32, {1024})},
                   [&](pl::Ref x, pl::Ref y) {
                       gpu::launch({{{"block", blocks}}}, [&] {
                           (void)gpu::atomicRmwListed(ir::AtomicType::Add, y, {x[pl::all].load()},
                                                      pl::full({count}, 1, DType::Int32));
                       });
                   }));
    chip::Chip chip = h100();
    chip.multiprocessor->atomicCycles = cycles;
    return mustRun(program, {arrayOf(DType::Int32, {count}, listed)}, machine::ValueMode::Needed,
                   chip);
}

std::int64_t endOf(const machine::RunResult& run)
{
    return run.trace->end().value();
}

} // namespace

TEST(ReachedElements, lanesThatAMaskLeavesOutMoveNothing)
{
    const machine::RunResult run = moveMasked([] { return lanes() < 64; });
    EXPECT_EQ(bytesOf(run, false), std::vector<std::int64_t>{64 * 4});
    EXPECT_EQ(bytesOf(run, true), std::vector<std::int64_t>{64 * 4});
}

TEST(ReachedElements, lanesBehindTheArrayMoveNothing)
{
    const machine::RunResult run = moveMasked([] { return lanes() < 72; }, 72);
    EXPECT_EQ(bytesOf(run, false), std::vector<std::int64_t>{72 * 4});
    EXPECT_EQ(bytesOf(run, true), std::vector<std::int64_t>{72 * 4});
}

TEST(ReachedElements, aMaskThatTakesNothingMovesNothing)
{
    const machine::RunResult run = moveMasked([] { return lanes() < 0; });
    EXPECT_EQ(run.trace->copies().size(), 0U);
}

TEST(ReachedElements, loadsMoveWholeSectorsAndStoresElements)
{
    const machine::RunResult run = moveMasked([] { return lanes() % 2 == 0; });
    EXPECT_EQ(bytesOf(run, false), std::vector<std::int64_t>{kLanes * 4});
    EXPECT_EQ(bytesOf(run, true), std::vector<std::int64_t>{kLanes / 2 * 4});
}

TEST(ReachedElements, sectorsFarApartMoveAlone)
{
    const machine::RunResult run = moveMasked([] { return lanes() % 32 == 0; });
    EXPECT_EQ(bytesOf(run, false), std::vector<std::int64_t>{kLanes / 32 * 32});
}

// Two sectors of eight elements, and one element that is listed three times.
TEST(ReachedElements, listedElementsAreChangedInL2)
{
    const machine::RunResult run = addListed(4, {0, 1, 600, 600, 600}, 1);
    // The list, and what of y has to come from HBM for the first block.
    EXPECT_EQ(bytesOf(run, false).front(), 5 * 4);
    const std::vector<std::int64_t> changed = bytesOf(run, true);
    EXPECT_EQ(changed, (std::vector<std::int64_t>{3 * 4, 3 * 4, 3 * 4, 3 * 4}));
}

TEST(ReachedElements, changesOfOneElementFollowOneAnother)
{
    constexpr double kCycles = 1000;
    const std::int64_t cycle = toPicoseconds(Cycles(1000), h100().agents.front().clock).value();
    const auto longer = [&](std::int32_t blocks, const std::vector<double>& listed) {
        return static_cast<double>(endOf(addListed(blocks, listed, kCycles))
                                   - endOf(addListed(blocks, listed, 0)))
               / static_cast<double>(cycle);
    };
    EXPECT_NEAR(longer(1, {5}), 1, 0.01);
    EXPECT_NEAR(longer(1, {5, 5, 5}), 3, 0.01);
    EXPECT_NEAR(longer(1, {5, 500, 900}), 1, 0.01); // of several at the same time
    // All blocks want the same element before the first change is made.
    EXPECT_NEAR(longer(20, {5}), 20, 0.5);
}

} // namespace pallascope::machine_test
