// Group mix: how the units of an SM overlap. Warpgroups run a loop of two kinds of instructions in
// a given proportion, alone and beside a warpgroup that issues wgmma without a pause.
#include "host.h"
#include "wgmma.h"

namespace {

constexpr int kTileA = 8 * 1024;
constexpr int kTileB = 16 * 1024;
constexpr int kSmem = kTileA + kTileB + 16 * 1024 + 1024;

struct Numbers
{
    float f, h;
};

struct Ffma
{
    static __device__ __forceinline__ void step(float& x, const Numbers& k)
    {
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(k.f), "f"(k.h));
    }
};

struct Fadd
{
    static __device__ __forceinline__ void step(float& x, const Numbers& k)
    {
        asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(k.h));
    }
};

struct Fmax
{
    static __device__ __forceinline__ void step(float& x, const Numbers& k)
    {
        asm volatile("max.f32 %0, %0, %1;" : "+f"(x) : "f"(k.h));
        asm volatile("min.f32 %0, %0, %1;" : "+f"(x) : "f"(k.f));
    }
};

struct Ex2
{
    static __device__ __forceinline__ void step(float& x, const Numbers&)
    {
        asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
    }
};

struct Cvt
{
    static __device__ __forceinline__ void step(float& x, const Numbers& k)
    {
        uint32_t packed;
        asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(x), "f"(k.h));
        x = __uint_as_float(packed);
    }
};

struct Shuffle
{
    static __device__ __forceinline__ void step(float& x, const Numbers&)
    {
        x = __shfl_xor_sync(0xffffffffu, x, 1);
    }
};

// A 16-byte access of shared memory per thread, without conflicts of banks.
struct Load
{
    static __device__ __forceinline__ void step(float& x, const Numbers&)
    {
        extern __shared__ char raw[];
        float y, z, w;
        asm volatile(
            "ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
            : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
            : "r"(smemAddress(alignedSmem(raw)) + kTileA + kTileB + threadIdx.x % 128 * 16));
        x += y + z + w;
    }
};

// NA steps of A and NB of B, B's spread evenly among A's, each on chains of their own.
template<class A, int NA, class B, int NB>
__device__ __forceinline__ void round(float (&a)[8], float (&b)[8], const Numbers& k)
{
    constexpr int kLong = NA > NB ? NA : NB;
#pragma unroll
    for (int i = 0; i < kLong; ++i) {
        if (i * NA / kLong != (i + 1) * NA / kLong)
            A::step(a[i * NA / kLong % 8], k);
        if (i * NB / kLong != (i + 1) * NB / kLong)
            B::step(b[i * NB / kLong % 8], k);
    }
}

// The loop of a warp of a working warpgroup.
template<class A, int NA, class B, int NB>
__device__ __forceinline__ void work(const Numbers& k, int iterations, int* finished, Record& r,
                                     float* sink)
{
    float a[8], b[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        a[i] = static_cast<float>(threadIdx.x + i) * 1e-3f;
        b[i] = a[i] + 0.5f;
    }
    round<A, NA, B, NB>(a, b, k); // fetches the instructions
    r.t0 = nowNs();
    r.c0 = now();
    for (int it = 0; it < iterations; ++it)
        round<A, NA, B, NB>(a, b, k);
    r.c1 = now();
    r.t1 = nowNs();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        sum += a[i] + b[i];
    sink[threadIdx.x] = sum;
    if (threadIdx.x % 32 == 0)
        atomicAdd(finished, 1);
}

// The warps of a warpgroup have to issue the same wgmma, so one of them decides for all whether to
// go on: with two flags by turns, the one read is written again only after all have read it. With
// no workers it makes 100 rounds.
__device__ __forceinline__ void multiply(char* base, int workers, volatile int* done,
                                         volatile int* going, Record& r, float* sink)
{
    using W = Wgmma<Kind::Bf16, 128, false>;
    float d[64];
#pragma unroll
    for (int i = 0; i < 64; ++i)
        d[i] = 0;
    const uint64_t da = tileDescriptor(smemAddress(base));
    const uint64_t db = tileDescriptor(smemAddress(base) + kTileA);
    const uint32_t none[4] = {};
    r.c0 = now();
#pragma unroll 1
    for (int n = 0; n < 1'000'000; ++n) {
        if (threadIdx.x % 128 == 0)
            going[n & 1] = workers > 0 ? *done < workers * 4 : n < 100;
        asm volatile("bar.sync 1, 128;" ::: "memory");
        if (__shfl_sync(0xffffffffu, going[n & 1], 0) == 0)
            break;
        wgmmaFence();
#pragma unroll
        for (int i = 0; i < 8; ++i)
            W::run(d, none, da + 2 * (i & 3), db + 2 * (i & 3));
        wgmmaCommit();
        wgmmaWait<1>();
        r.bytes += 8;
    }
    wgmmaWait<0>();
    holdAccumulator(d);
    r.c1 = now();
    sink[threadIdx.x] = sumOf(d);
}

template<class A, int NA, class B, int NB>
__global__ void __launch_bounds__(512, 1)
    mixKernel(Numbers k, int workers, int iterations, Record* records, float* sink)
{
    extern __shared__ char raw[];
    __shared__ int finished;
    __shared__ volatile int going[2];
    char* base = alignedSmem(raw);
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
    if (threadIdx.x == 0)
        finished = 0;
    for (int i = threadIdx.x; i < (kTileA + kTileB) / 4; i += blockDim.x)
        reinterpret_cast<uint32_t*>(base)[i] = randomWord<Kind::Bf16>(i + blockIdx.x * 7777u);
    fenceProxyAsync();
    __syncthreads();
    Record r = {};
    if (group < workers)
        work<A, NA, B, NB>(k, iterations, &finished, r, sink);
    else
        multiply(base, workers, &finished, going, r, sink);
    if (threadIdx.x % 128 == 0)
        records[blockIdx.x * 4 + group] = r;
}

class Mix
{
public:
    Mix()
        : m_records(132 * 4 + 64)
        , m_sink(1024)
    {}

    template<class A, int NA, class B, int NB>
    void run(const char* name)
    {
        for (int workers = 1; workers <= 3; ++workers)
            for (bool beside : {false, true})
                one<A, NA, B, NB>(name, workers, beside);
    }

    template<class A, int NA, class B, int NB>
    void one(const char* name, int workers, bool beside)
    {
        const std::string parameters =
            text("loop=%s n=%d m=%d warpgroups=%d wgmma=%d", name, NA, NB, workers, int(beside));
        guarded("mix " + parameters, [&] {
            auto* kernel = mixKernel<A, NA, B, NB>;
            allowSmem(kernel, kSmem);
            const int blocks = multiprocessors(), iterations = 400;
            Values cycles, tensor, mhz;
            for (int repeat = 0; repeat < 5; ++repeat) {
                kernel<<<blocks, 128 * (workers + beside), kSmem>>>(
                    Numbers{0.99f, 0.01f}, workers, iterations, m_records.get(), m_sink.get());
                finish();
                if (repeat == 0)
                    continue;
                const std::vector<Record> all = m_records.read(blocks * 4);
                Values here, there;
                std::vector<Record> clocks;
                for (int i = 0; i < blocks; ++i) {
                    long long first = all[i * 4].c0, last = all[i * 4].c1;
                    for (int w = 1; w < workers; ++w) {
                        first = std::min(first, all[i * 4 + w].c0);
                        last = std::max(last, all[i * 4 + w].c1);
                    }
                    here.push_back(double(last - first) / iterations);
                    const Record& t = all[i * 4 + workers];
                    if (beside)
                        there.push_back(cyclesOf(t) / double(std::max(1ll, t.bytes)));
                    clocks.push_back(all[i * 4]);
                }
                if (workers > 0) {
                    cycles.push_back(median(here));
                    mhz.push_back(clockOf(clocks));
                }
                if (beside)
                    tensor.push_back(median(there));
            }
            if (workers > 0) {
                emit("mix", "loop", parameters, cycles, "cycles/iteration");
                emit("mix", "clock", parameters, mhz, "MHz");
            }
            if (beside)
                emit("mix", "wgmma_m64n128k16", parameters, tensor, "cycles/wgmma");
        });
    }

private:
    Buffer<Record> m_records;
    Buffer<float> m_sink;
};

} // namespace

void groupMix()
{
    Mix m;
    m.one<Ffma, 32, Ex2, 0>("ffma+ex2", 0, true);
    m.run<Ffma, 32, Ex2, 0>("ffma+ex2");
    m.run<Ffma, 0, Ex2, 8>("ffma+ex2");
    m.run<Ffma, 16, Ex2, 8>("ffma+ex2");
    m.run<Ffma, 32, Ex2, 8>("ffma+ex2");
    m.run<Ffma, 64, Ex2, 8>("ffma+ex2");
    m.run<Ffma, 128, Ex2, 8>("ffma+ex2");
    m.run<Ffma, 0, Shuffle, 8>("ffma+shfl");
    m.run<Ffma, 32, Shuffle, 8>("ffma+shfl");
    m.run<Ffma, 16, Shuffle, 8>("ffma+shfl");
    m.run<Ffma, 0, Cvt, 8>("ffma+cvt");
    m.run<Ffma, 16, Cvt, 8>("ffma+cvt");
    m.run<Ffma, 32, Cvt, 8>("ffma+cvt");
    m.run<Ex2, 8, Cvt, 4>("ex2+cvt");
    m.run<Ex2, 8, Cvt, 8>("ex2+cvt");
    m.run<Ex2, 8, Shuffle, 8>("ex2+shfl");
    m.run<Ffma, 16, Fmax, 16>("ffma+maxmin");
    m.run<Ffma, 16, Fadd, 16>("ffma+fadd");
    m.run<Ffma, 0, Fmax, 16>("ffma+maxmin");
    m.run<Ffma, 0, Load, 8>("ffma+ld.shared16");
    m.run<Ffma, 32, Load, 8>("ffma+ld.shared16");
    m.run<Ex2, 8, Load, 8>("ex2+ld.shared16");
}
