#include "views/layout/scene/axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

constexpr std::array<double, 3> kNice = {1, 2, 5};
constexpr double kSlack = 1e-9; // relative, for rounding errors in products of powers of ten

struct Unit
{
    std::string_view name;
    std::int64_t ps;
};

constexpr std::array<Unit, 4> kUnits = {
    {{"ns", 1'000}, {"µs", 1'000'000}, {"ms", 1'000'000'000}, {"s", 1'000'000'000'000}}};

// The largest unit in which the step has at most two decimals and the end has at least one digit
// before the point.
const Unit& unitFor(std::int64_t step, std::int64_t end)
{
    for (std::size_t i = kUnits.size(); i-- > 0;) {
        if (step >= kUnits[i].ps / 100 && end >= kUnits[i].ps) {
            return kUnits[i];
        }
    }
    return end >= kUnits[1].ps ? kUnits[1] : kUnits[0];
}

// Puts a thin space after every three of the first `digits` characters, counted from their end.
std::string grouped(std::string text, std::size_t digits)
{
    for (std::size_t at = digits; at > 3;) {
        at -= 3;
        text.insert(at, "\u2009");
    }
    return text;
}

} // namespace

double niceStep(double least)
{
    return niceAbove(least);
}

double niceAbove(double value)
{
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const double nice : kNice) {
        if (nice * power >= value * (1 - kSlack)) {
            return nice * power;
        }
    }
    return 10 * power;
}

double niceBelow(double value)
{
    const double power = std::pow(10.0, std::floor(std::log10(value) + kSlack));
    double best = power;
    for (const double nice : kNice) {
        if (nice * power <= value * (1 + kSlack)) {
            best = nice * power;
        }
    }
    return best;
}

TimeTicks timeTicks(Picoseconds begin, Picoseconds end, double width, double leastPx)
{
    const auto span = static_cast<double>((end - begin).value());
    const double count = std::max(1.0, width / leastPx);
    constexpr double kMost = 9e18; // picoseconds; it fits in int64
    const auto step = std::max<std::int64_t>(
        1, std::llround(std::min(kMost, niceStep(std::max(1.0, span / count)))));
    TimeTicks ticks;
    ticks.step = Picoseconds(step);
    ticks.unit = unitFor(step, end.value()).name;
    // The longest runs end near the largest int64, so the loop must not count past the end: it
    // would overflow.
    const std::int64_t last = end.value() / step;
    for (std::int64_t n = begin.value() / step; n <= last; ++n) {
        if (n * step >= begin.value()) {
            ticks.at.emplace_back(n * step);
        }
    }
    return ticks;
}

std::string TimeTicks::label(Picoseconds t) const
{
    const auto found = std::find_if(kUnits.begin(), kUnits.end(), [this](const Unit& candidate) {
        return candidate.name == unit;
    });
    const auto ps = static_cast<double>(found->ps);
    const double perTick = static_cast<double>(step.value()) / ps;
    const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(perTick) + kSlack)));
    std::string text = fmt::format("{:.{}f}", static_cast<double>(t.value()) / ps, decimals);
    const std::size_t digits = std::min(text.find('.'), text.size());
    return digits > 4 ? grouped(text, digits) : text;
}

std::vector<double> logTicks(double low, double high)
{
    std::vector<double> ticks;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = static_cast<int>(std::ceil(std::log10(high)));
    for (int exponent = first; exponent <= last; ++exponent) {
        for (const double nice : kNice) {
            const double value = nice * std::pow(10.0, exponent);
            if (value >= low * (1 - kSlack) && value <= high * (1 + kSlack)) {
                ticks.push_back(value);
            }
        }
    }
    return ticks;
}

std::vector<double> logTicks(double low, double high, double width, double leastPx)
{
    const double pxPerDecade = width / std::max(kSlack, std::log10(high / low));
    std::vector<double> ticks = logTicks(low, high);
    if (pxPerDecade * std::log10(2.0) >= leastPx) {
        return ticks;
    }
    const auto every = static_cast<int>(std::max(1.0, std::ceil(leastPx / pxPerDecade)));
    ticks.erase(std::remove_if(ticks.begin(), ticks.end(),
                               [&](double tick) {
                                   const double exponent = std::log10(tick);
                                   const double whole = std::round(exponent);
                                   return std::fabs(exponent - whole) > 1e-6
                                          || static_cast<int>(whole) % every != 0;
                               }),
                ticks.end());
    return ticks;
}

std::string tickText(double value)
{
    if (value >= 1000) {
        const std::string digits = fmt::format("{:.0f}", value);
        return grouped(digits, digits.size());
    }
    return fmt::format("{:.{}f}", value,
                       std::max(0, static_cast<int>(-std::floor(std::log10(value) + kSlack))));
}

std::string secondsTickText(double seconds)
{
    const Unit* unit = kUnits.data();
    for (const Unit& candidate : kUnits) {
        const double least = static_cast<double>(candidate.ps) / kPicosecondsPerSecond;
        unit = seconds >= least * (1 - kSlack) ? &candidate : unit;
    }
    return tickText(seconds / static_cast<double>(unit->ps) * kPicosecondsPerSecond) + " "
           + std::string(unit->name);
}

double LogScale::at(double value) const
{
    return from + std::log(value / low) / std::log(high / low) * (to - from);
}

double LogScale::valueAt(double px) const
{
    return low * std::pow(high / low, (px - from) / (to - from));
}

} // namespace pallascope::layout
