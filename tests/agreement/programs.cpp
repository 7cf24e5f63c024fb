#include "tests/agreement/programs.h"

#include "tests/machine/support.h"

namespace pallascope::test {

namespace {

using machine_test::kF32;
using machine_test::kRow;
using machine_test::mustTrace;

constexpr Extent kRows = 64, kColumns = 256;

pl::BlockSpec rowsOf(Extent rows)
{
    return pl::block({rows, kColumns}, kRow);
}

constexpr auto kAddOne = [](pl::Ref from, pl::Ref to) { to[pl::all] = from[pl::all] + 1.0F; };

std::vector<pl::detail::ArgumentSpec> arguments(std::vector<std::string> inputs)
{
    std::vector<pl::detail::ArgumentSpec> all;
    for (const std::string& name : inputs) {
        all.push_back(pl::in(name, kF32, {kRows, kColumns}));
    }
    all.push_back(pl::out("out", kF32, {kRows, kColumns}));
    return all;
}

// Two cores share the steps of one pipeline.
ir::Program sharedByCores()
{
    return mustTrace(pl::kernel("shared", arguments({"x"}), [](pl::Ref x, pl::Ref out) {
        pl::coreMap("core", 2, [&] {
            pl::emitPipeline({.grid = {8},
                              .in = {rowsOf(8)},
                              .out = {rowsOf(8)},
                              .coreAxis = "core",
                              .parallel = {0}},
                             kAddOne)(x, out);
        });
    }));
}

// The second of two pipelines has other blocks, and an input more.
ir::Program oneAfterTheOther()
{
    return mustTrace(
        pl::kernel("two", arguments({"x", "y"}), [](pl::Ref x, pl::Ref y, pl::Ref out) {
            pl::emitPipeline({.grid = {8}, .in = {rowsOf(8)}, .out = {rowsOf(8)}}, kAddOne)(x, out);
            pl::emitPipeline({.grid = {4}, .in = {rowsOf(16), rowsOf(16)}, .out = {rowsOf(16)}},
                             [](pl::Ref a, pl::Ref b, pl::Ref c) {
                                 c[pl::all] = a[pl::all] * b[pl::all];
                             })(x, y, out);
        }));
}

// A pipeline over the columns of each block of another one.
ir::Program oneInTheOther()
{
    return mustTrace(pl::kernel("nested", arguments({"x"}), [](pl::Ref x, pl::Ref out) {
        pl::BlockSpec far = rowsOf(16);
        far.space = ir::MemorySpace::Hbm; // the other one brings its parts
        const auto near = pl::block({16, 128}, [](auto i) { return pl::at(0, i); });
        pl::emitPipeline({.grid = {4}, .in = {far}, .out = {far}}, [&](pl::Ref a, pl::Ref b) {
            pl::emitPipeline({.grid = {2}, .in = {near}, .out = {near}}, kAddOne)(a, b);
        })(x, out);
    }));
}

// Each of four devices runs a pipeline over its part of the arrays.
ir::Program onDevices()
{
    return mustTrace(pl::kernel(
        "devices",
        {pl::sharded(pl::in("x", kF32, {kRows, kColumns}), {{"d"}, {}}),
         pl::sharded(pl::out("out", kF32, {kRows, kColumns}), {{"d"}, {}})},
        [](pl::Ref x, pl::Ref out) {
            pl::onMesh({{"d", 4}});
            pl::emitPipeline({.grid = {8}, .in = {rowsOf(8)}, .out = {rowsOf(8)}}, kAddOne)(x, out);
        }));
}

} // namespace

std::vector<NamedProgram> programsOfSeveral()
{
    return {{"a pipeline that cores share", "tpu_v5p", sharedByCores()},
            {"pipelines one after the other", "tpu_v5e", oneAfterTheOther()},
            {"a pipeline in another one", "tpu_v5e", oneInTheOther()},
            {"a pipeline on each device", "tpu_v5e", onDevices()}};
}

} // namespace pallascope::test
