// Part of the group latency: chains of a few wgmma from issue to the return of the wait, which is
// their work and what comes before and after it.
#include "host.h"
#include "wgmma.h"

namespace {

constexpr int kTries = 32;
constexpr int kSmem = 8 * 1024 + 32 * 1024 + 1024;

template<int N, int Chain, bool FromRegisters>
__global__ void __launch_bounds__(128, 1) chain(long long* out, float* sink)
{
    extern __shared__ char raw[];
    char* base = alignedSmem(raw);
    for (int i = threadIdx.x; i < 10240; i += blockDim.x)
        reinterpret_cast<uint32_t*>(base)[i] = randomWord<Kind::Bf16>(i);
    fenceProxyAsync();
    __syncthreads();
    const uint64_t da = tileDescriptor(smemAddress(base));
    const uint64_t db = tileDescriptor(smemAddress(base) + 8192);
    uint32_t a[4];
    for (int i = 0; i < 4; ++i)
        a[i] = randomWord<Kind::Bf16>(threadIdx.x * 4 + i);
    float d[N / 2];
#pragma unroll
    for (int i = 0; i < N / 2; ++i)
        d[i] = 0;
#pragma unroll 1
    for (int t = 0; t < kTries; ++t) {
        __syncthreads();
        holdAccumulator(d);
        const long long c0 = now();
        wgmmaFence();
#pragma unroll
        for (int k = 0; k < Chain; ++k)
            Wgmma<Kind::Bf16, N, FromRegisters>::run(d, a, da + 2 * (k & 3), db + 2 * (k & 3));
        wgmmaCommit();
        wgmmaWait<0>();
        holdAccumulator(d);
        const long long c1 = now();
        if (threadIdx.x == 0)
            out[t] = c1 - c0;
    }
    sink[threadIdx.x] = sumOf(d);
}

template<int N, int Chain, bool FromRegisters>
void one(Buffer<long long>& out, Buffer<float>& sink)
{
    const std::string parameters = text("N=%d chain=%d A=%s work=%d", N, Chain,
                                        FromRegisters ? "registers" : "smem", Chain * N / 2);
    guarded("wgmma latency " + parameters, [&] {
        auto* kernel = chain<N, Chain, FromRegisters>;
        allowSmem(kernel, kSmem);
        kernel<<<1, 128, kSmem>>>(out.get(), sink.get());
        finish();
        const std::vector<long long> all = out.read(kTries);
        emit("latency", "wgmma_issue_to_wait", parameters, Values(all.begin() + 4, all.end()),
             "cycles");
    });
}

template<int N, bool FromRegisters>
void chains(Buffer<long long>& out, Buffer<float>& sink)
{
    one<N, 1, FromRegisters>(out, sink);
    one<N, 2, FromRegisters>(out, sink);
    one<N, 4, FromRegisters>(out, sink);
    one<N, 8, FromRegisters>(out, sink);
}

} // namespace

void groupWgmmaLatency()
{
    Buffer<long long> out(kTries);
    Buffer<float> sink(128);
    chains<16, false>(out, sink);
    chains<64, false>(out, sink);
    chains<128, false>(out, sink);
    chains<256, false>(out, sink);
    chains<64, true>(out, sink);
    chains<128, true>(out, sink);
    chains<256, true>(out, sink);
}
