// Group spill: what accesses to local memory cost whose lines are in L1, as register spills have
// them: each thread stores and loads 16 bytes at a time of an array of its own.
#include "host.h"

namespace {

enum What
{
    Loads,
    Stores,
    Both
};

const char* const kWhat[] = {"ld.local", "st.local", "st+ld.local"};

template<int Bytes, What W>
__global__ void __launch_bounds__(384, 1)
    spillKernel(int iterations, int step, uint32_t zero, Record* records, uint32_t* sink)
{
    __shared__ long long begin[12], end[12];
    // The index depends on a parameter, so the array cannot live in registers.
    uint4 mine[Bytes / 16];
    for (int i = 0; i < Bytes / 16; ++i)
        mine[(i * step) % (Bytes / 16)] = make_uint4(threadIdx.x, i, 0, 0);
    uint32_t at;
    asm volatile("{\n.reg .u64 l;\ncvta.to.local.u64 l, %1;\ncvt.u32.u64 %0, l;\n}\n"
                 : "=r"(at)
                 : "l"(&mine[0])
                 : "memory");
    uint32_t sum = 0;
    __syncthreads();
    const long long c0 = now();
    for (int it = 0; it < iterations; ++it) {
        // Always the same two places, but the compiler does not know it.
        const uint32_t from = at + it * zero, to = at - it * zero;
#pragma unroll
        for (int i = 0; i < Bytes / 16; ++i) {
            uint32_t x = sum, y = it, z = 0, w = 0;
            if (W != Loads)
                asm volatile("st.local.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to + i * 16), "r"(x),
                             "r"(y), "r"(z), "r"(w)
                             : "memory");
            if (W != Stores) {
                asm volatile("ld.local.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                             : "r"(from + i * 16)
                             : "memory");
                sum += x ^ y ^ z ^ w;
            }
        }
    }
    const long long c1 = now();
    if (threadIdx.x % 32 == 0) {
        begin[threadIdx.x / 32] = c0;
        end[threadIdx.x / 32] = c1;
    }
    __syncthreads();
    sink[blockIdx.x * 384 + threadIdx.x] = sum + mine[sum % (Bytes / 16)].x;
    recordBlock(begin, end, records);
}

template<int Bytes, What W>
void run(Buffer<Record>& records, Buffer<uint32_t>& sink)
{
    for (int groups = 1; groups <= 3; ++groups)
        for (int smem : {0, 160 * 1024}) { // shared memory takes its part from L1
            const std::string parameters = text("what=%s bytes_per_thread=%d warpgroups=%d smem=%d",
                                                kWhat[W], Bytes, groups, smem);
            guarded("spill " + parameters, [&] {
                auto* kernel = spillKernel<Bytes, W>;
                allowSmem(kernel, 160 * 1024);
                constexpr int kIterations = 64;
                const int blocks = multiprocessors();
                Values v;
                for (int repeat = 0; repeat < 5; ++repeat) {
                    kernel<<<blocks, 128 * groups, smem>>>(kIterations, 1, 0, records.get(),
                                                           sink.get());
                    finish();
                    if (repeat > 0)
                        v.push_back(medianOf(records.read(blocks), cyclesOf)
                                    / (double(kIterations) * (Bytes / 16) * 4 * groups));
                }
                emit("spill", "local", parameters, v, "cycles/warp_instruction/SM");
            });
        }
}

} // namespace

void groupSpill()
{
    Buffer<Record> records(256);
    Buffer<uint32_t> sink(256 * 384);
    run<64, Loads>(records, sink);
    run<64, Stores>(records, sink);
    run<64, Both>(records, sink);
    run<256, Loads>(records, sink);
    run<256, Stores>(records, sink);
    run<256, Both>(records, sink);
    run<512, Loads>(records, sink);
    run<512, Stores>(records, sink);
    run<512, Both>(records, sink);
}
