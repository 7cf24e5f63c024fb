// Measures how long a jump to any moment of a long run takes: 200 random moments in a run of more
// than a million events with every number computed, compared with that run from its start.
#include "core/machine/replay.h"

#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace pallascope;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Case
{
    const char* name;
    const char* kernel;
    std::map<std::string, std::string> parameters;
    machine::ValueMode values;
};

bool report(const Case& one)
{
    constexpr int kJumps = 200;
    auto kernel = app::chooseKernel(one.kernel, one.parameters);
    auto chip = app::loadChip("tpu_v5e");
    if (!kernel || !chip) {
        std::fprintf(stderr, "%s\n", (kernel ? chip.error() : kernel.error()).message.c_str());
        return false;
    }
    machine::Options options;
    options.values = one.values;
    const bool full = one.values == machine::ValueMode::Full;
    const std::vector<Array> inputs = app::makeInputs(*kernel, full).value();
    options.rows = false;
    Clock::time_point begin = Clock::now();
    const auto run = machine::run(kernel->program, inputs, *chip, options);
    const double alone = secondsSince(begin);
    auto replay = machine::Replay::start(kernel->program, inputs, *chip, options);
    if (!run || !replay) {
        std::fprintf(stderr, "%s\n", (run ? replay.error() : run.error()).message.c_str());
        return false;
    }
    begin = Clock::now();
    (void)(*replay)->seek(std::numeric_limits<std::int64_t>::max());
    const double first = secondsSince(begin);
    const std::int64_t events = (*replay)->sequence();
    std::mt19937_64 random(1);
    std::vector<double> jumps;
    for (int i = 0; i < kJumps; ++i) {
        const auto to = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(events));
        begin = Clock::now();
        (void)(*replay)->seek(to);
        jumps.push_back(secondsSince(begin));
    }
    std::sort(jumps.begin(), jumps.end());
    std::printf("%s: %lld events; a run %.3f s, a first replay %.3f s (%.2f of it); %zu "
                "checkpoints, %.0f MiB; a jump: minimum %.1f ms, median %.1f ms, p99 %.1f ms, "
                "largest %.1f ms\n",
                one.name, static_cast<long long>(events), alone, first, first / alone,
                (*replay)->checkpointCount(),
                static_cast<double>((*replay)->checkpointBytes().value()) / (1 << 20),
                jumps.front() * 1e3, jumps[kJumps / 2] * 1e3, jumps[kJumps * 99 / 100] * 1e3,
                jumps.back() * 1e3);
    return true;
}

} // namespace

int main()
{
    using machine::ValueMode;
    const std::vector<Case> cases{
        {"add of (8,128) blocks, full",
         "add_vectors",
         {{"shape", "262144,128"}, {"block", "8"}},
         ValueMode::Full},
        {"matmul 8192\u00b3 in 128-blocks, needed",
         "matmul",
         {{"m", "8192"}, {"n", "8192"}, {"k", "8192"}, {"bm", "128"}, {"bn", "128"}, {"bk", "128"}},
         ValueMode::Needed},
        {"matmul 4096\u00b3 in 512-blocks, full", "matmul", {}, ValueMode::Full}};
    return std::all_of(cases.begin(), cases.end(), report) ? 0 : 1;
}
