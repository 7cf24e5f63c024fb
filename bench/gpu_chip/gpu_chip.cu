// Measures what a timing model of a Hopper GPU needs to know about the chip, one group of
// measurements per process: gpu_chip GROUP. README.md says how to build and run it.
#include "host.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace {

struct Group
{
    const char* name;
    void (*run)();
};

const Group kGroups[] = {
    {"check", groupCheck},      {"smem", groupSmem},     {"port", groupPort},
    {"hbm", groupHbm},          {"launch", groupLaunch}, {"ops", groupOps},
    {"opsmem", groupOpsMemory}, {"mix", groupMix},       {"latency", groupLatency},
    {"clock", groupClock},      {"spill", groupSpill},   {"registers", groupRegisters},
};

int g_count = 0; // measurements begun so far
int g_from = 0;  // the first one that this process makes
double g_seconds = 20;
std::string g_group;
const auto g_start = std::chrono::steady_clock::now();

double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - g_start).count();
}

// The context is lost after a fault such as an illegal address: only a new process goes on.
void startAgain()
{
    const double left = g_seconds - seconds();
    const std::string from = std::to_string(g_count), rest = std::to_string(left);
    fflush(stdout);
    if (left > 1)
        execl("/proc/self/exe", "gpu_chip", g_group.c_str(), from.c_str(), rest.c_str(), nullptr);
    exit(3);
}

} // namespace

bool late()
{
    return seconds() > g_seconds;
}

void guarded(const std::string& what, const std::function<void()>& f)
{
    if (++g_count <= g_from)
        return;
    if (late()) {
        printf("# left out, no time: %s\n", what.c_str());
        return;
    }
    try {
        f();
    } catch (const std::exception& e) {
        printf("# failed: %s: %s\n", what.c_str(), e.what());
        fflush(stdout);
        cudaGetLastError();
        if (cudaDeviceSynchronize() != cudaSuccess || cudaFree(nullptr) != cudaSuccess)
            startAgain();
    }
}

int multiprocessors()
{
    static int n = 0;
    if (n == 0)
        OK(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
    return n;
}

int main(int argc, char** argv)
{
    if (argc < 2) {
        printf("gpu_chip GROUP [FROM] [SECONDS]; the groups:");
        for (const Group& g : kGroups)
            printf(" %s", g.name);
        printf("\n");
        return 2;
    }
    g_group = argv[1];
    g_from = argc > 2 ? atoi(argv[2]) : 0;
    g_seconds = argc > 3 ? atof(argv[3]) : g_seconds;
    try {
        cudaDeviceProp p;
        OK(cudaGetDeviceProperties(&p, 0));
        printf("# %s: %s, %d SMs, %d KiB of L2, group %s from %d\n", argv[0], p.name,
               p.multiProcessorCount, p.l2CacheSize / 1024, argv[1], g_from);
        fflush(stdout);
        for (const Group& g : kGroups) {
            if (g_group != g.name)
                continue;
            g.run();
            printf("# group %s took %.1f s\n", g.name, seconds());
            return 0;
        }
    } catch (const std::exception& e) {
        printf("# failed: %s: %s\n", argv[1], e.what());
        return 1;
    }
    printf("# no group %s\n", argv[1]);
    return 2;
}
