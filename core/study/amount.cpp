#include "core/study/amount.h"

#include "core/base/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <span>
#include <vector>

namespace pallascope::study {

namespace {

struct UnitName
{
    std::string_view name;
    double size;
};

constexpr std::array<UnitName, 7> kTimeUnits{{{"ps", 1e-12},
                                              {"ns", 1e-9},
                                              {"us", 1e-6},
                                              {"\u00b5s", 1e-6},
                                              {"\u03bcs", 1e-6},
                                              {"ms", 1e-3},
                                              {"s", 1}}};
constexpr std::array<UnitName, 4> kByteUnits{
    {{"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}}};

// A part of the path says so: time_s, busy_s.HBM.
bool isTime(std::string_view field)
{
    for (std::size_t begin = 0; begin <= field.size();) {
        const std::size_t end = std::min(field.find('.', begin), field.size());
        const std::string_view part = field.substr(begin, end - begin);
        if (part.ends_with("_s") && !part.ends_with("per_s")) {
            return true;
        }
        begin = end + 1;
    }
    return false;
}

bool isBytes(std::string_view field)
{
    return field.ends_with("bytes");
}

// The unit of a field; empty for counts and shares.
std::string_view unitOf(std::string_view field)
{
    if (isTime(field)) {
        return "s";
    }
    if (isBytes(field)) {
        return "B";
    }
    if (field.ends_with("flops_per_s")) {
        return "FLOP/s";
    }
    if (field.ends_with("bytes_per_s")) {
        return "B/s";
    }
    return field.ends_with("intensity") || field.ends_with("ridge") ? "FLOP/B" : "";
}

std::span<const UnitName> unitsOf(std::string_view field)
{
    if (isTime(field)) {
        return kTimeUnits;
    }
    return isBytes(field) ? std::span<const UnitName>(kByteUnits) : std::span<const UnitName>();
}

} // namespace

std::optional<Amount> parseAmount(std::string_view text, std::string_view field)
{
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || !std::isfinite(number)) {
        return std::nullopt;
    }
    const char* unitBegin = rest;
    while (unitBegin != end && *unitBegin == ' ') {
        ++unitBegin;
    }
    const std::string_view unit(unitBegin, end);
    if (unit.empty()) {
        return Amount{number};
    }
    for (const UnitName& each : unitsOf(field)) {
        if (each.name == unit) {
            return Amount{number * each.size, std::string(unit), each.size};
        }
    }
    return std::nullopt;
}

std::string exampleAmount(std::string_view field)
{
    std::vector<std::string> names;
    for (const UnitName& each : unitsOf(field)) {
        if (static_cast<unsigned char>(each.name.front()) < 0x80) { // µs is us as well
            names.emplace_back(each.name);
        }
    }
    return names.empty() ? ""
                         : fmt::format("{}, with a unit or without: {}",
                                       isTime(field) ? "70us" : "1MiB", orList(names));
}

bool haveOneUnit(std::string_view a, std::string_view b)
{
    return unitOf(a) == unitOf(b);
}

std::string amountText(std::string_view field, double value)
{
    constexpr double kPicoseconds = 1e12;
    if (field.ends_with("flops_per_s")) {
        return flopRateText(value);
    }
    if (field.ends_with("bytes_per_s")) {
        return bandwidthText(value);
    }
    if (isTime(field)) {
        return timeText(Picoseconds(std::llround(value * kPicoseconds)));
    }
    if (isBytes(field)) {
        return bytesText(Bytes(std::llround(value)));
    }
    if (field.ends_with("intensity") || field.ends_with("ridge")) {
        return intensityText(value) + " FLOP/B";
    }
    if (field.ends_with("utilization") || field.ends_with("hit_rate")
        || field.ends_with("padding_share")) {
        return percentText(value, 1);
    }
    return value == std::floor(value) ? countText(std::llround(value)) : significant(value, 3);
}

std::string comparedText(double number, Comparator comparator, double bound, int digits)
{
    constexpr double kExact = 1e15;
    if (number == std::floor(number) && std::abs(number) < kExact) {
        return fmt::format("{:.0f}", number);
    }
    constexpr int kMostDigits = 17;
    std::string text;
    for (bool sameThen = false; !sameThen && digits <= kMostDigits; ++digits) {
        text = fmt::format("{:.{}g}", number, digits);
        sameThen = compared(parseAmount(text, "").value_or(Amount{number}).value, comparator, bound)
                   == compared(number, comparator, bound);
    }
    return text;
}

} // namespace pallascope::study
