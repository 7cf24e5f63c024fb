// Group opsmem: throughput and latency of shared-memory accesses, matrix loads and stores, and
// atomics, with the same kernel as the arithmetic.
#include "ops.h"

namespace {

// Addresses of Bytes per lane without bank conflicts; each chain has 2 KiB (of four warps) of its
// own. Words in memory hold their own address, so that a load's result is the next load's address.
template<int Bytes>
struct SharedBase
{
    static constexpr int kUnroll = 4;

    static __device__ __forceinline__ uint32_t address(uint32_t smem, int i)
    {
        return smem + ((i * 128 + threadIdx.x % 128) * Bytes) % 65536;
    }

    static __device__ __forceinline__ uint32_t start(const Operands&, uint32_t smem,
                                                     const uint32_t*, int i)
    {
        const uint32_t a = address(smem, i);
        for (int w = 0; w < Bytes; w += 4)
            asm volatile("st.shared.u32 [%0], %1;" ::"r"(a + w), "r"(a) : "memory");
        return a;
    }
};

struct Load4 : SharedBase<4>
{
    STEP { asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(x)::"memory"); }
};

struct Load8 : SharedBase<8>
{
    STEP
    {
        [[maybe_unused]] uint32_t y;
        asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%0];" : "+r"(x), "=r"(y)::"memory");
    }
};

struct Load16 : SharedBase<16>
{
    STEP
    {
        [[maybe_unused]] uint32_t y, z, w;
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%0];"
                     : "+r"(x), "=r"(y), "=r"(z), "=r"(w)::"memory");
    }
};

struct Store4 : SharedBase<4>
{
    STEP { asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(x), "r"(k.u) : "memory"); }
};

struct Store8 : SharedBase<8>
{
    STEP
    {
        asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(x), "r"(k.u) : "memory");
    }
};

struct Store16 : SharedBase<16>
{
    STEP
    {
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(x), "r"(k.u)
                     : "memory");
    }
};

// All memory that they read is zero, and the sum of a result and the address is the next address:
// one addition more in the latency.
struct MatrixLoad : SharedBase<16>
{
    static __device__ __forceinline__ uint32_t start(const Operands&, uint32_t smem,
                                                     const uint32_t*, int i)
    {
        const uint32_t a = address(smem, i);
        asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(a), "r"(0) : "memory");
        return a;
    }

    STEP
    {
        uint32_t p, q, r, s;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(p), "=r"(q), "=r"(r), "=r"(s)
                     : "r"(x)
                     : "memory");
        x += p | q | (r ^ s);
    }
};

struct MatrixStore : SharedBase<16>
{
    STEP
    {
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(x),
                     "r"(k.u)
                     : "memory");
    }
};

// Stored and loaded again by the same warp: as when registers change their owner.
struct StoreThenLoad : SharedBase<16>
{
    STEP
    {
        [[maybe_unused]] uint32_t y, z, w;
        asm volatile("st.volatile.shared.v4.u32 [%0], {%0, %1, %1, %1};" ::"r"(x), "r"(k.u)
                     : "memory");
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%0];"
                     : "+r"(x), "=r"(y), "=r"(z), "=r"(w)::"memory");
    }
};

// A zero that the compiler does not know: added, it leaves the memory as it is.
__device__ __forceinline__ float zero(const Operands& k)
{
    return number(k.u >> 1);
}

struct AtomicShared : MatrixLoad
{
    static __device__ __forceinline__ uint32_t start(const Operands&, uint32_t smem,
                                                     const uint32_t*, int i)
    {
        const uint32_t a = smem + (i * 512 + threadIdx.x) * 4;
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(0) : "memory");
        return a;
    }

    STEP
    {
        float old;
        asm volatile("atom.shared.add.f32 %0, [%1], %2;"
                     : "=f"(old)
                     : "r"(x), "f"(zero(k))
                     : "memory");
        x += bits(old);
    }
};

struct AtomicSharedS32 : AtomicShared
{
    STEP
    {
        uint32_t old;
        asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                     : "=r"(old)
                     : "r"(x), "r"(k.u >> 1)
                     : "memory");
        x += old;
    }
};

// Global atomics on zeros, at addresses of the thread's own, 32 neighbours per warp.
struct GlobalBase
{
    static constexpr int kUnroll = 2;

    static __device__ __forceinline__ uint32_t start(const Operands&, uint32_t, const uint32_t*,
                                                     int i)
    {
        return ((blockIdx.x * 8 + i) * 512 + threadIdx.x) & 0xfffffu;
    }
};

struct AtomicGlobal : GlobalBase
{
    STEP
    {
        float old;
        asm volatile("atom.global.add.f32 %0, [%1], %2;"
                     : "=f"(old)
                     : "l"(memory + x), "f"(zero(k))
                     : "memory");
        x += bits(old);
    }
};

struct ReduceGlobal : GlobalBase
{
    STEP
    {
        asm volatile("red.global.add.f32 [%0], %1;" ::"l"(memory + x), "f"(zero(k)) : "memory");
    }
};

// All lanes of all warps at one address.
struct ReduceGlobalSame : ReduceGlobal
{
    static __device__ __forceinline__ uint32_t start(const Operands&, uint32_t, const uint32_t*,
                                                     int)
    {
        return 0;
    }
};

} // namespace

void groupOpsMemory()
{
    OpsMemory m;
    // The formatter takes the macros for the start of a statement.
    // clang-format off
#define RUN(NAME) measureOp<NAME>(m, "opsmem", #NAME);
#define RUN_RATE(NAME) measureOp<NAME>(m, "opsmem", #NAME, 8, false);
    RUN(Load4) RUN(Load8) RUN(Load16) RUN_RATE(Store4) RUN_RATE(Store8) RUN_RATE(Store16)
    RUN(MatrixLoad) RUN_RATE(MatrixStore) RUN(StoreThenLoad) RUN(AtomicShared) RUN(AtomicSharedS32)
#undef RUN_RATE
#undef RUN
    // clang-format on
    // Alone on the chip and with all SMs at it.
    for (int blocks : {1, multiprocessors()}) {
        measureOp<AtomicGlobal>(m, "opsmem", "AtomicGlobal", blocks, true);
        measureOp<ReduceGlobal>(m, "opsmem", "ReduceGlobal", blocks, false);
        measureOp<ReduceGlobalSame>(m, "opsmem", "ReduceGlobalSame", blocks, false);
    }
}
