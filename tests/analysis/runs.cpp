// Makes the runs that runs.h declares.
#include "tests/analysis/runs.h"

#include "core/ir/builder.h"
#include "core/ir/mesh.h"
#include "core/machine/run.h"
#include "kernels/kernel.h"
#include "tests/chip/chip_file.h"
#include "tests/support/synthetic_trace.h"

namespace pallascope::analysis_test {

namespace {

using Given = std::map<std::string, std::string>;

NamedRun run(const std::string& name, const std::string& kernelName, const Given& given,
             const std::string& chipName = "tpu_v5e")
{
    return {name, runOf(kernelName, given, chipName)};
}

} // namespace

std::shared_ptr<const trace::Trace> runOf(const ir::Program& program, const std::string& chipName)
{
    return runOf(program, chip::parse(chip::chipText(chipName), chipName).value());
}

std::shared_ptr<const trace::Trace> runOf(const ir::Program& program, const chip::Chip& chip)
{
    std::vector<Array> inputs;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type type = ir::wholeType(program, argument);
            inputs.push_back({type.dtype, type.shape, nullptr});
        }
    }
    machine::Options options;
    options.values = machine::ValueMode::Needed;
    return machine::run(program, inputs, chip, options).value().trace;
}

std::shared_ptr<const trace::Trace> runOf(const std::string& kernelName, const Given& given,
                                          const std::string& chip)
{
    return runOf(programOf(kernelName, given), chip);
}

ir::Program programOf(const std::string& kernelName, const Given& given)
{
    const kernels::Kernel* kernel = kernels::find(kernelName);
    return kernel->build(kernels::arguments(*kernel, given).value()).value();
}

trace::TraceBuilder mainJobBuilder()
{
    trace::TraceBuilder builder = test::mainJobBuilder();
    builder.info.chipJson = chip::v5eText();
    return builder;
}

std::shared_ptr<const trace::Trace> mainJob()
{
    return mainJobBuilder().finish().value();
}

std::shared_ptr<const trace::Trace> twoCores()
{
    return run("cores", "add_by_hand", {{"cores", "2"}}, "tpu_v5p").trace;
}

std::shared_ptr<const trace::Trace> twoPipelines()
{
    const auto copy = [](pl::Ref from, pl::Ref to) { to[pl::all] = from[pl::all].load(); };
    const auto rows = [](Extent count) {
        return pl::block({count, 128}, [](pl::Value i) { return pl::at(i, 0); });
    };
    const ir::Program program =
        pl::kernel(
            "two", {pl::in("x", DType::F32, {1024, 128}), pl::out("out", DType::F32, {1024, 128})},
            [&](pl::Ref x, pl::Ref out) {
                pl::emitPipeline({.grid = {4}, .in = {rows(256)}, .out = {rows(256)}}, copy)(x,
                                                                                             out);
                pl::emitPipeline({.grid = {128}, .in = {rows(8)}, .out = {rows(8)}}, copy)(x, out);
            })
            .value();
    return runOf(program, "tpu_v5e");
}

std::shared_ptr<const trace::Trace> counting()
{
    const auto count = [](pl::Ref x, pl::Ref out, const std::vector<pl::Ref>& refs) {
        pl::dmaStart(x, refs[0], refs[1]);
        pl::dmaWait(refs[0], refs[1]);
        pl::foriLoop(10'000, {}, [&](pl::Value i, const std::vector<pl::Value>&) {
            refs[0][0] = refs[0][0].load() + i;
            return std::vector<pl::Value>();
        });
        pl::dmaStart(refs[0], out, refs[1]);
        pl::dmaWait(out, refs[1]);
        return std::vector<pl::Value>();
    };
    const ir::Program program =
        pl::kernel("counting", {pl::in("x", DType::Int32, {1}), pl::out("out", DType::Int32, {1})},
                   [&](pl::Ref x, pl::Ref out) {
                       pl::runScoped({{"count", DType::Int32, {1}, ir::MemorySpace::Smem},
                                      pl::dmaSemaphores("sem")},
                                     [&](const auto& refs) { return count(x, out, refs); });
                   })
            .value();
    return runOf(program, "tpu_v5e");
}

const std::vector<NamedRun>& machineRuns()
{
    const Given small = {{"m", "512"},  {"n", "384"},  {"k", "640"},
                         {"bm", "128"}, {"bn", "128"}, {"bk", "128"}};
    const auto with = [&](const std::string& name, const std::string& value) {
        Given given = small;
        given[name] = value;
        return given;
    };
    static const std::vector<NamedRun> kRuns = {
        run("small", "matmul", small),
        run("one buffer", "matmul", with("buffers", "1")),
        run("three buffers", "matmul", with("buffers", "3")),
        run("revisits", "matmul", with("order", "ikj")),
        run("f32", "matmul", with("dtype", "f32")),
        run("overhang", "matmul_scratch",
            {{"m", "1000"},
             {"n", "700"},
             {"k", "600"},
             {"bm", "512"},
             {"bn", "512"},
             {"bk", "512"}}),
        run("one step", "matmul_scratch",
            {{"m", "256"},
             {"n", "256"},
             {"k", "256"},
             {"bm", "256"},
             {"bn", "256"},
             {"bk", "256"}}),
        run("vectors", "add_vectors", {})};
    return kRuns;
}

} // namespace pallascope::analysis_test
