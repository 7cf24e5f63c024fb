// Thin wrappers of the PTX instructions which the measurements use. Every wait is bounded by time:
// a wait that does not come back sets g_stuck and returns false, and the caller leaves its loop, so
// that a fault in a measurement never leaves a kernel running.
#pragma once

#include <cstdint>

// One per translation unit: the host of the same unit reads and clears it (see host.h).
static __device__ int g_stuck;

// What one block (or one warpgroup of it) reports about its run.
struct Record
{
    long long c0, c1;          // clock64 at start and end: exact differences on one SM
    unsigned long long t0, t1; // %globaltimer at start and end, ns
    long long bytes;           // bytes moved or another count, as the measurement says
    unsigned smid;
    unsigned extra;
};

// One thread writes when the first warp of its block began and the last one ended.
__device__ __forceinline__ void recordBlock(const long long* begin, const long long* end,
                                            Record* records)
{
    if (threadIdx.x != 0)
        return;
    Record r = {};
    r.c0 = begin[0];
    r.c1 = end[0];
    for (int i = 1; i < blockDim.x / 32; ++i) {
        r.c0 = min(r.c0, begin[i]);
        r.c1 = max(r.c1, end[i]);
    }
    records[blockIdx.x] = r;
}

// Uses all of an array that is in registers, so that nothing of it is left out.
template<class T, int N>
__device__ __forceinline__ T sumOf(const T (&x)[N])
{
    T sum = 0;
#pragma unroll
    for (int i = 0; i < N; ++i)
        sum += x[i];
    return sum;
}

__device__ __forceinline__ long long now()
{
    long long c;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c)::"memory");
    return c;
}

__device__ __forceinline__ unsigned long long nowNs()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

__device__ __forceinline__ unsigned smId()
{
    unsigned s;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
    return s;
}

__device__ __forceinline__ uint32_t smemAddress(const void* p)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// The dynamic shared memory from its first multiple of 1024 on: the 128-byte swizzle needs it.
__device__ __forceinline__ char* alignedSmem(char* raw)
{
    return raw + ((1024u - (smemAddress(raw) & 1023u)) & 1023u);
}

__device__ __forceinline__ void barrierInit(uint32_t bar, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

__device__ __forceinline__ void fenceBarrierInit()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Ordinary writes to shared memory are seen by wgmma and bulk copies after this and a barrier.
__device__ __forceinline__ void fenceProxyAsync()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void barrierArrive(uint32_t bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}

__device__ __forceinline__ void barrierExpect(uint32_t bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ bool barrierTry(uint32_t bar, uint32_t parity)
{
    uint32_t done;
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}\n"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
    return done != 0;
}

constexpr long long kGiveUpCycles = 60'000'000; // about 35 ms

// Waits until the phase with this parity is complete; the clock is read only after a failed try.
__device__ __forceinline__ bool barrierWait(uint32_t bar, uint32_t parity)
{
    if (barrierTry(bar, parity))
        return true;
    const long long start = now();
    while (!barrierTry(bar, parity)) {
        if (now() - start > kGiveUpCycles) {
            g_stuck = 1;
            return false;
        }
    }
    return true;
}

// The plain (non-tensor) bulk copy: needs no tensor map, and uses the same copy engine.
__device__ __forceinline__ void bulkLoad(uint32_t dst, const void* src, uint32_t bytes,
                                         uint32_t bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(dst),
                 "l"(src), "r"(bytes), "r"(bar)
                 : "memory");
}

__device__ __forceinline__ void bulkStore(void* dst, uint32_t src, uint32_t bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(src),
                 "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void bulkCommit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

template<int N>
__device__ __forceinline__ void bulkWait()
{
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

template<int N>
__device__ __forceinline__ void bulkWaitRead()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

// Coalesced 16-byte loads that leave nothing in L1, so that L2 is what is measured.
__device__ __forceinline__ uint4 loadNoL1(const uint4* p)
{
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

__device__ __forceinline__ uint32_t hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}
