// Units as types, so that adding cycles to bytes does not compile. Whatever decides times, orders
// and sizes is an integer; doubles (rates, seconds) are only for people.
#pragma once

#include <compare>
#include <cstdint>

namespace pallascope {

template<class Tag, class Rep>
class Quantity
{
public:
    using Representation = Rep;

    constexpr Quantity() = default;

    explicit constexpr Quantity(Rep value)
        : m_value(value)
    {}

    [[nodiscard]] constexpr Rep value() const { return m_value; }

    constexpr auto operator<=>(const Quantity&) const = default;

    constexpr Quantity& operator+=(Quantity other)
    {
        m_value += other.m_value;
        return *this;
    }

    constexpr Quantity& operator-=(Quantity other)
    {
        m_value -= other.m_value;
        return *this;
    }

    friend constexpr Quantity operator+(Quantity a, Quantity b)
    {
        return Quantity(a.m_value + b.m_value);
    }

    friend constexpr Quantity operator-(Quantity a, Quantity b)
    {
        return Quantity(a.m_value - b.m_value);
    }

    friend constexpr Quantity operator*(Quantity a, Rep factor)
    {
        return Quantity(a.m_value * factor);
    }

    friend constexpr Quantity operator*(Rep factor, Quantity a)
    {
        return Quantity(a.m_value * factor);
    }

    // How many times b fits in a; a plain number.
    friend constexpr double ratio(Quantity a, Quantity b)
    {
        return static_cast<double>(a.m_value) / static_cast<double>(b.m_value);
    }

private:
    Rep m_value{};
};

using Picoseconds = Quantity<struct PicosecondsTag, std::int64_t>; // time in a run and a trace
using Cycles = Quantity<struct CyclesTag, std::int64_t>;           // inside one segment
using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Flops = Quantity<struct FlopsTag, std::int64_t>;
using Hertz = Quantity<struct HertzTag, std::int64_t>;
using Seconds = Quantity<struct SecondsTag, double>;               // for people
using BytesPerSecond = Quantity<struct BytesPerSecondTag, double>; // for people

// An extension of g++ and clang; __extension__ silences the warning.
__extension__ typedef __int128 Int128;

inline constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

// Rounds up; called once per segment (design: "a segment's cycles become ceil(cycles * 10^12 /
// Hz)"). Requires cycles >= 0, clock > 0 and a result below 2^63 ps (about 106 days).
[[nodiscard]] constexpr Picoseconds toPicoseconds(Cycles cycles, Hertz clock)
{
    const auto numerator = static_cast<Int128>(cycles.value()) * kPicosecondsPerSecond;
    const auto hertz = static_cast<Int128>(clock.value());
    return Picoseconds(static_cast<std::int64_t>((numerator + hertz - 1) / hertz));
}

// To the nearest double: times 1e-12, 10 us would be 9.999999999999999e-06 s.
[[nodiscard]] constexpr Seconds toSeconds(Picoseconds time)
{
    return Seconds(static_cast<double>(time.value()) / 1e12);
}

[[nodiscard]] constexpr Seconds toSeconds(Cycles cycles, Hertz clock)
{
    return Seconds(static_cast<double>(cycles.value()) / static_cast<double>(clock.value()));
}

// To the nearest picosecond. For constants that a chip file gives in seconds.
[[nodiscard]] constexpr Picoseconds toPicoseconds(Seconds seconds)
{
    return Picoseconds(
        static_cast<std::int64_t>(seconds.value() * 1e12 + (seconds.value() < 0 ? -0.5 : 0.5)));
}

} // namespace pallascope
