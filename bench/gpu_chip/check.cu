// Group check: that wgmma reads the tiles as they are meant, which its time may depend on. A
// product of small whole numbers, written with the 128-byte swizzle, is compared with the host's.
#include "host.h"
#include "wgmma.h"

#include <cuda_bf16.h>

namespace {

constexpr int kN = 64, kK = 64;

__host__ __device__ inline int value(int matrix, int row, int k)
{
    return (row * 7 + k * 3 + row * k + matrix * 5) % 9 - 4;
}

__global__ void product(float* result)
{
    extern __shared__ char raw[];
    char* base = alignedSmem(raw);
    for (int matrix = 0; matrix < 2; ++matrix)
        for (int i = threadIdx.x; i < 64 * kK; i += blockDim.x) {
            const int at = i / kK * 128 + i % kK * 2;
            // The 16-byte pieces of a row of 128 bytes change places by the row's number.
            const int swizzled = at ^ (at >> 3 & 0x70);
            *reinterpret_cast<__nv_bfloat16*>(base + matrix * 8192 + swizzled) =
                __float2bfloat16(static_cast<float>(value(matrix, i / kK, i % kK)));
        }
    fenceProxyAsync();
    __syncthreads();
    const uint64_t da = tileDescriptor(smemAddress(base));
    const uint64_t db = tileDescriptor(smemAddress(base) + 8192);
    const uint32_t none[4] = {};
    float d[kN / 2];
#pragma unroll
    for (int i = 0; i < kN / 2; ++i)
        d[i] = 0;
    holdAccumulator(d);
    wgmmaFence();
#pragma unroll
    for (int k = 0; k < 4; ++k)
        Wgmma<Kind::Bf16, kN, false>::run(d, none, da + 2 * k, db + 2 * k);
    wgmmaCommit();
    wgmmaWait<0>();
    holdAccumulator(d);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kN / 2; ++i) {
        const int row = warp * 16 + lane / 4 + i / 2 % 2 * 8;
        const int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        result[row * kN + column] = d[i];
    }
}

} // namespace

void groupCheck()
{
    guarded("check wgmma", [] {
        constexpr int smem = 2 * 8192 + 1024;
        Buffer<float> result(64 * kN);
        product<<<1, 128, smem>>>(result.get());
        finish();
        const std::vector<float> all = result.read(64 * kN);
        int wrong = 0;
        for (int row = 0; row < 64; ++row)
            for (int column = 0; column < kN; ++column) {
                int sum = 0;
                for (int k = 0; k < kK; ++k)
                    sum += value(0, row, k) * value(1, column, k);
                wrong += all[size_t(row * kN + column)] != static_cast<float>(sum);
            }
        emit("check", "wgmma_wrong_elements", "m64n64k64", {double(wrong)}, "elements");
    });
}
