// Measures how fast the machine itself is. With values: the main job (4096^3 in 512-blocks, every
// number computed and recorded, and the same in 128-blocks) against one f32 product of that size by
// Eigen on the same threads, the fastest of x86-64-v2, v3 and v4; both sides take turns. Without
// values: 8192^3 in 128-blocks, 262 144 steps.
#include "app/run_job/run_job.h"
#include "core/machine/arith/dot.h"
#include "core/machine/arith/threads.h"
#include "eigen_dot.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace {

using namespace pallascope;

constexpr std::int64_t kSize = 4096;

double minimum(const std::vector<double>& seconds)
{
    return *std::min_element(seconds.begin(), seconds.end());
}

double median(std::vector<double> seconds)
{
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

double machineSeconds(const app::RunRequest& request)
{
    const auto run = app::runKernel(request);
    if (!run) {
        std::fprintf(stderr, "%s\n", run.error().message.c_str());
        std::exit(2);
    }
    return run->walls.back().value();
}

struct Eigen
{
    std::string level;
    EigenProduct product = nullptr;
    std::vector<double> seconds;
};

std::vector<Eigen> eigenLevels()
{
    std::vector<Eigen> levels;
    const std::pair<arith::DotLevel, const char*> known[] = {
        {arith::DotLevel::V2, "v2"}, {arith::DotLevel::V3, "v3"}, {arith::DotLevel::V4, "v4"}};
    for (const auto& [level, name] : known) {
        if (!arith::dotLevelSupported(level)) {
            continue;
        }
        const std::string file = std::string(EIGEN_MODULE_FOLDER) + "/eigen_dot_" + name + ".so";
        void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        void* const symbol = module == nullptr ? nullptr : dlsym(module, "eigenProduct");
        if (symbol == nullptr) {
            std::fprintf(stderr, "%s\n", dlerror());
            std::exit(2);
        }
        levels.push_back({name, reinterpret_cast<EigenProduct>(symbol), {}});
    }
    return levels;
}

double eigenSeconds(EigenProduct product, const std::vector<float>& a, const std::vector<float>& b,
                    std::vector<float>& out)
{
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t threads = arith::threadCount();
    const auto part = [&](std::int64_t i) {
        product(a.data(), b.data(), out.data(), kSize, kSize * i / threads,
                kSize * (i + 1) / threads);
    };
    std::vector<std::thread> others;
    for (std::int64_t i = 1; i < threads; ++i) {
        others.emplace_back(part, i);
    }
    part(0);
    for (std::thread& other : others) {
        other.join();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void valuesFull(int rounds)
{
    std::vector<float> a(kSize * kSize, 0.5F), b(kSize * kSize, 0.25F), out(kSize * kSize);
    std::vector<Eigen> levels = eigenLevels();
    std::vector<double> ours, fine;
    for (int round = 0; round < rounds; ++round) {
        for (Eigen& level : levels) {
            level.seconds.push_back(eigenSeconds(level.product, a, b, out));
        }
        ours.push_back(machineSeconds({.fullValues = true, .check = false}));
        fine.push_back(machineSeconds({.parameters = {{"bm", "128"}, {"bn", "128"}, {"bk", "128"}},
                                       .fullValues = true,
                                       .check = false}));
    }
    const Eigen* fastest = &levels.front();
    for (const Eigen& level : levels) {
        std::printf("Eigen f32 4096^3, x86-64-%s:         minimum %.3f s, median %.3f s\n",
                    level.level.c_str(), minimum(level.seconds), median(level.seconds));
        fastest = minimum(level.seconds) < minimum(fastest->seconds) ? &level : fastest;
    }
    for (const auto& [what, times] :
         {std::pair("main job, values full, recorded", &ours), std::pair("in 128-blocks", &fine)}) {
        std::printf("%s:  minimum %.3f s, median %.3f s; %.2f x (median %.2f x) the fastest "
                    "Eigen\n",
                    what, minimum(*times), median(*times),
                    minimum(*times) / minimum(fastest->seconds),
                    median(*times) / median(fastest->seconds));
    }
}

void manySteps(int rounds)
{
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round) {
        seconds.push_back(machineSeconds({.kernel = "matmul",
                                          .parameters = {{"m", "8192"},
                                                         {"n", "8192"},
                                                         {"k", "8192"},
                                                         {"bm", "128"},
                                                         {"bn", "128"},
                                                         {"bk", "128"}},
                                          .fullValues = false}));
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("8192^3 in 128-blocks, 262 144 steps, values needed: minimum %.3f s, median %.3f "
                "s, peak %.0f MB\n",
                minimum(seconds), median(seconds), static_cast<double>(usage.ru_maxrss) / 1024);
}

} // namespace

int main(int argc, char** argv)
{
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
    manySteps(rounds); // must come first, because the peak memory is that of the process
    valuesFull(rounds);
    return 0;
}
