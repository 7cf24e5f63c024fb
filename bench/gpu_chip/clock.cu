// Group clock: the SM clock that the card keeps under loads of several kinds and lengths, from the
// cycles and the time between a block's start and end. run.sh logs the power at the same time.
#include "host.h"
#include "wgmma.h"

namespace {

constexpr int kSmem = 8 * 1024 * 2 + 32 * 1024 + 1024;

// Works in parcels until the time is over. All warps of the block leave after the same parcel:
// those of a warpgroup have to issue the same wgmma.
__global__ void __launch_bounds__(256, 1)
    tensorLoad(unsigned long long ns, bool random, Record* records, float* sink)
{
    extern __shared__ char raw[];
    __shared__ volatile int over[2];
    char* base = alignedSmem(raw);
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
    for (int i = threadIdx.x; i < 12288; i += blockDim.x)
        reinterpret_cast<uint32_t*>(base)[i] =
            random ? randomWord<Kind::Bf16>(i + blockIdx.x * 7777u) : 0;
    fenceProxyAsync();
    __syncthreads();
    float d[128];
#pragma unroll
    for (int i = 0; i < 128; ++i)
        d[i] = 0;
    const uint64_t da = tileDescriptor(smemAddress(base) + group * 8192);
    const uint64_t db = tileDescriptor(smemAddress(base) + 16384);
    const uint32_t none[4] = {};
    Record r = {};
    r.t0 = nowNs();
    r.c0 = now();
    // 64 wgmma of two warpgroups take 16384 cycles or more, so this bounds it to ten times ns.
    const int most = static_cast<int>(ns / 800) + 10;
#pragma unroll 1
    for (int n = 0; n < most; ++n) {
#pragma unroll 1
        for (int i = 0; i < 8; ++i) {
            wgmmaFence();
#pragma unroll
            for (int k = 0; k < 8; ++k)
                Wgmma<Kind::Bf16, 256, false>::run(d, none, da + 2 * (k & 3), db + 2 * (k & 3));
            wgmmaCommit();
            wgmmaWait<1>();
        }
        r.bytes += 64;
        // Two flags by turns: the one read here is written again only after all have read it.
        if (threadIdx.x == 0)
            over[n & 1] = nowNs() - r.t0 > ns;
        asm volatile("bar.sync 1, 256;" ::: "memory");
        if (__shfl_sync(0xffffffffu, over[n & 1], 0) != 0)
            break;
    }
    wgmmaWait<0>();
    holdAccumulator(d);
    r.c1 = now();
    r.t1 = nowNs();
    sink[threadIdx.x] = sumOf(d);
    if (threadIdx.x == 0)
        records[blockIdx.x] = r;
}

enum Work
{
    Ex2,
    Ffma,
    Hbm
};

const char* const kWork[] = {"ex2", "ffma", "hbm_read"};

template<Work W>
__global__ void __launch_bounds__(512, 1) otherLoad(unsigned long long ns, const char* memory,
                                                    uint64_t bytes, Record* records, float* sink)
{
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
        x[i] = static_cast<float>(threadIdx.x * 8 + i) * 1e-4f;
    uint32_t sum = 0;
    uint64_t at = blockIdx.x * uint64_t(65536);
    Record r = {};
    r.t0 = nowNs();
    r.c0 = now();
    const int most = static_cast<int>(ns / 30) + 10;
    for (int n = 0; n < most && nowNs() - r.t0 < ns; ++n) {
        if (W == Hbm) {
            uint4 v[8];
#pragma unroll
            for (int k = 0; k < 8; ++k)
                v[k] =
                    loadNoL1(reinterpret_cast<const uint4*>(memory + at) + k * 512 + threadIdx.x);
#pragma unroll
            for (int k = 0; k < 8; ++k)
                sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
            at += gridDim.x * uint64_t(65536);
            if (at + 65536 > bytes)
                at = blockIdx.x * uint64_t(65536);
        } else {
#pragma unroll
            for (int k = 0; k < 16; ++k)
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    if (W == Ex2)
                        asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[i]));
                    else
                        asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                                     : "+f"(x[i])
                                     : "f"(x[(i + 1) % 8]), "f"(x[(i + 2) % 8]));
                }
        }
        r.bytes += 1;
    }
    r.c1 = now();
    r.t1 = nowNs();
    sink[threadIdx.x] = static_cast<float>(sum) + sumOf(x);
    if (threadIdx.x == 0)
        records[blockIdx.x] = r;
}

} // namespace

void groupClock()
{
    Buffer<Record> records(512);
    Buffer<float> sink(1024);
    const uint64_t bytes = uint64_t(2) << 30;
    Buffer<char> memory(bytes);
    const int blocks = multiprocessors();
    for (int ms : {5, 50, 300}) {
        const unsigned long long ns = 1'000'000ull * ms;
        for (bool random : {false, true})
            guarded(text("clock wgmma %d ms", ms), [&] {
                const std::string parameters =
                    text("ms=%d data=%s", ms, random ? "random" : "zeros");
                allowSmem(tensorLoad, kSmem);
                tensorLoad<<<blocks, 256, kSmem>>>(ns, random, records.get(), sink.get());
                finish();
                const std::vector<Record> r = records.read(blocks);
                emit("clock", "wgmma_m64n256k16", parameters, {clockOf(r)}, "MHz");
                emit("clock", "wgmma_cycles", parameters,
                     {medianOf(r,
                               [](const Record& x) { return cyclesOf(x) / double(2 * x.bytes); })},
                     "cycles/wgmma/SM");
            });
        auto other = [&](Work w) {
            guarded(text("clock %s %d ms", kWork[w], ms), [&] {
                auto* kernel = w == Ex2    ? otherLoad<Ex2>
                               : w == Ffma ? otherLoad<Ffma>
                                           : otherLoad<Hbm>;
                kernel<<<blocks*(w == Hbm ? 2 : 1), 512>>>(ns, memory.get(), bytes, records.get(),
                                                           sink.get());
                finish();
                const std::vector<Record> r = records.read(blocks);
                emit("clock", kWork[w], text("ms=%d", ms), {clockOf(r)}, "MHz");
            });
        };
        other(Ex2);
        other(Ffma);
        other(Hbm);
    }
}
