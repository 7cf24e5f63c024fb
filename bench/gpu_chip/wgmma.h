// The wgmma instructions that are measured: m64nN with K of 32 bytes, A from shared memory or from
// registers, B from shared memory, accumulating. The accumulator has N / 2 registers per thread.
#pragma once

#include <cstdint>

enum class Kind
{
    Bf16,
    Tf32,
    Fp8,
    Int8
};

// A K-major tile whose rows are 128 bytes, with the 128-byte swizzle: eight rows are 1024 bytes
// (the stride between groups of rows); the leading offset is not used. A step of K is 32 bytes,
// which is 2 in the address field.
__device__ __forceinline__ uint64_t tileDescriptor(uint32_t address)
{
    return (uint64_t(1) << 62) | (uint64_t(1024 >> 4) << 32) | (uint64_t(1) << 16)
           | ((address & 0x3ffffu) >> 4);
}

__device__ __forceinline__ void wgmmaFence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmmaCommit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template<int N>
__device__ __forceinline__ void wgmmaWait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// Between a wait and the first use of the accumulator: nothing else tells the compiler that its
// registers change until the wait, and it would read them earlier (and serialise the wgmma).
template<int R>
__device__ __forceinline__ void holdAccumulator(float (&d)[R])
{
#pragma unroll
    for (int i = 0; i < R; ++i)
        asm volatile("" : "+f"(d[i])::"memory");
}

template<int R>
__device__ __forceinline__ void holdAccumulator(int (&d)[R])
{
#pragma unroll
    for (int i = 0; i < R; ++i)
        asm volatile("" : "+r"(d[i])::"memory");
}

template<Kind K, int N, bool FromRegisters>
struct Wgmma;

// The text and the operands of eight accumulator registers, and of 8 times as many as N asks for.
#define S8(a, b, c, d, e, f, g, h) "%" #a ",%" #b ",%" #c ",%" #d ",%" #e ",%" #f ",%" #g ",%" #h
#define S16 S8(0, 1, 2, 3, 4, 5, 6, 7)
#define S32 S16 "," S8(8, 9, 10, 11, 12, 13, 14, 15)
#define S64 S32 "," S8(16, 17, 18, 19, 20, 21, 22, 23) "," S8(24, 25, 26, 27, 28, 29, 30, 31)
#define S96 S64 "," S8(32, 33, 34, 35, 36, 37, 38, 39) "," S8(40, 41, 42, 43, 44, 45, 46, 47)
#define S128 S96 "," S8(48, 49, 50, 51, 52, 53, 54, 55) "," S8(56, 57, 58, 59, 60, 61, 62, 63)
#define S160 S128 "," S8(64, 65, 66, 67, 68, 69, 70, 71) "," S8(72, 73, 74, 75, 76, 77, 78, 79)
#define S192 S160 "," S8(80, 81, 82, 83, 84, 85, 86, 87) "," S8(88, 89, 90, 91, 92, 93, 94, 95)
#define S208 S192 "," S8(96, 97, 98, 99, 100, 101, 102, 103)
#define S224 S208 "," S8(104, 105, 106, 107, 108, 109, 110, 111)
#define S240 S224 "," S8(112, 113, 114, 115, 116, 117, 118, 119)
#define S256 S240 "," S8(120, 121, 122, 123, 124, 125, 126, 127)

#define O8(c, i)                                                                                   \
    c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3]), c(d[i + 4]), c(d[i + 5]), c(d[i + 6]),         \
        c(d[i + 7])
#define O16(c) O8(c, 0)
#define O32(c) O16(c), O8(c, 8)
#define O64(c) O32(c), O8(c, 16), O8(c, 24)
#define O96(c) O64(c), O8(c, 32), O8(c, 40)
#define O128(c) O96(c), O8(c, 48), O8(c, 56)
#define O192(c) O128(c), O8(c, 64), O8(c, 72), O8(c, 80), O8(c, 88)
#define O256(c) O192(c), O8(c, 96), O8(c, 104), O8(c, 112), O8(c, 120)

#define WGMMA_HEAD "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\nwgmma.mma_async.sync.aligned."

// TAIL_S and TAIL_R are the immediates behind the predicate that says to accumulate.
#define WGMMA(KIND, N, T, C, SHAPE, A0, A1, A2, A3, A4, TAIL_S, TAIL_R)                            \
    template<>                                                                                     \
    struct Wgmma<KIND, N, false>                                                                   \
    {                                                                                              \
        using Acc = T;                                                                             \
        static __device__ __forceinline__ void run(T (&d)[N / 2], const uint32_t (&)[4],           \
                                                   uint64_t da, uint64_t db)                       \
        {                                                                                          \
            asm volatile(WGMMA_HEAD SHAPE " {" S##N "}, %" #A0 ", %" #A1 ", p" TAIL_S ";\n}\n"     \
                         : O##N(C)                                                                 \
                         : "l"(da), "l"(db));                                                      \
        }                                                                                          \
    };                                                                                             \
    template<>                                                                                     \
    struct Wgmma<KIND, N, true>                                                                    \
    {                                                                                              \
        using Acc = T;                                                                             \
        static __device__ __forceinline__ void run(T (&d)[N / 2], const uint32_t (&a)[4],          \
                                                   uint64_t, uint64_t db)                          \
        {                                                                                          \
            asm volatile(WGMMA_HEAD SHAPE " {" S##N "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3      \
                                                    "}, %" #A4 ", p" TAIL_R ";\n}\n"               \
                         : O##N(C)                                                                 \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db));                   \
        }                                                                                          \
    };

#define WGMMA_BF16(N, ...)                                                                         \
    WGMMA(Kind::Bf16, N, float, "+f", "m64n" #N "k16.f32.bf16.bf16", __VA_ARGS__, ", 1, 1, 0, 0",  \
          ", 1, 1, 0")

WGMMA_BF16(16, 8, 9, 10, 11, 12)
WGMMA_BF16(32, 16, 17, 18, 19, 20)
WGMMA_BF16(64, 32, 33, 34, 35, 36)
WGMMA_BF16(96, 48, 49, 50, 51, 52)
WGMMA_BF16(128, 64, 65, 66, 67, 68)
WGMMA_BF16(192, 96, 97, 98, 99, 100)
WGMMA_BF16(256, 128, 129, 130, 131, 132)

#define WGMMA_OTHERS(N, ...)                                                                       \
    WGMMA(Kind::Tf32, N, float, "+f", "m64n" #N "k8.f32.tf32.tf32", __VA_ARGS__, ", 1, 1",         \
          ", 1, 1")                                                                                \
    WGMMA(Kind::Fp8, N, float, "+f", "m64n" #N "k32.f32.e4m3.e4m3", __VA_ARGS__, ", 1, 1",         \
          ", 1, 1")                                                                                \
    WGMMA(Kind::Int8, N, int, "+r", "m64n" #N "k32.s32.s8.s8", __VA_ARGS__, "", "")

WGMMA_OTHERS(128, 64, 65, 66, 67, 68)
WGMMA_OTHERS(256, 128, 129, 130, 131, 132)

// One word of operand data: random numbers of ordinary size (below 2), never a NaN.
template<Kind K>
__device__ __forceinline__ uint32_t randomWord(uint32_t i)
{
    const uint32_t h = hash(i);
    switch (K) {
    case Kind::Bf16: // two of them, exponents 124 to 127
        return (h & 0x80ff80ffu) | 0x3e003e00u | ((h >> 3) & 0x01000100u);
    case Kind::Tf32:
        return (h & 0x80ffffffu) | 0x3e000000u;
    case Kind::Fp8: // four of them, exponent and mantissa without all ones
        return h & 0xb7b7b7b7u;
    default:
        return h;
    }
}
