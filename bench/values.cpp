// Measures how long the picture of a ref takes, as the Values dock asks for it: 200 random moments
// of a run with every number computed, and pictures of other parts at one moment. The baseline is
// that run from its start. On a machine that others use too, the processor's time, of all threads,
// says more than that of the clock.
#include "app/run_job/values_source.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace pallascope;
using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point begin)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double processorMilliseconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Times // ms of each look
{
    std::vector<double> clock, processor;

    void add(app::ValuesSource& values, const app::ValuesAsk& ask)
    {
        const Clock::time_point begin = Clock::now();
        const double before = processorMilliseconds();
        (void)values.look(ask, {});
        processor.push_back(processorMilliseconds() - before);
        clock.push_back(milliseconds(begin));
    }
};

void print(const char* what, Times times, double run)
{
    for (std::vector<double>* each : {&times.clock, &times.processor}) {
        std::sort(each->begin(), each->end());
    }
    const std::size_t p99 = times.clock.size() * 99 / 100;
    std::printf("  %s: median %.1f ms, p99 %.1f ms (%.3f of the run), largest %.1f ms; of the "
                "processor: median %.1f ms, p99 %.1f ms\n",
                what, times.clock[times.clock.size() / 2], times.clock[p99], times.clock[p99] / run,
                times.clock.back(), times.processor[times.processor.size() / 2],
                times.processor[p99]);
}

bool report(const app::RunRequest& request, const char* name)
{
    app::RunRequest quick = request;
    quick.fullValues = false; // the trace is the same
    const auto run = app::runKernel(quick);
    Clock::time_point begin = Clock::now();
    const auto whole = app::runKernel(request);
    const double alone = milliseconds(begin);
    auto values = run ? app::openValues(request, *run->view, false)
                      : Result<std::unique_ptr<app::ValuesSource>>(run.error());
    if (!values || !whole) {
        std::fprintf(stderr, "%s\n", (values ? whole.error() : values.error()).message.c_str());
        return false;
    }
    const Picoseconds end = run->view->trace->end();
    const auto& refs = (*values)->refs();
    const auto out = std::find_if(refs.begin(), refs.end(),
                                  [](const app::ValuesRef& ref) { return ref.name == "out"; });
    app::ValuesAsk ask{
        .time = end, .ref = static_cast<std::size_t>(out - refs.begin()), .size = {347, 390}};
    begin = Clock::now();
    (void)(*values)->look(ask, {});
    std::printf("%s: %lld events, a run with all values %.0f ms; first look, at the end, %.0f ms\n",
                name, static_cast<long long>(run->view->trace->info().events), alone,
                milliseconds(begin));
    std::mt19937_64 random(1);
    Times jumps, looks;
    for (int i = 0; i < 200; ++i) {
        ask.time = Picoseconds(
            static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end.value())));
        jumps.add(**values, ask);
    }
    for (int i = 0; i < 100; ++i) {
        ask.choice.side = 1 << random() % 5;
        ask.choice.corner = {static_cast<std::int64_t>(random() % 4096),
                             static_cast<std::int64_t>(random() % 4096)};
        looks.add(**values, ask);
    }
    print("a jump with its picture", jumps, alone);
    print("another part at the same moment", looks, alone);
    return true;
}

} // namespace

int main()
{
    app::RunRequest request{.chip = "tpu_v5e", .check = false};
    bool isDone = report(request, "matmul 4096\u00b3 in 512-blocks");
    for (const std::string size : {"128", "64"}) { // 64: more than a million events
        for (const char* block : {"bm", "bn", "bk"}) {
            request.parameters[block] = size;
        }
        isDone = report(request, ("matmul 4096\u00b3 in " + size + "-blocks").c_str()) && isDone;
    }
    return isDone ? 0 : 1;
}
