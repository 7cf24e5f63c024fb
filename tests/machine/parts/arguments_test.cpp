// Tests how arrays of arguments come into a run and out of it, without an engine.
#include "core/machine/parts/arguments.h"
#include "tests/ir/wholes.h"
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <stdexcept>

namespace pallascope::machine_test {

namespace {

ir::Program mustMake(Result<ir::Program> program)
{
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    return *std::move(program);
}

void addOne(pl::Ref x, pl::Ref out)
{
    ir_test::fusion({"add_one", true}, [&] { out[pl::all] = x[pl::all] + 1.0F; });
}

// out shares the array of x.
ir::Program aliasing()
{
    return mustMake(pl::kernel(
        "aliasing",
        {pl::in("x", DType::F32, {8, 128}), pl::outAliasing("out", "x", DType::F32, {8, 128})},
        [](pl::Ref x, pl::Ref out) { addOne(x, out); }));
}

// Two devices have 8 rows each of x and out, and all of `table`.
ir::Program onTwoDevices()
{
    return mustMake(pl::kernel("on_two_devices",
                               {pl::sharded(pl::in("x", DType::F32, {8, 128}), {{"d"}, {}}),
                                pl::sharded(pl::out("out", DType::F32, {8, 128}), {{"d"}, {}})},
                               [](pl::Ref x, pl::Ref out) {
                                   pl::onMesh({{"d", 2}});
                                   addOne(x, out);
                               }));
}

// An element of `count` decides whether the program waits.
ir::Program waitingByValue()
{
    return mustMake(
        pl::kernel("waiting", {pl::scalarPrefetch("count", DType::Int32, {1})},
                   [](pl::Ref count) { pl::when(count[0].load() > 0, [&] { pl::delay(100); }); }));
}

struct ArgumentsRun
{
    explicit ArgumentsRun(ir::Program program)
        : run({}, std::move(program))
    {}

    BareRun run;
    std::set<std::int32_t> aliased;
    machine::Arguments arguments{run.context(), aliased, run.agents, run.findings};
};

Array counting(Shape shape)
{
    Array array = makeArray(DType::F32, std::move(shape));
    for (std::int64_t i = 0; i < array.shape.elements(); ++i) {
        machine::writeElement(DType::F32, array.data.get(), i, static_cast<double>(i));
    }
    return array;
}

} // namespace

TEST(Arguments, anOutputThatSharesAnInputsArrayHasTheSameMemory)
{
    ArgumentsRun of(aliasing());
    ASSERT_TRUE(of.arguments.bind({counting({8, 128})}));
    const std::int32_t x = of.run.turn().binding(of.run.ref("x")).buffer;
    EXPECT_EQ(of.run.turn().binding(of.run.ref("out")).buffer, x);
    EXPECT_EQ(of.aliased, std::set{x});
    EXPECT_EQ(readElement(DType::F32, of.arguments.outputs().at(0).data.get(), 130), 130);
}

TEST(Arguments, eachDeviceGetsItsPartAndTheCallerTheWhole)
{
    ArgumentsRun of(onTwoDevices());
    ASSERT_TRUE(of.arguments.bind({counting({16, 128})}));
    for (std::int32_t device = 0; device < 2; ++device) {
        of.run.turn().give(of.run.agents.firstOf(device));
        const std::int32_t x = of.run.turn().binding(of.run.ref("x")).buffer;
        EXPECT_EQ(of.run.memoryAt(x).contents.shape(), (Shape{8, 128}));
        EXPECT_EQ(of.run.elementAt(x, 0), device * 8 * 128);
        const std::int32_t out = of.run.turn().binding(of.run.ref("out")).buffer;
        of.run.turn().buffer(out) = of.run.memoryAt(x).contents;
    }
    const Array out = of.arguments.outputs().at(0);
    EXPECT_EQ(out.shape, (Shape{16, 128}));
    for (const std::int64_t i : {0, 8 * 128 - 1, 8 * 128, 16 * 128 - 1}) {
        EXPECT_EQ(readElement(DType::F32, out.data.get(), i), i);
    }
}

TEST(Arguments, valuesThatDecideWhatHappensMustBeGiven)
{
    ArgumentsRun of(waitingByValue());
    const Status status = of.arguments.bind({{DType::Int32, Shape{1}, nullptr}});
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("The values of count decide"), std::string::npos);
}

TEST(Arguments, anOutputWithNanOrInfIsNamed)
{
    ArgumentsRun of(aliasing());
    Array x = counting({8, 128});
    machine::writeElement(DType::F32, x.data.get(), 5, std::numeric_limits<double>::infinity());
    ASSERT_TRUE(of.arguments.bind({x}));
    EXPECT_EQ(of.arguments.nonFiniteOutput(), "out");
}

TEST(Arguments, anOutputThatNothingDefinesIsAFinding)
{
    ArgumentsRun of(bareProgram());
    ASSERT_TRUE(of.arguments.bind({counting({8, 128})}));
    EXPECT_EQ(of.arguments.nonFiniteOutput(), std::nullopt) << "undefined is not a number";
    of.arguments.reportUndefinedResults();
    ASSERT_EQ(of.run.found().size(), 1U);
    EXPECT_EQ(of.run.found()[0].kind, "undefined_result");
}

} // namespace pallascope::machine_test
