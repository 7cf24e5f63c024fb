// One operation at a time: a kernel whose threads each have Ilp independent chains of it, so that
// one chain of one warp shows its latency and many show its throughput.
#pragma once

#include "host.h"

// Operands that the compiler cannot know. f and h keep x = x * f + h in range.
struct Operands
{
    float f, h;
    uint32_t u, v, w;
};

template<class Op, int Ilp>
__global__ void __launch_bounds__(512, 1)
    opsKernel(Operands k, int iterations, Record* records, uint32_t* memory)
{
    __shared__ long long begin[16], end[16];
    extern __shared__ char raw[];
    const uint32_t smem = smemAddress(alignedSmem(raw));
    const int warp = threadIdx.x / 32;
    uint32_t x[Ilp];
#pragma unroll
    for (int i = 0; i < Ilp; ++i)
        x[i] = Op::start(k, smem, memory, i);
    __syncthreads();
    const long long c0 = now();
    for (int it = 0; it < iterations; ++it) {
#pragma unroll
        for (int r = 0; r < Op::kUnroll; ++r) {
#pragma unroll
            for (int i = 0; i < Ilp; ++i)
                Op::step(x[i], k, memory);
        }
    }
    const long long c1 = now();
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < Ilp; ++i)
        sum ^= x[i];
    if (threadIdx.x % 32 == 0) {
        begin[warp] = c0;
        end[warp] = c1;
    }
    __syncthreads();
    memory[(1 << 20) + blockIdx.x * 512 + threadIdx.x] = sum;
    recordBlock(begin, end, records);
}

struct OpsMemory
{
    OpsMemory()
        : records(256)
        , memory((1 << 20) + 256 * 512)
    {}

    Buffer<Record> records;
    Buffer<uint32_t> memory;
};

constexpr uint32_t kOpsSmem = 64 * 1024 + 1024;

template<class Op, int Ilp>
double cyclesPerRound(OpsMemory& m, int warps, int blocks, int iterations)
{
    auto* kernel = opsKernel<Op, Ilp>;
    allowSmem(kernel, kOpsSmem);
    const Operands k = {0.999f, 0.75f, 1, 0x40490fdbu, 0x3f800001u};
    OK(cudaMemset(m.memory.get(), 0, 4 << 20));
    kernel<<<blocks, 32 * warps, kOpsSmem>>>(k, iterations, m.records.get(), m.memory.get());
    finish();
    return medianOf(m.records.read(blocks), cyclesOf) / (double(iterations) * Op::kUnroll);
}

// Throughput in results of one thread per cycle and SM, and latency in cycles, of Op.
template<class Op>
void measureOp(OpsMemory& m, const char* group, const char* name, int blocks = 8,
               bool latency = true)
{
    guarded(std::string("op ") + name, [&] {
        constexpr int kIlp = Op::kUnroll > 1 ? 8 : 4;
        const int iterations = (Op::kUnroll > 1 ? 128 : 256) / (blocks > 8 ? 8 : 1);
        if (latency) {
            Values v;
            for (int repeat = 0; repeat < 4; ++repeat) {
                const double cycles = cyclesPerRound<Op, 1>(m, 1, blocks, iterations);
                if (repeat > 0)
                    v.push_back(cycles);
            }
            emit(group, std::string("latency_") + name, "warps=1", v, "cycles");
        }
        for (int warps : {1, 2, 4, 8, 16}) {
            Values v;
            for (int repeat = 0; repeat < 4; ++repeat) {
                const double cycles = cyclesPerRound<Op, kIlp>(m, warps, blocks, iterations);
                if (repeat > 0)
                    v.push_back(32.0 * warps * kIlp / cycles);
            }
            emit(group, std::string("rate_") + name, text("warps=%d SMs=%d", warps, blocks), v,
                 "results/cycle/SM");
        }
    });
}

__device__ __forceinline__ uint32_t bits(float f)
{
    return __float_as_uint(f);
}

__device__ __forceinline__ float number(uint32_t u)
{
    return __uint_as_float(u);
}

// An operation's chain starts from an ordinary number that differs between threads.
struct FromNumber
{
    static constexpr int kUnroll = 4;

    static __device__ __forceinline__ uint32_t start(const Operands& k, uint32_t, const uint32_t*,
                                                     int i)
    {
        return bits(k.h + static_cast<float>(threadIdx.x) * 1e-4f + static_cast<float>(i) * 1e-3f);
    }
};

// Functions of several instructions: fewer copies, so that the loop stays in the instruction cache.
struct FromNumberLong : FromNumber
{
    static constexpr int kUnroll = 1;
};

#define STEP                                                                                       \
    static __device__ __forceinline__ void step(uint32_t& x, const Operands& k, uint32_t* memory)
