// Operations that make values from counters: iota and random bits.
#include "core/machine/ops/ops.h"

#include <algorithm>
#include <array>
#include <bit>

namespace pallascope::machine::ops {

RuntimeValue iota(const Call& call)
{
    const auto& [dtype, shape, dimension] = call.params<ir::IotaParams>();
    RuntimeValue result = RuntimeValue::arrayOf(dtype, shape);
    const auto axis = static_cast<std::size_t>(dimension);
    const std::int64_t bytes = rowMajorStrides(shape)[axis] * dtypeBytes(dtype);
    const std::int64_t period = shape[axis] * bytes, all = result.elements() * dtypeBytes(dtype);
    std::byte* out = result.data.get();
    for (std::int64_t i = 0; i < shape[axis] && all > 0; ++i) {
        fillElements(dtype, out + i * bytes, bytes / dtypeBytes(dtype), static_cast<double>(i));
    }
    for (std::int64_t done = period; done < all; done += period) {
        std::copy_n(out, period, out + done);
    }
    return result;
}

// The row-major number of every element: its high 32 bits (result 0) or its low 32 bits.
RuntimeValue iota2x32(const Call& call)
{
    const Shape& shape = call.params<ir::ShapeParams>().shape;
    if (shape.rank() == 0) {
        return RuntimeValue::scalarOf(DType::UInt32, 0);
    }
    RuntimeValue result = RuntimeValue::arrayOf(DType::UInt32, shape);
    auto* out = result.as<std::uint32_t>();
    for (std::int64_t i = 0; i < result.elements(); ++i) {
        out[i] = static_cast<std::uint32_t>(call.result == 0 ? static_cast<std::uint64_t>(i) >> 32U
                                                             : static_cast<std::uint64_t>(i));
    }
    return result;
}

namespace {

using Pair = std::array<std::uint32_t, 2>;

// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC11).
Pair threefryBlock(const Pair& key, Pair x)
{
    constexpr std::array<std::array<int, 4>, 2> kRotations{{{13, 15, 26, 6}, {17, 29, 16, 24}}};
    const std::array<std::uint32_t, 3> keys{key[0], key[1], key[0] ^ key[1] ^ 0x1bd1'1bdaU};
    x[0] += keys[0];
    x[1] += keys[1];
    for (std::uint32_t round = 0; round < 5; ++round) {
        for (const int rotation : kRotations[round % 2]) {
            x[0] += x[1];
            x[1] = std::rotl(x[1], rotation) ^ x[0];
        }
        x[0] += keys[(round + 1) % 3];
        x[1] += keys[(round + 2) % 3] + round + 1;
    }
    return x;
}

} // namespace

RuntimeValue threefry(const Call& call)
{
    const RuntimeValue& first = call.operand(0);
    const auto block = [&](auto&& element) {
        return threefryBlock({element(0), element(1)}, {element(2), element(3)})[call.result];
    };
    RuntimeValue result = RuntimeValue::arrayOf(DType::UInt32, first.shape);
    result.shadow = combined(call.operands, first.elements());
    if (first.isScalar()) {
        result.scalar = block(
            [&](std::size_t k) { return static_cast<std::uint32_t>(call.operand(k).scalar); });
        return result;
    }
    for (std::int64_t i = 0; i < first.elements(); ++i) {
        result.as<std::uint32_t>()[i] =
            block([&](std::size_t k) { return call.operand(k).as<std::uint32_t>()[i]; });
    }
    return result;
}

// Replaces the bits of a chip's own generator, which are not published. Element n of those drawn
// since the seed is the threefry of (0, n), its halves xored.
RuntimeValue randomBits(const Call& call)
{
    const auto word = [&](std::size_t k) {
        return static_cast<std::uint32_t>(call.operand(k).scalar);
    };
    const auto bits = [&](std::uint32_t n) {
        const Pair both = threefryBlock({word(0), word(1)}, {0, word(2) + n});
        return both[0] ^ both[1];
    };
    const Shape& shape = call.params<ir::ShapeParams>().shape;
    RuntimeValue result = RuntimeValue::arrayOf(DType::UInt32, shape);
    result.shadow = combined(call.operands, result.elements());
    if (shape.rank() == 0) {
        result.scalar = bits(0);
        return result;
    }
    for (std::int64_t i = 0; i < result.elements(); ++i) {
        result.as<std::uint32_t>()[i] = bits(static_cast<std::uint32_t>(i));
    }
    return result;
}

} // namespace pallascope::machine::ops
