// With values `needed`: the least set of values that decides what a program does.
#include "core/machine/needed.h"
#include "kernels/kernel.h"
#include "tests/machine/replay/replay_cases.h"
#include "tests/machine/support.h"
#include "tests/machine/trace_difference.h"

#include <gtest/gtest.h>

#include <map>

namespace pallascope::machine_test {

namespace {

std::vector<Array> shapesOnly(std::vector<Array> arrays)
{
    for (Array& array : arrays) {
        array.data = nullptr;
    }
    return arrays;
}

// Runs with shapes only. Returns the sentence of the error, or "" if the program runs.
std::string complaint(const OneStep& step, const RefsBody& body)
{
    const ir::Program program = oneStepProgram(step, body);
    const Result<machine::RunResult> run = machine::run(program, shapesOnly(step.inputs), v5e(),
                                                        {.values = machine::ValueMode::Needed});
    return run ? "" : run.error().message;
}

void expectSameWithNeeded(const ir::Program& program, const std::vector<Array>& inputs)
{
    EXPECT_EQ(firstDifference(*mustRun(program, inputs).trace,
                              *mustRun(program, inputs, machine::ValueMode::Needed).trace),
              "");
}

void expectSameWithNeeded(const OneStep& step, const RefsBody& body)
{
    expectSameWithNeeded(oneStepProgram(step, body), step.inputs);
}

// Lets time pass for a copy to land, and computes something that nobody needs.
void passTime(const pl::Ref& idle)
{
    constexpr int kLong = 5000; // ns
    pl::delay(kLong);
    idle[pl::all] = 0;
}

} // namespace

TEST(NeededValues, holdNoArrayElementOfTheBuiltInKernels)
{
    for (const char* name : {"matmul", "matmul_scratch", "add_vectors"}) {
        const kernels::Kernel& kernel = *kernels::find(name);
        const ir::Program program = mustTrace(kernel.build(*kernels::arguments(kernel, {})));
        EXPECT_FALSE(machine::NeededSet::of(program).anyContents()) << name;
        EXPECT_TRUE(machine::NeededSet::everything(program).anyContents()) << name;
    }
}

TEST(NeededValues, areEnoughForTheBuiltInKernels)
{
    const std::map<std::string, std::map<std::string, std::string>> small{
        {"add_by_hand", {{"rows", "256"}, {"block", "8"}}},
        {"add_vectors", {{"shape", "20000"}}},
        {"matmul",
         {{"m", "300"}, {"n", "384"}, {"k", "256"}, {"bm", "128"}, {"bn", "128"}, {"bk", "128"}}},
        {"matmul_scratch",
         {{"m", "256"}, {"n", "256"}, {"k", "256"}, {"bm", "128"}, {"bn", "128"}, {"bk", "128"}}},
    };
    for (const kernels::Kernel& kernel : kernels::all()) {
        if (!kernel.chip.empty()) {
            continue; // the tests of kernels for GPUs run them both ways
        }
        ASSERT_TRUE(small.contains(kernel.name)) << kernel.name;
        const ReplayCase one = builtInCase(kernel.name, small.at(kernel.name), v5e());
        SCOPED_TRACE(kernel.name);
        expectSameWithNeeded(one.program, one.inputs);
    }
}

TEST(NeededValues, nameTheInputThatABranchDependsOn)
{
    const OneStep step{{makeArray(kInt, {8}), makeArray(kF32, {8})}, kF32, {8}, {}, {}};
    const auto body = [](const std::vector<pl::Ref>& refs) {
        refs[2][pl::all] = refs[1][pl::all];
        pl::when(refs[0][0].load() > 3, [&] { refs[2][pl::all] = 0; });
    };
    EXPECT_EQ(complaint(step, body),
              "The values of x0 decide what one_step does, so they are needed; only its shape is "
              "given.");
}

TEST(NeededValues, nameTheInputThatASliceDependsOn)
{
    const OneStep step{{makeArray(kF32, {8}), makeArray(kInt, {1})}, kF32, {4}, {}, {}};
    const auto body = [](const std::vector<pl::Ref>& refs) {
        refs[2][pl::all] = refs[0][pl::ds(refs[1][0].load(), 4)];
    };
    EXPECT_NE(complaint(step, body).find("The values of x1 decide"), std::string::npos);
}

TEST(NeededValues, nameTheInputThatALoopRunsBy)
{
    const OneStep step{{makeArray(kInt, {1})}, kF32, {8}, {}, {}};
    const auto body = [](const std::vector<pl::Ref>& refs) {
        refs[1][pl::all] = 0;
        pl::whileLoop(
            {refs[0][0].load()}, [](std::vector<pl::Value> carry) { return carry[0] > 0; },
            [](std::vector<pl::Value> carry) { return std::vector<pl::Value>{carry[0] - 1}; });
    };
    EXPECT_NE(complaint(step, body).find("The values of x0 decide"), std::string::npos);
}

TEST(NeededValues, followMemoryFromAStoreToTheLoadThatDecides)
{
    const OneStep step{{makeArray(kInt, {8}), makeArray(kF32, {8})},
                       kF32,
                       {8},
                       {{"flag", kInt, {1}, ir::MemorySpace::Smem}},
                       {}};
    const auto body = [](const std::vector<pl::Ref>& refs) {
        refs[3][0] = pl::reduce(ir::OpCode::ReduceMax, refs[0][pl::all].load(), {0});
        refs[2][pl::all] = refs[1][pl::all];
        pl::when(refs[3][0].load() > 3, [&] { refs[2][pl::all] = 0; });
    };
    const ir::Program program = oneStepProgram(step, body);
    const machine::NeededSet needed = machine::NeededSet::of(program);
    EXPECT_TRUE(needed.needsContents(program.arguments[0].ref));
    EXPECT_FALSE(needed.needsContents(program.arguments[1].ref));
    EXPECT_FALSE(needed.needsContents(program.arguments[2].ref));
}

// Popped, an accumulator is zero, whether or not anybody uses what came out of it.
TEST(NeededValues, emptyAnAccumulatorBeforeTheProductThatDecides)
{
    const Shape square{8, 8};
    const OneStep step{{counting(kInt, square)},
                       kInt,
                       square,
                       {{"sum", kInt, square, kUnit}, {"weights", DType::Int8, square, kUnit}},
                       {}};
    expectSameWithNeeded(step, [&](const std::vector<pl::Ref>& refs) {
        const pl::Value one =
            pl::convert(pl::iota(kInt, square, 0) == pl::iota(kInt, square, 1), DType::Int8);
        const pl::Value lhs = pl::convert(refs[0][pl::all], DType::Int8);
        pl::matmulPushRhs(refs[3], one);
        pl::matmulAccLhs(refs[2], lhs, refs[3]);
        (void)pl::matmulPop(refs[2]);
        pl::matmulAccLhs(refs[2], lhs, refs[3]);
        const pl::Value most = pl::reduce(ir::OpCode::ReduceMax, pl::matmulPop(refs[2]), {0, 1});
        refs[1][pl::all] = 0;
        pl::when(most > 63, [&] { refs[1][pl::all] = 1; }); // 63 is the greatest of one product
    });
}

TEST(NeededValues, takeTheDataThatIsNeededAndOnlyShapesOfTheRest)
{
    std::vector<std::int64_t> ends;
    for (const double flag : {1.0, 7.0}) {
        const OneStep step{
            {arrayOf(kInt, {1}, {flag}), makeArray(kF32, {64, 128})}, kF32, {64, 128}, {}, {}};
        const auto body = [](const std::vector<pl::Ref>& refs) {
            refs[2][pl::all] = refs[1][pl::all];
            pl::when(refs[0][0].load() > 3, [&] { refs[2][pl::all] = pl::exp(refs[1][pl::all]); });
        };
        const ir::Program program = oneStepProgram(step, body);
        std::vector<Array> inputs = step.inputs;
        const machine::RunResult full = mustRun(program, [&] {
            std::vector<Array> data = inputs;
            data[1] = normalArray(kF32, {64, 128}, 1);
            return data;
        }());
        inputs[1].data = nullptr;
        const machine::RunResult needed = mustRun(program, inputs, machine::ValueMode::Needed);
        EXPECT_TRUE(full.trace->segments() == needed.trace->segments());
        EXPECT_EQ(full.trace->end(), needed.trace->end());
        ends.push_back(needed.trace->end().value());
    }
    EXPECT_LT(ends[0], ends[1]); // the flag decided this
}

// A copy is as long as a number that a loop leaves, which neither the loop's condition nor its body
// reads. Full and needed runs must agree.
TEST(NeededValues, areCarriedThroughAWhileThatDoesNotReadThem)
{
    const auto body = [](const std::vector<pl::Ref>& refs) {
        const std::vector<pl::Value> carried = pl::whileLoop(
            {refs[0][0].load(), refs[0][1].load(), refs[0][2].load()},
            [](std::vector<pl::Value> carry) { return carry[0] > 0; },
            [](std::vector<pl::Value> carry) {
                return std::vector<pl::Value>{carry[0] - 1, carry[2], carry[0] * 2};
            });
        refs[1][pl::all] = 0;
        pl::when(carried[1] > 3, [&] { refs[1][pl::all] = pl::exp(refs[1][pl::all]); });
    };
    for (const double rounds : {0.0, 1.0, 2.0, 3.0}) {
        expectSameWithNeeded({{arrayOf(kInt, {3}, {rounds, 5, 2})}, kF32, {64, 128}, {}, {}}, body);
    }
}

// The body stores to the table, and the index map loads an entry of it that nothing uses.
TEST(NeededValues, areThoseThatAnIndexMapLoadsForNothing)
{
    const ir::Program program = mustTrace(pl::kernel(
        "idle", {pl::in("x", kF32, {16, 128}), pl::out("out", kF32, {16, 128})},
        [](pl::Ref x, pl::Ref out) {
            pl::runScoped(
                {{"table", kInt, {8}, ir::MemorySpace::Smem}},
                [&](const std::vector<pl::Ref>& refs) {
                    refs[0][0] = pl::full({}, 1, kInt);
                    const pl::BlockSpec rows = pl::block({8, 128}, [&](auto i) {
                        (void)refs[0][0].load();
                        return pl::at(i * 1, 0); // without the * 1, the map is not evaluated
                    });
                    pl::emitPipeline({.grid = {2}, .in = {rows}, .out = {rows}},
                                     [](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all]; })(x, out);
                    return std::vector<pl::Value>{};
                });
        }));
    const std::vector<Array> inputs{makeArray(kF32, {16, 128})};
    EXPECT_EQ(findingsText(mustRun(program, inputs)), "");
    EXPECT_EQ(findingsText(mustRun(program, inputs, machine::ValueMode::Needed)), "");
}

// A slot that the caller filled holds a block of its array, including what copies that have ended
// wrote there.
TEST(NeededValues, areInABlockThatIsFilledBehindACopy)
{
    const ir::Program program = mustTrace(pl::kernel(
        "fills",
        {pl::in("list", kInt, {8}), pl::out("copied", kInt, {8}), pl::out("out", kF32, {8, 128})},
        [](pl::Ref list, pl::Ref copied, pl::Ref out) {
            const auto zero = [](auto) { return pl::at(0); };
            pl::BlockSpec numbers = pl::block({8}, zero);
            numbers.space = ir::MemorySpace::Smem;
            numbers.prefetched = 1;
            pl::runScoped({{"idle", kF32, {8, 128}}, pl::dmaSemaphores("sem")},
                          [&](const std::vector<pl::Ref>& refs) {
                              pl::dmaStart(list, copied, refs[1]);
                              passTime(refs[0]);
                              pl::emitPipeline(
                                  {.grid = {1},
                                   .in = {numbers},
                                   .out = {pl::block({8, 128}, [](auto) { return pl::at(0, 0); })}},
                                  [](pl::Ref read, pl::Ref held) {
                                      held[pl::all] = 0;
                                      pl::when(read[7].load() > 3, [&] { held[pl::all] = 1; });
                                  })(copied, out);
                              pl::dmaWait(copied, refs[1]);
                              return std::vector<pl::Value>{};
                          });
        }));
    expectSameWithNeeded(program, {counting(kInt, {8})});
}

// What a copy brings from beyond the edge of an array is undefined, even where an earlier copy has
// brought numbers.
TEST(NeededValues, areNotWhereACopyBringsPaddingBehindAnotherOne)
{
    const ir::Program program = mustTrace(pl::kernel(
        "pads", {pl::in("x", kInt, {20, 128}), pl::out("out", kInt, {8, 128})},
        [](pl::Ref x, pl::Ref out) {
            pl::runScoped(
                {{"idle", kF32, {8, 128}},
                 {"block", kInt, {8, 128}},
                 pl::dmaSemaphores("sem"),
                 pl::dmaSemaphores("other")},
                [&](const std::vector<pl::Ref>& refs) {
                    const pl::Ref first = x.at({pl::ds(0, 8), pl::all});
                    const pl::Ref last = x.at({pl::ds(pl::full({}, 16, kInt), 8), pl::all});
                    pl::dmaStart(first, refs[1], refs[2]);
                    passTime(refs[0]);
                    pl::dmaStart(last, refs[1], refs[3]);
                    pl::dmaWait(refs[1], refs[2]);
                    pl::dmaWait(refs[1], refs[3]);
                    pl::when(refs[1][{7, 0}].load() > 3, [&] { pl::delay(1000); });
                    pl::dmaStart(refs[1], out, refs[2]);
                    pl::dmaWait(out, refs[2]);
                    return std::vector<pl::Value>{};
                });
        }));
    expectSameWithNeeded(program, {counting(kInt, {20, 128})});
}

TEST(NeededValues, areCarriedThroughALoopThatOnlyWritesThem)
{
    const auto body = [](const std::vector<pl::Ref>& refs) {
        const pl::Value number = refs[0][0].load();
        const std::vector<pl::Value> carried =
            pl::foriLoop(3, {number, number}, [](pl::Value i, const std::vector<pl::Value>& carry) {
                return std::vector<pl::Value>{i * 4, carry[0]};
            });
        refs[1][pl::all] = 0;
        pl::when(carried[1] > 3, [&] { refs[1][pl::all] = pl::exp(refs[1][pl::all]); });
    };
    expectSameWithNeeded({{arrayOf(kInt, {1}, {0})}, kF32, {64, 128}, {}, {}}, body);
}

} // namespace pallascope::machine_test
