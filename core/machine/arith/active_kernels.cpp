// Finds out which instruction levels the CPU supports, and keeps the level in use.
#include "core/machine/arith/active_kernels.h"

#include "core/base/check.h"
#include "core/machine/arith/dot.h"

#include <atomic>

namespace pallascope::arith {

namespace {

#if defined(__x86_64__)

bool supportsV2()
{
    return __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("popcnt") != 0;
}

// The features of x86-64-v3 and v4 that compilers let us ask for and that a CPU may lack. (Only
// newer compilers let __builtin_cpu_supports ask for the level itself.)
bool supportsV3()
{
    return supportsV2() && __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0
           && __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
}

bool supportsV4()
{
    return supportsV3() && __builtin_cpu_supports("avx512f") != 0
           && __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512cd") != 0
           && __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

const Kernels& kernelsOf(DotLevel level)
{
    switch (level) {
    case DotLevel::V2:
        return x86v2::kKernels;
    case DotLevel::V3:
        return x86v3::kKernels;
    case DotLevel::V4:
        return x86v4::kKernels;
    }
    checkFailed("level is one of DotLevel", __FILE__, __LINE__);
}

#else // Without x86-64, V2 is what the compiler generates for this CPU.

bool supportsV2()
{
    return true;
}

bool supportsV3()
{
    return false;
}

bool supportsV4()
{
    return false;
}

const Kernels& kernelsOf(DotLevel /*level*/)
{
    return x86v2::kKernels;
}

#endif

DotLevel bestLevel()
{
    if (supportsV4()) {
        return DotLevel::V4;
    }
    if (supportsV3()) {
        return DotLevel::V3;
    }
    PALLASCOPE_CHECK(supportsV2());
    return DotLevel::V2;
}

std::atomic<DotLevel>& currentLevel()
{
    static std::atomic<DotLevel> level{bestLevel()};
    return level;
}

} // namespace

bool dotLevelSupported(DotLevel level)
{
    switch (level) {
    case DotLevel::V2:
        return supportsV2();
    case DotLevel::V3:
        return supportsV3();
    case DotLevel::V4:
        return supportsV4();
    }
    return false;
}

DotLevel dotLevel()
{
    return currentLevel().load(std::memory_order_relaxed);
}

void setDotLevel(DotLevel level)
{
    PALLASCOPE_CHECK(dotLevelSupported(level));
    currentLevel().store(level, std::memory_order_relaxed);
}

const Kernels& activeKernels()
{
    return kernelsOf(dotLevel());
}

} // namespace pallascope::arith
