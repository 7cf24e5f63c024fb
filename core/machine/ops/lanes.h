// The types in which elements are computed: f32 for floats, 32 bits for integers, a byte (0 or 1)
// for bools. Narrower elements are widened before an operation and rounded or wrapped after it.
#pragma once

#include "core/base/dtype.h"
#include "core/machine/values/value.h"

#include <concepts>
#include <cstdint>

namespace pallascope::machine::ops {

template<class T>
concept Float = std::same_as<T, float>;
template<class T>
concept Signed = std::same_as<T, std::int32_t>;
template<class T>
concept Unsigned = std::same_as<T, std::uint32_t>;
template<class T>
concept Integer = Signed<T> || Unsigned<T>;
template<class T>
concept Boolean = std::same_as<T, bool>;

// The type as which a lane is stored in memory.
template<class T>
struct Stored
{
    using Type = T;
};

template<>
struct Stored<bool>
{
    using Type = std::uint8_t;
};

union Lane {
    float real;
    std::int32_t whole;
    std::uint32_t natural;
    std::uint8_t truth;
};

inline constexpr std::int64_t kGrain = 16384; // elements per parallel chunk
constexpr std::int64_t kMostLaneBytes = 4;

[[nodiscard]] constexpr std::int64_t laneBytes(DType dtype)
{
    return dtype == DType::Bool ? 1 : kMostLaneBytes;
}

// Whether arrays of this dtype hold lanes already, so that nothing needs to be widened.
[[nodiscard]] constexpr bool storedAsLanes(DType dtype)
{
    return dtypeBits(dtype) == 32 || dtype == DType::Bool;
}

// Converts elements [begin, begin + count) of `data` to lanes.
void widen(DType dtype, const std::byte* data, std::int64_t begin, std::int64_t count, void* lanes);
// Converts them back, rounded or wrapped.
void narrow(DType dtype, const void* lanes, std::byte* data, std::int64_t begin,
            std::int64_t count);

[[nodiscard]] Lane scalarLane(DType dtype, double scalar);
[[nodiscard]] double laneScalar(DType dtype, Lane lane); // rounded or wrapped to dtype

// Calls the function with a value of the lane's type: visitLane(dtype, [](auto zero) { using T =
// decltype(zero); }).
template<class F>
decltype(auto) visitLane(DType dtype, F&& function)
{
    switch (dtypeEntry(dtype).kind) {
    case DTypeKind::Float:
        return function(0.0F);
    case DTypeKind::Signed:
        return function(std::int32_t{0});
    case DTypeKind::Unsigned:
        return function(std::uint32_t{0});
    case DTypeKind::Bool:
        break;
    }
    return function(false);
}

} // namespace pallascope::machine::ops
