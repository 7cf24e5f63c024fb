// Measures how many steps per second one core runs in a sweep: trials of matmul over block sizes,
// one after another.
#include "app/run_job/chips.h"
#include "core/ir/pipeline_facts.h"
#include "core/study/trial.h"
#include "kernels/kernel.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>
#include <vector>

namespace {

using namespace pallascope;

struct Trial
{
    ir::Program program;
    std::int64_t steps = 0;
};

std::vector<Trial> trials(std::int64_t size, std::int64_t smallest, std::int64_t largest)
{
    const kernels::Kernel* kernel = kernels::find("matmul");
    std::vector<Trial> result;
    const std::string extent = std::to_string(size);
    for (std::int64_t bm = smallest; bm <= largest; bm *= 2) {
        for (std::int64_t bn = smallest; bn <= largest; bn *= 2) {
            for (std::int64_t bk = smallest; bk <= largest; bk *= 2) {
                const auto arguments = kernels::arguments(*kernel, {{"m", extent},
                                                                    {"n", extent},
                                                                    {"k", extent},
                                                                    {"bm", std::to_string(bm)},
                                                                    {"bn", std::to_string(bn)},
                                                                    {"bk", std::to_string(bk)}});
                Trial trial{*kernel->build(*arguments)};
                for (const ir::Operation* pipeline : ir::pipelinesOf(trial.program)) {
                    trial.steps +=
                        ir::stepCount(std::get<ir::PipelineParams>(pipeline->params).grid);
                }
                result.push_back(std::move(trial));
            }
        }
    }
    return result;
}

struct Seconds
{
    // Core: time in which the thread ran, for computers that other programs use too.
    double wall = 0, core = 0;
};

double coreSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Seconds measureOnce(const std::vector<Trial>& trials, const chip::Chip& chip)
{
    const auto begin = std::chrono::steady_clock::now();
    const double coreBegin = coreSeconds();
    for (const Trial& trial : trials) {
        if (!study::trial(trial.program, chip)) {
            std::exit(2);
        }
    }
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
            coreSeconds() - coreBegin};
}

void measure(const char* what, const std::vector<Trial>& sweep, int rounds)
{
    const chip::Chip chip = *app::loadChip("v5e");
    std::int64_t steps = 0;
    for (const Trial& trial : sweep) {
        steps += trial.steps;
    }
    std::vector<double> wall, core;
    for (int round = 0; round < rounds; ++round) {
        const Seconds seconds = measureOnce(sweep, chip);
        wall.push_back(seconds.wall);
        core.push_back(seconds.core);
    }
    std::printf("%s: %zu trials, %lld steps on one core\n", what, sweep.size(),
                static_cast<long long>(steps));
    for (auto& [name, times] : {std::pair{"wall", &wall}, std::pair{"core", &core}}) {
        std::sort(times->begin(), times->end());
        const auto rate = [&](double time) { return static_cast<double>(steps) / time * 1e-6; };
        std::printf("  by %s time: best %.2f, median %.2f million steps/s\n", name,
                    rate(times->front()), rate((*times)[times->size() / 2]));
    }
}

} // namespace

int main(int argc, char** argv)
{
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
    measure("matmul 8192^3, blocks of 128 to 512 ", trials(8192, 128, 512), rounds);
    measure("matmul 4096^3, blocks of 256 to 1024", trials(4096, 256, 1024), rounds);
    return 0;
}
