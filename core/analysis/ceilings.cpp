#include "core/analysis/ceilings.h"

#include "core/analysis/owners.h"

#include <algorithm>
#include <string_view>

namespace pallascope::analysis {

namespace {

// Whether the figures below this place of the chip file are all published.
bool isKnown(const chip::Chip& chip, std::string_view place)
{
    return std::none_of(
        chip.unknown.begin(), chip.unknown.end(),
        [&](const chip::UnknownFigure& figure) { return figure.pointer.starts_with(place); });
}

bool isBusy(const Report& report, const std::string& name)
{
    return std::any_of(report.busy.begin(), report.busy.end(), [&](const auto& one) {
        return one.first == name && one.second > Picoseconds(0);
    });
}

// What these units of all cores of one device move if each fills or empties registers in every
// cycle. Empty if the chip file lacks a figure for it.
std::optional<BytesPerSecond> rateOf(const chip::Chip& chip, const chip::Unit& unit)
{
    const auto place = "/units/" + std::to_string(&unit - chip.units.data()) + "/";
    const bool hasAll = isKnown(chip, place) && isKnown(chip, "/agents/0/clock_hz")
                        && isKnown(chip, "/agents/0/count")
                        && isKnown(chip, "/constants/register_bytes");
    if (!hasAll || unit.cyclesPerRegister <= 0) {
        return std::nullopt;
    }
    const double perCycle = static_cast<double>(unit.count) / unit.cyclesPerRegister
                            * static_cast<double>(chip.registerBytes.value());
    return BytesPerSecond(perCycle * static_cast<double>(chip.agents.front().clock.value())
                          * static_cast<double>(chip.unitSets()));
}

bool isOfChip(const chip::Chip& chip, const std::string& kind)
{
    const auto place = std::find_if(chip.links.begin(), chip.links.end(),
                                    [&](const chip::Link& link) { return link.name == kind; });
    if (place != chip.links.end()) {
        return isKnown(chip,
                       "/links/" + std::to_string(place - chip.links.begin()) + "/bytes_per_s");
    }
    return chip.interconnect && chip.interconnect->link.name == kind
           && isKnown(chip, "/interconnect/bytes_per_s");
}

} // namespace

std::vector<Ceiling> ceilingsOf(const Report& report, const trace::Info& info,
                                const trace::Summary& sums, const chip::Chip& chip)
{
    std::vector<Ceiling> ceilings;
    const std::string& memory = info.memories[static_cast<std::size_t>(info.links.front().to)].name;
    for (const auto& [kind, what] :
         {std::pair(UnitKind::Load, " loads"), std::pair(UnitKind::Store, " stores")}) {
        const chip::Unit* unit = chip.unitOf(kind);
        const auto rate =
            unit == nullptr || !isBusy(report, unit->name) ? std::nullopt : rateOf(chip, *unit);
        if (rate) {
            ceilings.push_back(
                {memory + what, BytesPerSecond(rate->value() * info.deviceCount()), unit->name});
        }
    }
    for (std::size_t i = 0; i < info.links.size(); ++i) { // only those that carry anything
        const std::string& kind = kindOf(info.links[i]);
        if (sums.linkBusy[i] <= Picoseconds(0) || kind == kindOf(info.links.front())
            || !isOfChip(chip, kind)) {
            continue;
        }
        auto same = std::find_if(ceilings.begin(), ceilings.end(),
                                 [&](const Ceiling& one) { return one.of == kind; });
        if (same == ceilings.end()) {
            same = ceilings.insert(same, {kind, BytesPerSecond(0), kind});
        }
        same->datasheet = BytesPerSecond(same->datasheet.value() + info.links[i].datasheet.value());
    }
    return ceilings;
}

} // namespace pallascope::analysis
