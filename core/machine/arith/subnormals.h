// Sets how the calling thread computes with subnormal floats. They count as 0, as in XLA (decision
// 0009).
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace pallascope::arith {

// While the object lives, arithmetic of the calling thread treats subnormal operands as 0 and
// yields 0 for subnormal results, and keeps their signs. Afterwards the thread computes as before.
// Moves, selections and bit operations keep subnormals, and so may functions of the C library.
// parallelFor applies the setting to the threads that share the work. It works on x86-64 and
// AArch64; elsewhere it does nothing.
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
    bool m_changes; // usually false; restoring without need would slow down short operations
};

[[nodiscard]] bool subnormalsAreFlushed();

[[nodiscard]] constexpr bool isSubnormal(std::same_as<float> auto value)
{
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7fff'ffffU;
    return magnitude - 1U < 0x007f'ffffU;
}

// Replaces a subnormal by 0 with the same sign, whatever the thread's arithmetic does.
[[nodiscard]] constexpr float flushed(std::same_as<float> auto value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits & 0x7f80'0000U) == 0 ? bits & 0x8000'0000U : bits);
}

} // namespace pallascope::arith
