#include "tests/machine/replay/replay_cases.h"

#include "core/ir/mesh.h"
#include "kernels/kernel.h"
#include "tests/chip/edited_chip.h"
#include "tests/ir/wholes.h"
#include "tests/machine/made_up_chip.h"

namespace pallascope::machine_test {

std::vector<Array> inputsOfCase(const ir::Program& program)
{
    std::vector<Array> inputs;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type type = ir::wholeType(program, argument);
            inputs.push_back(normalArray(type.dtype, type.shape, inputs.size() + 1));
        }
    }
    return inputs;
}

ReplayCase builtInCase(const std::string& name,
                       const std::map<std::string, std::string>& parameters, const chip::Chip& chip)
{
    const kernels::Kernel* kernel = kernels::find(name);
    ReplayCase one{
        mustTrace(kernel->build(*kernels::arguments(*kernel, parameters))), {}, &chip, {}};
    one.inputs = inputsOfCase(one.program);
    return one;
}

namespace {

using Refs = std::vector<pl::Ref>;

// Two cores in a loop. Core 0 copies rows in and signals twice as often as core 1 waits, so that
// semaphores are above zero while copies are under way.
ReplayCase turns()
{
    constexpr int kTurnRows = 128;
    const auto body = [](pl::Ref x, pl::Ref out, const Refs& refs) {
        const pl::Value core = pl::axisIndex("core");
        pl::foriLoop(kTurnRows / 16, {}, [&](pl::Value i, const auto&) {
            const pl::Ref from = x.at({pl::ds((i * 2 + core) * 8, 8), pl::all});
            const pl::Ref to = out.at({pl::ds((i * 2 + core) * 8, 8), pl::all});
            pl::dmaStart(from, refs[0], refs[1]);
            pl::when(core == 0, [&] { pl::semaphoreSignal(refs[2], 2, 1); });
            pl::dmaWait(refs[0], refs[1]);
            refs[0][pl::all] = refs[0][pl::all] * 2.0F;
            pl::dmaStart(refs[0], to, refs[1]);
            pl::when(core == 1, [&] { pl::semaphoreWait(refs[2], 1); });
            pl::dmaWait(to, refs[1]);
            return std::vector<pl::Value>{};
        });
        pl::when(core == 1, [&] { pl::semaphoreWait(refs[2], kTurnRows / 16); });
    };
    ReplayCase one{mustTrace(pl::kernel("turns",
                                        {pl::in("x", DType::F32, {kTurnRows, 128}),
                                         pl::out("out", DType::F32, {kTurnRows, 128})},
                                        [&](pl::Ref x, pl::Ref out) {
                                            pl::coreMap("core", 2, [&] {
                                                pl::runScoped({{"rows", DType::F32, {8, 128}},
                                                               pl::dmaSemaphores("sem"),
                                                               pl::semaphores("turn")},
                                                              [&](const Refs& refs) {
                                                                  body(x, out, refs);
                                                                  return std::vector<pl::Value>{};
                                                              });
                                            });
                                        })),
                   {},
                   &v5p(),
                   {}};
    one.inputs = inputsOfCase(one.program);
    return one;
}

// A pipeline in the body of another one, with a loop in its body.
ReplayCase nested()
{
    const Shape shape{32, 256};
    const auto rows = [] {
        pl::BlockSpec spec = pl::block({16, 256}, [](auto i) { return pl::at(i, 0); });
        spec.space = ir::MemorySpace::Hbm;
        return spec;
    };
    const auto tile = pl::block({8, 128}, [](auto i, auto j) { return pl::at(i, j); });
    ReplayCase one{
        mustTrace(pl::kernel(
            "nested", {pl::in("x", DType::F32, shape), pl::out("out", DType::F32, shape)},
            [&](pl::Ref x, pl::Ref out) {
                pl::emitPipeline(
                    {.grid = {2}, .in = {rows()}, .out = {rows()}}, [&](pl::Ref a, pl::Ref b) {
                        pl::emitPipeline({.grid = {2, 2}, .in = {tile}, .out = {tile}},
                                         [](pl::Ref c, pl::Ref d) {
                                             d[pl::all] = c[pl::all];
                                             pl::foriLoop(3, {}, [&](pl::Value, const auto&) {
                                                 d[pl::all] = d[pl::all] + c[pl::all];
                                                 return std::vector<pl::Value>{};
                                             });
                                         })(a, b);
                    })(x, out);
            })),
        {},
        &v5e(),
        {}};
    one.inputs = inputsOfCase(one.program);
    return one;
}

// Rows are gathered and scattered by lists, and each body changes the list of a later step.
ReplayCase indirect()
{
    ReplayCase one{mustTrace(pl::kernel(
                       "indirect",
                       {pl::scalarPrefetch("list", DType::Int32, {24}),
                        pl::in("x", DType::F32, {16, 128}), pl::out("out", DType::F32, {16, 128})},
                       [](pl::Ref list, pl::Ref x, pl::Ref out) {
                           const auto rows = [&](std::int32_t buffers) {
                               return pl::block(
                                   {pl::indirect(4), 128},
                                   [&](auto i) { return pl::at(list[pl::ds(i * 4, 4)], 0); },
                                   buffers);
                           };
                           pl::emitPipeline({.grid = {6}, .in = {rows(2)}, .out = {rows(1)}},
                                            [&](pl::Ref a, pl::Ref b) {
                                                b[pl::all] = a[pl::all] * 2.0F;
                                                const pl::Value last = pl::programId(0) * 0 + 20;
                                                list[pl::ds(last, 4)] =
                                                    (list[pl::ds(last, 4)].load() + 3) % 16;
                                            })(x, out);
                       })),
                   {},
                   &v5e(),
                   {}};
    std::vector<double> list;
    for (int i = 0; i < 24; ++i) {
        list.push_back(i * 7 % 16);
    }
    one.inputs = {arrayOf(DType::Int32, {24}, list), normalArray(DType::F32, {16, 128}, 1)};
    return one;
}

// Four devices pass their parts to the right twice, and each signals the next one.
ReplayCase ring()
{
    const auto body = [](pl::Ref x, pl::Ref out, const Refs& refs) {
        const pl::Value to = (pl::axisIndex("d") + 1) % 4;
        pl::remoteDmaStart(x, refs[0], refs[1], refs[2], to);
        pl::dmaWait(x, refs[1]);
        pl::dmaWait(refs[0], refs[2]);
        refs[3][pl::all] = refs[0][pl::all] * 2.0F;
        pl::remoteDmaStart(refs[3], out, refs[1], refs[2], to);
        pl::dmaWait(refs[3], refs[1]);
        pl::dmaWait(out, refs[2]);
    };
    ReplayCase one{
        mustTrace(pl::kernel("ring",
                             {pl::sharded(pl::in("x", DType::F32, {8, 128}), {{"d"}, {}}),
                              pl::sharded(pl::out("out", DType::F32, {8, 128}), {{"d"}, {}})},
                             [&](pl::Ref x, pl::Ref out) {
                                 pl::onMesh({{"d", 4}});
                                 pl::runScoped({{"landed", DType::F32, {8, 128}},
                                                pl::dmaSemaphores("sent"),
                                                pl::dmaSemaphores("received"),
                                                {"doubled", DType::F32, {8, 128}}},
                                               [&](const Refs& refs) {
                                                   body(x, out, refs);
                                                   return std::vector<pl::Value>{};
                                               });
                             })),
        {},
        &v5e(),
        {}};
    one.inputs = inputsOfCase(one.program);
    return one;
}

// A kernel between two fusions, on a chip on which launches take time. The first fusion returns a
// number for the others, and the second works in a loop.
ReplayCase fusions()
{
    static const chip::Chip kChip =
        chip::edited({{"/constants/kernel_launch_s", 1e-6}, {"/constants/fusion_launch_s", 5e-7}});
    const Shape shape{32, 128};
    const auto body = [](pl::Ref x, pl::Ref mid, pl::Ref out) {
        const pl::Value most = ir_test::fusion({"most"}, [&] {
            return std::vector{pl::reduce(ir::OpCode::ReduceMax, x[pl::all], {0, 1})};
        })[0];
        ir_test::kernel("scale", [&] {
            const auto rows = pl::block({8, 128}, kRow);
            pl::emitPipeline({.grid = {4}, .in = {rows}, .out = {rows}},
                             [&](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all] * most; })(x, mid);
        });
        ir_test::fusion({"add"}, [&] {
            out[pl::all] = x[pl::all];
            pl::foriLoop(3, {}, [&](pl::Value, const auto&) {
                out[pl::all] = pl::exp(mid[pl::all] * 0.1) + out[pl::all];
                return std::vector<pl::Value>{};
            });
        });
    };
    ReplayCase one{
        mustTrace(pl::kernel("fusions",
                             {pl::in("x", DType::F32, shape), pl::out("mid", DType::F32, shape),
                              pl::out("out", DType::F32, shape)},
                             body)),
        {},
        &kChip,
        {}};
    one.inputs = inputsOfCase(one.program);
    return one;
}

} // namespace

ReplayCase replayCase(const std::string& name)
{
    if (name == "matmul") {
        return builtInCase("matmul", {{"m", "64"},
                                      {"n", "64"},
                                      {"k", "128"},
                                      {"bm", "32"},
                                      {"bn", "32"},
                                      {"bk", "32"},
                                      {"dtype", "f32"}});
    }
    if (name == "wide") {
        return builtInCase("matmul", {{"m", "640"},
                                      {"n", "640"},
                                      {"k", "32"},
                                      {"bm", "128"},
                                      {"bn", "128"},
                                      {"bk", "32"},
                                      {"dtype", "f32"}});
    }
    if (name == "manual_dma") {
        return builtInCase("add_by_hand", {{"rows", "128"}, {"block", "8"}, {"cores", "2"}}, v5p());
    }
    if (name == "ring") {
        return ring();
    }
    if (name == "made_up") {
        return {madeUpProgram(), madeUpInputs(), &madeUpChip(), {}};
    }
    if (name == "indirect") {
        return indirect();
    }
    if (name == "fusions") {
        return fusions();
    }
    return name == "turns" ? turns() : nested();
}

} // namespace pallascope::machine_test
