// Group ops: throughput and latency of arithmetic, conversions, special functions and shuffles.
#include "ops.h"

#include <cuda_bf16.h>

namespace {

// One PTX instruction x = op(x), op(x, second) or op(x, second, third). The operands are variables
// of the kernel; volatile keeps the compiler from merging a chain's steps.
#define UNARY(NAME, TEXT)                                                                          \
    struct NAME : FromNumber                                                                       \
    {                                                                                              \
        STEP { asm volatile(TEXT " %0, %0;" : "+r"(x)); }                                          \
    };
#define BINARY(NAME, TEXT, SECOND)                                                                 \
    struct NAME : FromNumber                                                                       \
    {                                                                                              \
        STEP { asm volatile(TEXT " %0, %0, %1;" : "+r"(x) : "r"(SECOND)); }                        \
    };
#define TERNARY(NAME, TEXT, SECOND, THIRD)                                                         \
    struct NAME : FromNumber                                                                       \
    {                                                                                              \
        STEP { asm volatile(TEXT " %0, %0, %1, %2;" : "+r"(x) : "r"(SECOND), "r"(THIRD)); }        \
    };

BINARY(Fadd, "add.rn.f32", bits(k.h))
BINARY(Fmul, "mul.rn.f32", bits(k.f))
TERNARY(Ffma, "fma.rn.f32", bits(k.f), bits(k.h))

BINARY(AddHalf2, "add.rn.f16x2", k.v)
BINARY(MulHalf2, "mul.rn.f16x2", k.v)
TERNARY(FmaHalf2, "fma.rn.f16x2", k.v, k.w)
BINARY(AddBf162, "add.rn.bf16x2", k.v)
BINARY(MulBf162, "mul.rn.bf16x2", k.v)
TERNARY(FmaBf162, "fma.rn.bf16x2", k.v, k.w)

TERNARY(Imad, "mad.lo.s32", k.v, k.w)
BINARY(Shift, "shl.b32", k.u)
TERNARY(Prmt, "prmt.b32", k.v, k.u)

// Two results a step, lest max(max(x, a), a) be seen to be one: max with one, min with another.
#define CLAMP(NAME, TYPE, LOW, HIGH)                                                               \
    struct NAME : FromNumber                                                                       \
    {                                                                                              \
        static constexpr int kUnroll = 2;                                                          \
        STEP                                                                                       \
        {                                                                                          \
            asm volatile("max." TYPE " %0, %0, %1;" : "+r"(x) : "r"(LOW));                         \
            asm volatile("min." TYPE " %0, %0, %1;" : "+r"(x) : "r"(HIGH));                        \
        }                                                                                          \
    };
CLAMP(Fmnmx, "f32", bits(k.f), k.v)
CLAMP(MnmxHalf2, "f16x2", k.v, k.w)
CLAMP(MnmxBf162, "bf16x2", k.v, k.w)
CLAMP(Imnmx, "s32", k.u, k.v)

struct Iadd3 : FromNumber
{
    STEP
    {
        x = x + k.v + k.w;
        asm volatile("" : "+r"(x));
    }
};

struct Lop3 : FromNumber
{
    STEP { asm volatile("lop3.b32 %0, %0, %1, %2, 0xd6;" : "+r"(x) : "r"(k.v), "r"(k.w)); }
};

// A comparison and a selection: two instructions, one result.
struct SetpSelp : FromNumber
{
    STEP
    {
        asm volatile("{\n.reg .pred p;\nsetp.lt.f32 p, %0, %1;\nselp.b32 %0, %2, %3, p;\n}\n"
                     : "+r"(x)
                     : "r"(bits(k.f)), "r"(k.v), "r"(bits(k.h)));
    }
};

BINARY(ToBf162, "cvt.rn.bf16x2.f32", bits(k.h))
BINARY(ToHalf2, "cvt.rn.f16x2.f32", bits(k.h))
UNARY(S32ToF32, "cvt.rn.f32.s32")
UNARY(F32ToS32, "cvt.rni.s32.f32")

struct HalfToF32 : FromNumber
{
    STEP
    {
        asm volatile("{\n.reg .b16 l, h;\nmov.b32 {l, h}, %0;\ncvt.f32.f16 %0, h;\n}\n" : "+r"(x));
    }
};

struct S8ToF32 : FromNumber
{
    STEP
    {
        x = bits(static_cast<float>(static_cast<signed char>(x)));
        asm volatile("" : "+r"(x));
    }
};

// As the compiler does it.
struct S8ToBf16 : FromNumber
{
    STEP
    {
        const __nv_bfloat16 b =
            __float2bfloat16_rn(static_cast<float>(static_cast<signed char>(x)));
        x = __bfloat16_as_ushort(b);
        asm volatile("" : "+r"(x));
    }
};

struct Fp8ToHalf2 : FromNumber
{
    STEP
    {
        asm volatile("{\n.reg .b16 l, h;\nmov.b32 {l, h}, %0;\ncvt.rn.f16x2.e4m3x2 "
                     "%0, l;\n}\n"
                     : "+r"(x));
    }
};

struct Half2ToFp8 : FromNumber
{
    STEP
    {
        asm volatile("{\n.reg .b16 l;\ncvt.rn.satfinite.e4m3x2.f16x2 l, "
                     "%0;\nmov.b32 %0, {l, l};\n}\n"
                     : "+r"(x));
    }
};

struct F32ToFp8 : FromNumber
{
    STEP
    {
        asm volatile("{\n.reg .b16 l;\ncvt.rn.satfinite.e4m3x2.f32 l, %0, "
                     "%1;\nmov.b32 %0, {l, l};\n}\n"
                     : "+r"(x)
                     : "r"(bits(k.h)));
    }
};

UNARY(Ex2Ftz, "ex2.approx.ftz.f32")

// With an ffma: a result of ex2 alone is known to need no scaling as the next one's argument.
struct Ex2 : FromNumber
{
    STEP
    {
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+r"(x) : "r"(bits(k.f)), "r"(bits(-k.h)));
        asm volatile("ex2.approx.f32 %0, %0;" : "+r"(x));
    }
};

UNARY(Ex2Half2, "ex2.approx.f16x2")
UNARY(Lg2Ftz, "lg2.approx.ftz.f32")
UNARY(Lg2, "lg2.approx.f32")
UNARY(RcpFtz, "rcp.approx.ftz.f32")
UNARY(Rcp, "rcp.approx.f32")
UNARY(RsqrtFtz, "rsqrt.approx.ftz.f32")
UNARY(Rsqrt, "rsqrt.approx.f32")
UNARY(SqrtFtz, "sqrt.approx.ftz.f32")
UNARY(Sin, "sin.approx.ftz.f32")
UNARY(Cos, "cos.approx.ftz.f32")
UNARY(Tanh, "tanh.approx.f32")
UNARY(TanhHalf2, "tanh.approx.f16x2")

// Library functions; in most, one ffma more keeps the argument near a number of the usual path.
#define FUNCTION(NAME, EXPRESSION)                                                                 \
    struct NAME : FromNumberLong                                                                   \
    {                                                                                              \
        STEP                                                                                       \
        {                                                                                          \
            const float y = number(x);                                                             \
            x = bits(EXPRESSION);                                                                  \
            asm volatile("" : "+r"(x));                                                            \
        }                                                                                          \
    };
FUNCTION(Reciprocal, 1.0f / y)
FUNCTION(Quotient, k.h / y)
FUNCTION(Expf, expf(fmaf(y, 1e-3f, -k.h)))
FUNCTION(Exp2f, exp2f(fmaf(y, 1e-3f, -k.h)))
FUNCTION(Logf, logf(fmaf(y, 1e-3f, k.h + 2.0f)))
FUNCTION(TanhfSmall, tanhf(fmaf(y, 1e-3f, k.h - 0.5f)))
FUNCTION(TanhfLarge, tanhf(fmaf(y, 1e-3f, k.h + 0.5f)))
FUNCTION(ErffSmall, erff(fmaf(y, 1e-3f, k.h - 0.5f)))
FUNCTION(ErffLarge, erff(fmaf(y, 1e-3f, k.h + 0.5f)))
FUNCTION(SinfLibrary, sinf(fmaf(y, 1e-3f, k.h)))
FUNCTION(Sqrtf, sqrtf(fmaf(y, 1e-3f, k.h)))
FUNCTION(Rsqrtf, rsqrtf(y))
FUNCTION(Sigmoid, 1.0f / (1.0f + expf(-y)))
FUNCTION(FastSigmoid, __fdividef(1.0f, 1.0f + __expf(-y)))
FUNCTION(FastExp, __expf(y - 1.0f))

struct Shuffle : FromNumber
{
    STEP { x = __shfl_xor_sync(0xffffffffu, x, 1); }
};

// A sum over the warp, as reductions over rows do its steps: shuffle and add.
struct ShuffleAdd : FromNumber
{
    STEP { x = bits(number(x) + number(__shfl_xor_sync(0xffffffffu, x, 2))); }
};

} // namespace

void groupOps()
{
    OpsMemory m;
#define RUN(NAME) measureOp<NAME>(m, "ops", #NAME);
    // The formatter takes the macros for the start of a statement.
    // clang-format off
    RUN(Ffma) RUN(Fadd) RUN(Fmul) RUN(Fmnmx) RUN(Ex2Ftz) RUN(ToBf162) RUN(Shuffle) RUN(Imad)
    RUN(AddHalf2) RUN(MulHalf2) RUN(FmaHalf2) RUN(MnmxHalf2) RUN(AddBf162) RUN(MulBf162)
    RUN(FmaBf162) RUN(MnmxBf162) RUN(Iadd3) RUN(Lop3) RUN(Shift) RUN(Prmt) RUN(SetpSelp) RUN(Imnmx)
    RUN(ToHalf2) RUN(HalfToF32) RUN(S32ToF32) RUN(F32ToS32) RUN(S8ToF32) RUN(S8ToBf16)
    RUN(Fp8ToHalf2) RUN(Half2ToFp8) RUN(F32ToFp8) RUN(Ex2) RUN(Ex2Half2) RUN(Lg2Ftz) RUN(Lg2)
    RUN(RcpFtz) RUN(Rcp) RUN(RsqrtFtz) RUN(Rsqrt) RUN(SqrtFtz) RUN(Sin) RUN(Cos) RUN(Tanh)
    RUN(TanhHalf2) RUN(Reciprocal) RUN(Quotient) RUN(Expf) RUN(Exp2f) RUN(Logf) RUN(TanhfSmall)
    RUN(TanhfLarge) RUN(ErffSmall) RUN(ErffLarge) RUN(SinfLibrary) RUN(Sqrtf) RUN(Rsqrtf)
    RUN(Sigmoid) RUN(FastSigmoid) RUN(FastExp) RUN(ShuffleAdd)
    // clang-format on
#undef RUN
}
