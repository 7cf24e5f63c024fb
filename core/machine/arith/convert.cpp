// Conversions between dtypes: each dtype has loops to and from f32 or 32-bit integers, and a
// conversion joins two of them chunk by chunk.
#include "core/machine/arith/convert.h"

#include "core/base/element.h"
#include "core/machine/arith/elementwise.h"
#include "core/machine/arith/subnormals.h"
#include "core/machine/arith/threads.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

namespace pallascope::arith {

namespace {

constexpr std::int64_t kChunk = 1024; // fits in the first-level cache

// The integer type in which an array stores one element of the dtype.
template<DType kType>
using Code =
    std::conditional_t<dtypeBytes(kType) == 4, std::uint32_t,
                       std::conditional_t<dtypeBytes(kType) == 2, std::uint16_t, std::uint8_t>>;

template<DType kType>
Code<kType> code(const std::byte* in, std::int64_t i)
{
    Code<kType> value;
    std::memcpy(&value, in + i * dtypeBytes(kType), sizeof(value));
    return value;
}

template<DType kType>
void put(std::byte* out, std::int64_t i, std::uint32_t bits)
{
    const auto value = static_cast<Code<kType>>(bits);
    std::memcpy(out + i * dtypeBytes(kType), &value, sizeof(value));
}

// A whole number in 32 bits, in two's complement if the dtype is signed.
template<DType kType>
std::uint32_t wholeBits(const std::byte* in, std::int64_t i)
{
    if constexpr (kType == DType::Bool) {
        return code<kType>(in, i) != 0 ? 1 : 0;
    } else {
        constexpr std::uint32_t kCodes = 0xffff'ffffU >> (32U - unsigned{dtypeBits(kType)});
        constexpr std::uint32_t kSign =
            dtypeEntry(kType).kind == DTypeKind::Signed ? kCodes / 2 + 1 : 0;
        return ((code<kType>(in, i) & kCodes) ^ kSign) - kSign;
    }
}

// Converts a float to a whole number: rounds towards zero, saturates, and turns NaN into 0. As a
// bool, everything except 0 and subnormals is true.
template<DType kType>
std::uint32_t wholeBitsOf(float value)
{
    if constexpr (kType == DType::Bool) {
        return flushed(value) != 0 ? 1 : 0;
    } else {
        constexpr std::int64_t kLow = lowestInteger(kType), kHigh = highestInteger(kType);
        if constexpr (dtypeBits(kType) <= 16) { // f32 represents the bounds exactly
            const float number = std::isnan(value) ? 0.0F : value;
            const float atLeast = std::max(number, static_cast<float>(kLow));
            return static_cast<std::uint32_t>(
                static_cast<std::int32_t>(std::min(atLeast, static_cast<float>(kHigh))));
        }
        const std::int64_t whole = value >= static_cast<float>(kHigh + 1) ? kHigh
                                   : value > static_cast<float>(kLow)
                                       ? static_cast<std::int64_t>(value)
                                       : (std::isnan(value) ? 0 : kLow);
        return static_cast<std::uint32_t>(whole);
    }
}

template<DType kType>
void toFloats(const std::byte* in, float* out, std::int64_t count)
{
    constexpr DTypeEntry kEntry = dtypeEntry(kType);
    if constexpr (kType == DType::F32) {
        std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(float));
    } else if constexpr (isFloat(kType) && kEntry.bits <= 8) {
        const std::array<float, 256>& values = narrowFloatValues(kType);
        for (std::int64_t i = 0; i < count; ++i) {
            out[i] = values[code<kType>(in, i)];
        }
    } else {
        for (std::int64_t i = 0; i < count; ++i) {
            if constexpr (isFloat(kType)) {
                out[i] = widen(kEntry.format, code<kType>(in, i));
            } else if constexpr (kEntry.kind == DTypeKind::Signed) {
                out[i] = static_cast<float>(static_cast<std::int32_t>(wholeBits<kType>(in, i)));
            } else {
                out[i] = static_cast<float>(wholeBits<kType>(in, i));
            }
        }
    }
}

template<DType kType>
void fromFloats(const float* in, std::byte* out, std::int64_t count)
{
    if constexpr (kType == DType::F32) {
        std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(float));
    } else {
        constexpr std::uint32_t kLowBits = 0xffff'ffffU >> (32U - unsigned{dtypeBits(kType)});
        for (std::int64_t i = 0; i < count; ++i) {
            if constexpr (kType == DType::BF16) {
                put<kType>(out, i, floatToBf16(in[i]));
            } else if constexpr (isFloat(kType)) {
                put<kType>(out, i, narrow(dtypeEntry(kType).format, in[i]));
            } else {
                put<kType>(out, i, wholeBitsOf<kType>(in[i]) & kLowBits);
            }
        }
    }
}

template<DType kType>
void toWhole(const std::byte* in, std::uint32_t* out, std::int64_t count)
{
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = wholeBits<kType>(in, i);
    }
}

template<DType kType>
void fromWhole(const std::uint32_t* in, std::byte* out, std::int64_t count)
{
    constexpr std::uint32_t kLowBits = 0xffff'ffffU >> (32U - unsigned{dtypeBits(kType)});
    for (std::int64_t i = 0; i < count; ++i) {
        put<kType>(out, i, kType == DType::Bool ? (in[i] != 0 ? 1 : 0) : in[i] & kLowBits);
    }
}

struct Loops
{
    void (*toFloats)(const std::byte* in, float* out, std::int64_t count);
    void (*fromFloats)(const float* in, std::byte* out, std::int64_t count);
    void (*toWhole)(const std::byte* in, std::uint32_t* out, std::int64_t count); // null for floats
    void (*fromWhole)(const std::uint32_t* in, std::byte* out, std::int64_t count);
};

template<DType kType>
constexpr Loops loopsOf()
{
    if constexpr (isFloat(kType)) {
        return {toFloats<kType>, fromFloats<kType>, nullptr, nullptr};
    } else {
        return {toFloats<kType>, fromFloats<kType>, toWhole<kType>, fromWhole<kType>};
    }
}

template<std::size_t... kIndex>
constexpr std::array<Loops, sizeof...(kIndex)> allLoops(std::index_sequence<kIndex...>)
{
    return {loopsOf<static_cast<DType>(kIndex)>()...};
}

constexpr auto kLoops = allLoops(std::make_index_sequence<kDTypes.size()>());

} // namespace

void convert(DType from, const std::byte* in, DType to, std::byte* out, std::int64_t count)
{
    if (from == DType::F32 && to == DType::BF16) {
        f32ToBf16(reinterpret_cast<const float*>(in), reinterpret_cast<std::uint16_t*>(out), count);
        return;
    }
    if (from == DType::BF16 && to == DType::F32) {
        bf16ToF32(reinterpret_cast<const std::uint16_t*>(in), reinterpret_cast<float*>(out), count);
        return;
    }
    const Loops& source = kLoops[static_cast<std::size_t>(from)];
    const Loops& target = kLoops[static_cast<std::size_t>(to)];
    const bool throughFloats = isFloat(from) || isFloat(to);
    parallelFor(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
        float floats[kChunk];
        std::uint32_t whole[kChunk];
        for (std::int64_t at = begin; at < end; at += kChunk) {
            const std::int64_t size = std::min(kChunk, end - at);
            const std::byte* chunk = in + at * dtypeBytes(from);
            std::byte* result = out + at * dtypeBytes(to);
            if (throughFloats) {
                source.toFloats(chunk, floats, size);
                target.fromFloats(floats, result, size);
            } else {
                source.toWhole(chunk, whole, size);
                target.fromWhole(whole, result, size);
            }
        }
    });
}

} // namespace pallascope::arith
