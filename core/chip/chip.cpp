#include "core/chip/chip.h"

#include <algorithm>
#include <cmath>

namespace pallascope::chip {

const Unit* Chip::unitOf(UnitKind kind, std::int32_t agent) const
{
    const auto owns = [](const AgentKind& owner, std::size_t unit) {
        return std::find(owner.units.begin(), owner.units.end(), static_cast<std::int32_t>(unit))
               != owner.units.end();
    };
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (units[i].kind != kind) {
            continue;
        }
        const auto ownsIt = [&](const AgentKind& one) { return owns(one, i); };
        if (ownsIt(agents[static_cast<std::size_t>(agent)])
            || (agent == 0 && std::none_of(agents.begin(), agents.end(), ownsIt))) {
            return &units[i];
        }
    }
    return nullptr;
}

std::optional<std::int32_t> Chip::agentNamed(std::string_view kind) const
{
    const auto found = std::find_if(agents.begin(), agents.end(), [&](const AgentKind& agent) {
        return kind.empty() || agent.name == kind;
    });
    return found == agents.end() ? std::nullopt
                                 : std::optional(static_cast<std::int32_t>(found - agents.begin()));
}

std::optional<std::int32_t> Chip::memoryIndex(std::string_view memory) const
{
    for (std::size_t i = 0; i < memories.size(); ++i) {
        if (memories[i].name == memory) {
            return static_cast<std::int32_t>(i);
        }
    }
    return std::nullopt;
}

Picoseconds Chip::blockStart(bool hasBarriers) const
{
    auto known = operations.find("core_map without barriers");
    known = hasBarriers || known == operations.end() ? operations.find("core_map") : known;
    double cycles = 0;
    if (multiprocessor && known != operations.end()) {
        for (const Instructions& part : known->second) {
            cycles += part.count;
        }
    }
    return toPicoseconds(Cycles(std::llround(cycles)), agents.front().clock);
}

std::optional<std::int32_t> Chip::linkBetween(std::int32_t from, std::int32_t to) const
{
    const std::optional<std::int32_t> hbm = memoryIndex("HBM");
    const auto joining = [&](std::int32_t a, std::int32_t b) {
        return std::find_if(links.begin(), links.end(),
                            [=](const Link& link) { return link.from == a && link.to == b; });
    };
    auto found = joining(from, to);
    found = found == links.end() ? joining(to, from) : found;
    if (found == links.end() && (from == hbm || to == hbm)) {
        found = std::find_if(links.begin(), links.end(),
                             [&](const Link& link) { return link.from == hbm || link.to == hbm; });
    }
    return found == links.end() ? std::nullopt
                                : std::optional(static_cast<std::int32_t>(found - links.begin()));
}

std::int64_t Chip::unitSets(std::int32_t agent) const
{
    const AgentKind& kind = agents[static_cast<std::size_t>(agent)];
    return kind.sharesUnits ? kind.slots : kind.slots * kind.count;
}

} // namespace pallascope::chip
