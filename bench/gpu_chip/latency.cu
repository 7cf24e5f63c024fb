// Group latency: how long single steps of synchronisation, copies and memory accesses take. Every
// kernel writes the cycles of single tries, or of one of many in a row, to a list.
#include "latency.h"
#include "wgmma.h"

#include <cooperative_groups.h>

namespace {

__global__ void clocks(long long* out)
{
    for (int i = 0; i < kTries; ++i) {
        const long long a = now();
        out[i] = now() - a;
    }
}

__global__ void timerSteps(long long* out)
{
    for (int i = 0; i < kTries; ++i) {
        const unsigned long long a = nowNs();
        unsigned long long b = nowNs();
        for (int k = 0; k < 100000 && b == a; ++k)
            b = nowNs();
        out[i] = static_cast<long long>(b - a);
    }
}

// Two warpgroups arrive for each other by turns: half a round is from an arrival to its being seen.
__global__ void pingPong(long long* out)
{
    __shared__ uint64_t storage[2];
    const uint32_t bar = smemAddress(storage);
    if (threadIdx.x == 0) {
        barrierInit(bar, 1);
        barrierInit(bar + 8, 1);
        fenceBarrierInit();
    }
    __syncthreads();
    if (threadIdx.x % 128 != 0)
        return;
    const uint32_t mine = bar + 8 * (threadIdx.x / 128), other = bar + 8 * (1 - threadIdx.x / 128);
    for (int i = 0; i < kTries; ++i) {
        const long long a = now();
        if (threadIdx.x == 0) {
            barrierArrive(other);
            if (!barrierWait(mine, i & 1))
                break;
            out[i] = (now() - a) / 2;
        } else {
            if (!barrierWait(mine, i & 1))
                break;
            barrierArrive(other);
        }
    }
}

enum Step
{
    TryComplete,
    Arrive,
    ExpectTx,
    NamedBarrier,
    SyncThreads,
    SyncWarp,
    FenceProxy,
    FenceProxyAll,
    FenceBlock,
    FenceDevice,
    WgmmaFence,
};

// Cycles of one of 16 equal steps in a row, by all threads of the block.
template<Step S>
__global__ void steps(long long* out)
{
    __shared__ uint64_t storage[2];
    const uint32_t bar = smemAddress(storage);
    if (threadIdx.x == 0) {
        barrierInit(bar, 1);
        barrierInit(bar + 8, 1 << 18);
        fenceBarrierInit();
        barrierArrive(bar);
    }
    __syncthreads();
    for (int i = 0; i < kTries; ++i) {
        __syncthreads();
        const long long a = now();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            if (S == TryComplete) {
                if (!barrierTry(bar, 0))
                    g_stuck = 1;
            } else if (S == Arrive) {
                barrierArrive(bar + 8);
            } else if (S == ExpectTx) {
                asm volatile(
                    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 0;" ::"r"(bar + 8)
                    : "memory");
            } else if (S == NamedBarrier) {
                asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x) : "memory");
            } else if (S == SyncThreads) {
                __syncthreads();
            } else if (S == SyncWarp) {
                __syncwarp();
            } else if (S == FenceProxy) {
                fenceProxyAsync();
            } else if (S == FenceProxyAll) {
                asm volatile("fence.proxy.async;" ::: "memory");
            } else if (S == FenceBlock) {
                __threadfence_block();
            } else if (S == FenceDevice) {
                __threadfence();
            } else {
                wgmmaFence();
            }
        }
        const long long b = now();
        if (threadIdx.x == 0)
            out[i] = (b - a) / 16;
    }
}

// Blocks of a cluster wait for each other; and one reads another's shared memory.
template<bool Relaxed>
__global__ void clusterSteps(long long* out, long long* loads)
{
    __shared__ uint32_t words[32];
    namespace cg = cooperative_groups;
    cg::cluster_group cluster = cg::this_cluster();
    words[threadIdx.x % 32] = 0;
    cluster.sync();
    for (int i = 0; i < kTries; ++i) {
        __syncwarp();
        const long long a = now();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (Relaxed) // without the order of memory, which takes a fence of the whole GPU
                asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
            else
                asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
            asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
        }
        const long long b = now();
        if (threadIdx.x == 0 && blockIdx.x == 0)
            out[i] = (b - a) / 4;
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        uint32_t at;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(at)
                     : "r"(smemAddress(words)), "r"(1));
        for (int i = 0; i < kTries; ++i) {
            const long long a = now();
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                uint32_t v;
                asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
                at += v;
            }
            asm volatile("" : "+r"(at)::"memory");
            const long long b = now();
            loads[i] = (b - a) / 4 + (at == 1 ? 1 : 0);
        }
    }
    cluster.sync();
}

// The registers' hand-over at the start of a block whose producer gives and consumers take.
__global__ void __launch_bounds__(384, 1) registers(long long* out)
{
    __syncthreads();
    const long long a = now();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory");
        out[0] = now() - a;
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;" ::: "memory");
        out[threadIdx.x / 128] = now() - a;
    }
}

class Steps : public Probe
{
public:
    void run();

private:
    template<Step S>
    void row(const char* name)
    {
        for (int threads : {32, 128, 256, 384})
            one(name, text("threads=%d", threads),
                [&](long long* out) { steps<S><<<1, threads>>>(out); });
    }
};

void Steps::run()
{
    one("clock", "", [](long long* out) { clocks<<<1, 1>>>(out); });
    one(
        "globaltimer_step", "", [](long long* out) { timerSteps<<<1, 1>>>(out); }, kTries, 4, "ns");
    one("mbarrier_arrive_to_seen", "", [](long long* out) { pingPong<<<1, 256>>>(out); });
    row<TryComplete>("mbarrier_try_complete");
    row<Arrive>("mbarrier_arrive");
    row<ExpectTx>("mbarrier_expect_tx");
    row<NamedBarrier>("bar_sync");
    row<SyncThreads>("syncthreads");
    row<SyncWarp>("syncwarp");
    row<FenceProxy>("fence_proxy_async_shared");
    row<FenceProxyAll>("fence_proxy_async_all");
    row<FenceBlock>("threadfence_block");
    row<FenceDevice>("threadfence");
    for (int threads : {128, 256, 384})
        one("wgmma_fence", text("threads=%d", threads),
            [&](long long* out) { steps<WgmmaFence><<<1, threads>>>(out); });
    for (int size : {2, 4}) {
        auto launch = [size](void (*kernel)(long long*, long long*), long long* out) {
            cudaLaunchConfig_t c = {};
            c.gridDim = dim3(size);
            c.blockDim = dim3(128);
            cudaLaunchAttribute a = {};
            a.id = cudaLaunchAttributeClusterDimension;
            a.val.clusterDim.x = size;
            a.val.clusterDim.y = 1;
            a.val.clusterDim.z = 1;
            c.attrs = &a;
            c.numAttrs = 1;
            OK(cudaLaunchKernelEx(&c, kernel, out, out + 512));
        };
        const std::string parameters = text("cluster=%d", size);
        one("cluster_arrive_wait", parameters,
            [&](long long* out) { launch(clusterSteps<false>, out); });
        one("cluster_arrive_relaxed_wait", parameters,
            [&](long long* out) { launch(clusterSteps<true>, out); });
        one("dsmem_load", parameters, [&](long long* out) {
            launch(clusterSteps<true>, out);
            OK(cudaMemcpyAsync(out, out + 512, kTries * sizeof(long long),
                               cudaMemcpyDeviceToDevice));
        });
    }
}

} // namespace

void groupLatency()
{
    Steps s;
    s.run();
    groupMemoryLatency();
    groupWgmmaLatency();
}

// A group of its own, the last one: setmaxnreg waits in hardware, without a bound.
void groupRegisters()
{
    Probe p;
    p.one(
        "setmaxnreg", "dec_40_and_inc_232", [](long long* out) { registers<<<1, 384>>>(out); }, 3,
        0);
}
