#include "tests/agreement/programs.h"

#include "tests/ir/wholes.h"
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

void pipelineOver(Extent rows, const pl::Ref& from, const pl::Ref& to)
{
    pl::emitPipeline({.grid = {kRows / rows}, .in = {rowsOf(rows)}, .out = {rowsOf(rows)}},
                     kAddOne)(from, to);
}

// Three kernels, of which one runs in each round of a loop, with fusions between them.
ir::Program kernelsAndFusions()
{
    return mustTrace(
        pl::kernel("block", arguments({"x", "y"}), [](pl::Ref x, pl::Ref y, pl::Ref out) {
            ir_test::kernel("first", [&] { pipelineOver(8, x, out); });
            ir_test::fusion({"doubled"}, [&] { out[pl::all] = y[pl::all] + y[pl::all]; });
            pl::foriLoop(3, {}, [&](pl::Value, const auto&) {
                ir_test::kernel("again", [&] { pipelineOver(16, x, out); });
                return std::vector<pl::Value>{};
            });
            ir_test::fusion({"halved"}, [&] { out[pl::all] = x[pl::all] * 0.5F; });
            ir_test::kernel("last", [&] { pipelineOver(32, y, out); });
        }));
}

// A kernel that copies by hand and has no steps, before and after one that has them.
ir::Program byHandAroundSteps()
{
    const auto byHand = [](pl::Ref from, pl::Ref to) {
        pl::runScoped({pl::Scratch{"near", kF32, {kRows, kColumns}, ir::MemorySpace::Vmem},
                       pl::dmaSemaphores("done")},
                      [&](const std::vector<pl::Ref>& refs) {
                          pl::dmaStart(from, refs[0], refs[1]);
                          pl::dmaWait(refs[0], refs[1]);
                          refs[0][pl::all] = pl::exp(refs[0][pl::all]);
                          pl::dmaStart(refs[0], to, refs[1]);
                          pl::dmaWait(to, refs[1]);
                          return std::vector<pl::Value>{};
                      });
    };
    return mustTrace(
        pl::kernel("hands", arguments({"x", "y"}), [&](pl::Ref x, pl::Ref y, pl::Ref out) {
            ir_test::kernel("before", [&] { byHand(x, out); });
            ir_test::kernel("steps", [&] { pipelineOver(16, y, out); });
            ir_test::kernel("after", [&] { byHand(y, out); });
        }));
}

// A kernel on each of eight devices, twice on device 3; then all pass their parts on to the right
// and to the left, and run another kernel.
ir::Program ringOfDevices()
{
    constexpr std::int32_t kDevices = 8;
    constexpr Extent kPart = kRows / kDevices;
    const auto sharded = [](pl::detail::ArgumentSpec spec) {
        return pl::sharded(std::move(spec), {{"d"}, {}});
    };
    return mustTrace(pl::kernel(
        "ring",
        {sharded(pl::in("x", kF32, {kRows, kColumns})),
         sharded(pl::out("right", kF32, {kRows, kColumns})),
         sharded(pl::out("left", kF32, {kRows, kColumns}))},
        [&](pl::Ref x, pl::Ref right, pl::Ref left) {
            pl::onMesh({{"d", kDevices}});
            const auto over = [](pl::Ref from, pl::Ref to) {
                pl::emitPipeline({.grid = {kPart}, .in = {rowsOf(1)}, .out = {rowsOf(1)}},
                                 kAddOne)(from, to);
            };
            ir_test::kernel("before", [&] { over(x, right); });
            pl::when(pl::axisIndex("d") == 3,
                     [&] { ir_test::kernel("more", [&] { over(x, left); }); });
            pl::runScoped({pl::dmaSemaphores("sent"), pl::dmaSemaphores("received"),
                           pl::dmaSemaphores("sent_left"), pl::dmaSemaphores("received_left")},
                          [&](const std::vector<pl::Ref>& refs) {
                              const pl::Value me = pl::axisIndex("d");
                              const pl::Value next = (me + 1) % kDevices;
                              const pl::Value before = (me + (kDevices - 1)) % kDevices;
                              const pl::Ref barrier = pl::getBarrierSemaphore(7);
                              pl::semaphoreSignalDevice(barrier, 1, next);
                              pl::semaphoreSignalDevice(barrier, 1, before);
                              pl::semaphoreWait(barrier, 2);
                              pl::remoteDmaStart(x, right, refs[0], refs[1], next);
                              pl::remoteDmaStart(x, left, refs[2], refs[3], before);
                              for (const std::size_t semaphore : {0U, 2U}) {
                                  pl::dmaWait(x, refs[semaphore]);
                              }
                              pl::dmaWait(right, refs[1]);
                              pl::dmaWait(left, refs[3]);
                              return std::vector<pl::Value>{};
                          });
            ir_test::kernel("after", [&] { over(right, left); });
        }));
}

} // namespace

std::vector<NamedProgram> programsOfSeveral()
{
    return {{"a pipeline that cores share", "tpu_v5p", sharedByCores()},
            {"pipelines one after the other", "tpu_v5e", oneAfterTheOther()},
            {"a pipeline in another one", "tpu_v5e", oneInTheOther()},
            {"a pipeline on each device", "tpu_v5e", onDevices()},
            {"kernels and fusions", "tpu_v5e", kernelsAndFusions()},
            {"kernels by hand around one with steps", "tpu_v5e", byHandAroundSteps()},
            {"a ring of devices", "tpu_v5e", ringOfDevices()}};
}

} // namespace pallascope::test
