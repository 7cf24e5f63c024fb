// How the calling thread computes with subnormal floats: as XLA does, they are 0 (decision 0009).
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace pallascope::arith {

// While it lives, arithmetic of the calling thread takes subnormal operands for 0 and yields 0 for
// subnormal results, with their signs; after it the thread computes as before. Moves, selections
// and bit operations keep subnormals, and so may functions of the C library. parallelFor carries it
// to the threads that share the work. On x86-64 and AArch64; elsewhere it does nothing.
class Subnormals
{
public:
    explicit Subnormals(bool flushed);
    ~Subnormals();

    Subnormals(const Subnormals&) = delete;
    Subnormals& operator=(const Subnormals&) = delete;
    Subnormals(Subnormals&&) = delete;
    Subnormals& operator=(Subnormals&&) = delete;

private:
    std::uint64_t m_before;
    bool m_changes; // mostly not: to ask takes time in short operations
};

[[nodiscard]] bool subnormalsAreFlushed();

[[nodiscard]] constexpr bool isSubnormal(std::same_as<float> auto value)
{
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7fff'ffffU;
    return magnitude - 1U < 0x007f'ffffU;
}

// 0 with its sign for a subnormal, whatever the thread's arithmetic does.
[[nodiscard]] constexpr float flushed(std::same_as<float> auto value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits & 0x7f80'0000U) == 0 ? bits & 0x8000'0000U : bits);
}

} // namespace pallascope::arith
