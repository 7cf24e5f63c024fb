#include "core/base/format.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope {

std::string significant(double value, int digits)
{
    if (value == 0.0 || !std::isfinite(value)) {
        return value == 0.0 ? "0" : fmt::format("{}", value);
    }
    int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value)) + 1e-12));
    const double next = std::pow(10.0, exponent + 1);
    if (next - std::fabs(value) <= next * 0.5 * std::pow(10.0, -digits)) {
        ++exponent; // 9.999 rounds to 10.0, which has three digits already
    }
    return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
}

std::string timeText(Picoseconds time)
{
    const double us = static_cast<double>(time.value()) * 1e-6;
    if (time.value() == 0) {
        return "0 µs";
    }
    if (us < 0.0995) {
        return fmt::format("{:.0f} ns", us * 1e3);
    }
    if (us < 9.995) {
        return fmt::format("{:.2f} µs", us);
    }
    if (us < 999.95) {
        return fmt::format("{:.1f} µs", us);
    }
    if (us < 999'995.0) {
        return fmt::format("{:.2f} ms", us * 1e-3);
    }
    return fmt::format("{:.2f} s", us * 1e-6);
}

std::string bytesText(Bytes bytes)
{
    struct Step
    {
        const char* name;
        double size;
    };

    constexpr Step kSteps[] = {
        {"TiB", 1099511627776.0}, {"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"KiB", 1024.0}};
    const auto value = static_cast<double>(bytes.value());
    for (const Step& step : kSteps) {
        // 1023.9 KiB would print as 1024 KiB; it becomes 1.00 MiB.
        const bool rounds = value >= step.size * (1023.5 / 1024) && value < step.size;
        if (value >= step.size || rounds) {
            const double scaled = value / step.size;
            if (scaled == std::round(scaled)) {
                return fmt::format("{:.0f} {}", scaled, step.name);
            }
            return fmt::format("{} {}", significant(scaled, 3), step.name);
        }
    }
    return fmt::format("{} B", bytes.value());
}

std::string countText(std::int64_t count)
{
    std::string digits = std::to_string(count);
    digits.erase(0, count < 0 ? 1 : 0);
    if (digits.size() > 4) {
        for (std::size_t at = digits.size() - 3; at < digits.size() && at > 0;
             at -= std::min<std::size_t>(3, at)) {
            digits.insert(at, "\u2009");
        }
    }
    return (count < 0 ? "\u2212" : "") + digits;
}

std::string counted(std::int64_t count, const std::string& one, const std::string& many)
{
    return countText(count) + " " + (count == 1 ? one : many);
}

std::string bandwidthText(double bytesPerSecond)
{
    return fmt::format("{:.0f} GB/s", bytesPerSecond * 1e-9);
}

std::string flopRateText(double flopsPerSecond)
{
    if (flopsPerSecond < 0.1e12) {
        return fmt::format("{:.1f} GFLOP/s", flopsPerSecond * 1e-9);
    }
    return fmt::format("{:.1f} TFLOP/s", flopsPerSecond * 1e-12);
}

std::string intensityText(double flopsPerByte)
{
    return flopsPerByte < 1 ? significant(flopsPerByte, 3) : fmt::format("{:.1f}", flopsPerByte);
}

std::string percentText(double share, int decimals)
{
    const double step = std::pow(10.0, -decimals);
    double percent = share * 100.0;
    if (share < 1.0 && percent > 100.0 - step / 2) {
        // 99.96 % becomes 99.9 %, not 100 %: it is rounded down and has at least one decimal.
        decimals = std::max(decimals, 1);
        const double scale = std::pow(10.0, decimals);
        percent = std::min(std::floor(percent * scale), 100 * scale - 1) / scale;
    }
    return fmt::format("{:.{}f} %", percent, decimals);
}

std::string listText(std::span<const std::int32_t> numbers)
{
    constexpr std::size_t kMost = 4;
    std::string text = "[";
    for (std::size_t i = 0; i < std::min(numbers.size(), kMost); ++i) {
        text += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
    }
    return text + (numbers.size() > kMost ? ",\u2026]" : "]");
}

std::string orList(const std::vector<std::string>& words)
{
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    }
    return text;
}

} // namespace pallascope
