// Describes the agents and links of several devices for the static half of a trace.
#include "core/base/check.h"
#include "core/ir/mesh.h"
#include "core/machine/prepare/description.h"

#include <algorithm>

namespace pallascope::machine {

namespace {

bool copiesToDevices(const ir::Program& program)
{
    bool copies = false;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        copies = copies || ir::reachesDevices(operation);
    });
    return copies;
}

} // namespace

namespace {

// What comes before the names of a slot's agents and units: "SM 3 ". Nothing if there is only one
// place for blocks.
std::string slotNameOf(const AgentGroup& group, const chip::AgentKind& kind, std::int32_t slot)
{
    const bool isNamed =
        (kind.slots > 1 || group.sharesSlots()) && (group.places > 1 || group.kind > 0);
    return isNamed ? kind.slotName + " " + std::to_string(slot) + " " : "";
}

// The same with the number of the place, where slots have several: "SM 3 place 1 ".
std::string placeNameOf(const AgentGroup& group, const chip::AgentKind& kind, std::int32_t place)
{
    return slotNameOf(group, kind, group.slotOf(place))
           + (group.sharesSlots() ? "place " + std::to_string(group.inSlot(place)) + " " : "");
}

// Which of its block an agent is: "Warpgroup 0", or "Warpgroup 0 warp 1" for a further warp.
std::string coreNameOf(const AgentGroup& group, const chip::AgentKind& kind, std::int32_t core)
{
    const std::int32_t warp = core / group.blockCores;
    return kind.name + " " + std::to_string(core % group.blockCores)
           + (warp == 0 ? "" : " warp " + std::to_string(warp));
}

} // namespace

// In the order of State::agents.
void Description::describeAgents(const chip::Chip& chip, const AgentLayout& layout)
{
    const bool plain = layout.groups.size() == 1 && layout.groups.front().places == 1;
    // An SM has room for more warpgroups than a block has.
    if (layout.devices == 1 && plain && layout.asked == 0 && !chip.multiprocessor) {
        return; // Info has the chip's agents already
    }
    std::vector<std::string>& agents = info.agents;
    agents.clear();
    for (std::int32_t device = 0; device < layout.devices; ++device) {
        const std::string where =
            layout.devices > 1 ? "device " + std::to_string(device) + " " : "";
        std::vector<std::string> units;
        const auto addUnits = [&](const std::string& owner) {
            for (std::int32_t unit = 0; unit < layout.asked; ++unit) {
                units.push_back(owner + chip.unitOf(UnitKind::Matrix)->name + " "
                                + std::to_string(unit));
            }
        };
        for (const AgentGroup& group : layout.groups) {
            const chip::AgentKind& kind = chip.agents[static_cast<std::size_t>(group.kind)];
            for (std::int32_t core = 0; core < group.count(); ++core) {
                const std::int32_t place = group.placeAt(core / group.cores);
                const std::int32_t number = core % group.cores;
                agents.push_back(where + placeNameOf(group, kind, place)
                                 + coreNameOf(group, kind, number));
                if (layout.owner == UnitOwner::Core && group.first == 0) {
                    addUnits(agents.back() + " ");
                } else if (layout.owner == UnitOwner::Slot && group.first == 0
                           && core % group.cores == 0 && group.inSlot(place) == 0) {
                    addUnits(where + slotNameOf(group, kind, group.slotOf(place)));
                }
            }
        }
        if (layout.owner == UnitOwner::Device) {
            addUnits(where);
        }
        agents.insert(agents.end(), units.begin(), units.end());
    }
}

void Description::describeDevices(const ir::Program& program, const chip::Chip& chip,
                                  const AgentLayout& layout)
{
    m_deviceLinks = chip.links;
    if (m_onChipLink) {
        m_deviceLinks.push_back(*m_onChipLink);
    }
    m_isSwitched = chip.interconnect && chip.interconnect->isSwitched;
    const std::int32_t devices = layout.devices;
    describeAgents(chip, layout);
    if (devices == 1) {
        return;
    }
    m_firstToNeighbour = linksPerDevice();
    std::int32_t next = 0; // number of the next direction
    for (const ir::MeshAxis& axis : program.mesh) {
        std::array<std::int32_t, 2>& direction = m_directions.emplace_back();
        direction[1] = axis.size > 1 ? next++ : -1;
        direction[0] = axis.size > 2 ? next++ : direction[1];
        if (!chip.interconnect || !copiesToDevices(program)) {
            continue;
        }
        if (chip.interconnect->isSwitched) {
            if (linksPerDevice() == m_firstToNeighbour) {
                m_deviceLinks.push_back(chip.interconnect->link);
            }
            continue;
        }
        for (const std::int32_t forwards : {1, 0}) {
            const bool isOther = forwards == 1 ? axis.size > 1 : axis.size > 2;
            const bool isLeft = linksPerDevice() - m_firstToNeighbour < chip.interconnect->links;
            if (isOther && isLeft) {
                m_deviceLinks.push_back(chip.interconnect->link);
                m_deviceLinks.back().name += " " + axis.name + (forwards == 1 ? "+" : "-");
            }
        }
    }
    info.links.clear();
    for (std::int32_t device = 0; device < devices; ++device) {
        const std::string who = "device " + std::to_string(device) + " ";
        for (std::int32_t i = 0; i < linksPerDevice(); ++i) {
            const chip::Link& link = m_deviceLinks[static_cast<std::size_t>(i)];
            info.links.push_back(
                {who + link.name, link.from, link.to, link.datasheet, link.achieved(),
                 i < m_firstToNeighbour ? link.name : chip.interconnect->link.name});
        }
    }
}

Description::Route Description::route(const ir::Program& program, std::int32_t from,
                                      std::int32_t to) const
{
    const std::int32_t neighbours = linksPerDevice() - m_firstToNeighbour;
    PALLASCOPE_CHECK(neighbours > 0 && from != to);
    Route route;
    std::int64_t hops = 0;
    for (std::size_t axis = 0; axis < program.mesh.size(); ++axis) {
        const std::int32_t size = program.mesh[axis].size;
        const std::int32_t ahead = (ir::coordinate(program.mesh, to, axis)
                                    - ir::coordinate(program.mesh, from, axis) + size)
                                   % size;
        if (ahead == 0) {
            continue;
        }
        const std::int32_t back = size - ahead;
        if (hops == 0) { // if there are more directions than links, directions share links
            route.link =
                m_firstToNeighbour + m_directions[axis][ahead <= back ? 1 : 0] % neighbours;
        }
        hops += std::min(ahead, back);
    }
    if (m_isSwitched) {
        hops = 1;
    }
    route.detour = Picoseconds(m_deviceLinks[static_cast<std::size_t>(route.link)].latency.value()
                               * (hops - 1));
    return route;
}

} // namespace pallascope::machine
