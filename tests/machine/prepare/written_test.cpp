// Which arrays a program writes to, in any way.
#include "core/machine/prepare/written.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

// For each argument.
std::vector<bool> writtenArguments(const ir::Program& program)
{
    const auto refs = machine::NeededSet::of(program);
    const std::vector<bool> written = machine::writtenRoots(program, refs);
    std::vector<bool> arguments;
    for (const ir::Argument& argument : program.arguments) {
        arguments.push_back(written[static_cast<std::size_t>(refs.root(argument.ref).index)]);
    }
    return arguments;
}

ir::Program kernelOn(const std::function<void(pl::Ref x, pl::Ref y)>& body)
{
    return mustTrace(
        pl::kernel("k", {pl::in("x", kF32, {16, 128}), pl::out("y", kF32, {16, 128})}, body));
}

} // namespace

TEST(WrittenRoots, areTheOutputsOfAPipelineAndNotItsInputs)
{
    const auto block = pl::block({8, 128}, [](auto i) { return pl::at(i, 0); });
    EXPECT_EQ(writtenArguments(kernelOn([&](pl::Ref x, pl::Ref y) {
                  pl::emitPipeline({.grid = {2}, .in = {block}, .out = {block}},
                                   [](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all]; })(x, y);
              })),
              (std::vector<bool>{false, true}));
}

// A block in HBM of a pipeline in HBM is the array itself.
TEST(WrittenRoots, areArraysWhoseBlocksAnInnerPipelineStoresTo)
{
    const auto rows = [] {
        pl::BlockSpec spec = pl::block({16, 128}, [](auto) { return pl::at(0, 0); });
        spec.space = ir::MemorySpace::Hbm;
        return spec;
    };
    const auto block = pl::block({8, 128}, [](auto i) { return pl::at(i, 0); });
    EXPECT_EQ(writtenArguments(kernelOn([&](pl::Ref x, pl::Ref y) {
                  pl::emitPipeline({.grid = {1}, .in = {rows()}, .out = {rows()}}, [&](pl::Ref a,
                                                                                       pl::Ref b) {
                      // Writes in the wrong direction: into what the outer pipeline reads.
                      pl::emitPipeline({.grid = {2}, .in = {block}, .out = {block}},
                                       [](pl::Ref c, pl::Ref d) { d[pl::all] = c[pl::all]; })(b, a);
                  })(x, y);
              })),
              (std::vector<bool>{true, true}));
}

TEST(WrittenRoots, areTargetsOfCopiesThroughViews)
{
    EXPECT_EQ(writtenArguments(kernelOn([](pl::Ref x, pl::Ref y) {
                  pl::runScoped({pl::dmaSemaphores("sem")}, [&](const std::vector<pl::Ref>& refs) {
                      const pl::Ref half = x.at({pl::ds(8, 8), pl::all});
                      pl::dmaStart(y.at({pl::ds(0, 8), pl::all}), half, refs[0]);
                      pl::dmaWait(half, refs[0]);
                      return std::vector<pl::Value>();
                  });
              })),
              (std::vector<bool>{true, false}));
}

} // namespace pallascope::machine_test
