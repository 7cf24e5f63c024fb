// Measures what a step costs besides its arithmetic, and what race detection costs. The two sides
// of each ratio take turns.
#include "app/run_job/chips.h"
#include "core/ir/builder.h"
#include "core/machine/run.h"
#include "kernels/kernel.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace pallascope;

using Times = std::vector<double>; // seconds

double minimum(const Times& times)
{
    return *std::min_element(times.begin(), times.end());
}

double median(Times times)
{
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

template<class Work>
double timed(Work work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

ir::Program built(const char* name, const std::map<std::string, std::string>& parameters)
{
    const kernels::Kernel* kernel = kernels::find(name);
    const auto arguments = kernels::arguments(*kernel, parameters);
    return *kernel->build(*arguments);
}

std::vector<Array> inputsOf(const ir::Program& program)
{
    std::vector<Array> inputs;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type& type = program.type(argument.ref);
            inputs.push_back(normalArray(type.dtype, type.shape, inputs.size()));
        }
    }
    return inputs;
}

double runSeconds(const ir::Program& program, const std::vector<Array>& inputs,
                  const chip::Chip& chip, const machine::Options& options)
{
    return timed([&] {
        const auto run = machine::run(program, inputs, chip, options);
        if (!run) {
            std::fprintf(stderr, "%s\n", run.error().message.c_str());
            std::exit(2);
        }
    });
}

// f32 x + y in 4096 steps of (8, 128), every number computed and recorded, against the same
// additions alone, block by block.
void steps(int rounds)
{
    constexpr std::size_t kSteps = 4096, kBlock = 8 * 128;
    const ir::Program program =
        built("add_vectors", {{"shape", "32768,128"}, {"block", "8"}, {"dtype", "f32"}});
    const std::vector<Array> inputs = inputsOf(program);
    const chip::Chip chip = *app::loadChip("v5e");
    std::vector<float> x(kSteps * kBlock, 0.5F), y(kSteps * kBlock, 0.25F), out(kSteps * kBlock);
    Times ours, bare;
    for (int round = 0; round < rounds; ++round) {
        bare.push_back(timed([&] {
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = x[i] + y[i];
            }
            volatile float keep = out[static_cast<std::size_t>(round)];
            (void)keep;
        }));
        ours.push_back(runSeconds(program, inputs, chip, {}));
    }
    const auto perStep = [](double run, double arithmetic) {
        return (run - arithmetic) / static_cast<double>(kSteps) * 1e6;
    };
    std::printf("f32 add, 4096 steps of (8,128): minimum %.2f, median %.2f us a step over the bare "
                "arithmetic (%.2f us)\n",
                perStep(minimum(ours), minimum(bare)), perStep(median(ours), median(bare)),
                minimum(bare) / static_cast<double>(kSteps) * 1e6);
}

// Two cores share a grid, and every access of HBM is compared with the other core's.
ir::Program sharedGrid(Extent steps)
{
    const Shape shape{steps * 8, 128};
    return *pl::kernel(
        "shared", {pl::in("x", DType::F32, shape), pl::out("out", DType::F32, shape)},
        [&](pl::Ref x, pl::Ref out) {
            pl::coreMap("core", 2, [&] {
                const auto rows = pl::block({8, 128}, [](auto i) { return pl::at(i, 0); });
                pl::emitPipeline({.grid = {steps},
                                  .in = {rows},
                                  .out = {rows},
                                  .coreAxis = "core",
                                  .parallel = {0}},
                                 [](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all] + 1; })(x, out);
            });
        });
}

template<class Build>
void races(const char* what, const char* chipName, machine::ValueMode values, int rounds,
           Build build)
{
    const chip::Chip chip = *app::loadChip(chipName);
    double before = 0;
    for (const Extent steps : {4096, 16384, 65536}) {
        const ir::Program program = build(steps);
        const std::vector<Array> inputs = inputsOf(program);
        Times on, off;
        for (int round = 0; round < rounds; ++round) {
            for (const bool detects : {false, true}) {
                machine::Options options{.values = values};
                options.settings.detectRaces =
                    detects ? machine::DetectRaces::Yes : machine::DetectRaces::No;
                (detects ? on : off).push_back(runSeconds(program, inputs, chip, options));
            }
        }
        const double perStep = minimum(on) / static_cast<double>(steps);
        std::printf("%s, %5lld steps: races on %.3f us a step (%.2f x that of a quarter of the "
                    "steps); on / off: minimum %.2f, median %.2f\n",
                    what, static_cast<long long>(steps), perStep * 1e6,
                    before > 0 ? perStep / before : 1, minimum(on) / minimum(off),
                    median(on) / median(off));
        before = perStep;
    }
}

} // namespace

int main(int argc, char** argv)
{
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
    setlinebuf(stdout);
    steps(rounds);
    const auto manualDma = [](Extent steps) {
        return built("add_by_hand", {{"rows", std::to_string(8 * steps)}, {"block", "8"}});
    };
    for (const auto& [mode, values] : {std::pair{"needed", machine::ValueMode::Needed},
                                       std::pair{"full", machine::ValueMode::Full}}) {
        races((std::string("manual DMA, ") + mode).c_str(), "v5e", values, rounds, manualDma);
        races((std::string("two cores, ") + mode).c_str(), "v5p", values, rounds, sharedGrid);
    }
    return 0;
}
