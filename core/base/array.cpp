#include "core/base/array.h"

#include "core/base/check.h"

#include <cmath>

namespace pallascope {

SharedBytes allocateBytes(std::int64_t count)
{
    PALLASCOPE_CHECK(count >= 0);
    return std::make_shared_for_overwrite<std::byte[]>(static_cast<std::size_t>(count));
}

Array makeArray(DType dtype, Shape shape)
{
    Array array{dtype, std::move(shape), nullptr};
    array.data = allocateBytes(array.byteCount());
    return array;
}

double Array::at(std::int64_t element) const
{
    switch (dtype) {
    case DType::F32:
        return static_cast<double>(as<float>()[element]);
    case DType::BF16:
        return static_cast<double>(bf16ToFloat(as<std::uint16_t>()[element]));
    case DType::Int32:
        return static_cast<double>(as<std::int32_t>()[element]);
    case DType::Bool:
        return as<std::uint8_t>()[element] != 0 ? 1.0 : 0.0;
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

namespace {

// splitmix64 (Steele, Lea, Flood 2014) as a counter-based generator.
std::uint64_t scramble(std::uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
}

std::int64_t sumOfUniforms(std::uint64_t bits)
{
    return static_cast<std::int64_t>((bits & 0xffffU) + ((bits >> 16U) & 0xffffU)
                                     + ((bits >> 32U) & 0xffffU) + (bits >> 48U));
}

float normal(std::uint64_t key, std::uint64_t i)
{
    const std::int64_t sum =
        sumOfUniforms(scramble(key + 2 * i)) + sumOfUniforms(scramble(key + 2 * i + 1));
    // Eight uniforms on 0..65535: mean 262140, variance 8 * (65536^2 - 1) / 12.
    constexpr float kScale = 1.8688e-5F; // 1 / sqrt(variance) to the digits that matter
    return static_cast<float>(sum - 262140) * kScale;
}

} // namespace

void fillNormal(Array& array, std::uint64_t seed, std::int64_t begin, std::int64_t end)
{
    const std::uint64_t key = scramble(seed);
    for (std::int64_t i = begin; i < end; ++i) {
        const auto counter = static_cast<std::uint64_t>(i);
        switch (array.dtype) {
        case DType::F32:
            array.as<float>()[i] = normal(key, counter);
            break;
        case DType::BF16:
            array.as<std::uint16_t>()[i] = floatToBf16(normal(key, counter));
            break;
        case DType::Int32:
            array.as<std::int32_t>()[i] =
                static_cast<std::int32_t>(scramble(key + counter) % 17U) - 8;
            break;
        case DType::Bool:
            array.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(scramble(key + counter) & 1U);
            break;
        }
    }
}

Array normalArray(DType dtype, const Shape& shape, std::uint64_t seed)
{
    Array array = makeArray(dtype, shape);
    fillNormal(array, seed, 0, shape.elements());
    return array;
}

} // namespace pallascope
