// Which agents run a program: the devices, the agents on each, and how they are numbered.
#pragma once

#include "core/chip/chip.h"
#include "core/cost/block_grid.h"
#include "core/ir/mesh.h"
#include "core/ir/program.h"

#include <algorithm>
#include <map>
#include <vector>

namespace pallascope::machine {

// How many agents run a block of a core_map's grid, or all blocks of one of its clusters.
[[nodiscard]] inline std::int32_t coresOf(const ir::CoreMapParams& mesh)
{
    return mesh.cores * ir::sizeOf(mesh.cluster);
}

// The agents of one kind on one device. A place runs one block at a time; a slot of the chip has
// one place, but an SM of a GPU as many as blocks fit. Places are numbered so that each slot has
// one before any has a second one, which is the order in which they get their first blocks. The
// blocks of a cluster run in neighbouring places, on as many slots.
struct AgentGroup
{
    std::int32_t kind = 0;   // index into Chip::agents
    std::int32_t first = 0;  // the number of its first agent on the device
    std::int32_t slots = 1;  // how many slots the core_maps use
    std::int32_t places = 1; // in all these slots together
    std::int32_t cores = 1;  // in each place
    // How many agents of a place run a block; the others are further warps of their warpgroups.
    std::int32_t blockCores = 1;
    // Whether its agents are in order with the tensor cores, which are agents then (tcgen05).
    bool usesTensorMemory = false;
    // How many clusters of each core_map run at a time; without clusters, how many blocks.
    std::map<const ir::CoreMapParams*, std::int32_t> clustersOfMaps;
    // From the end of a block to the first operation of the next one in its place; 0 on a TPU.
    std::map<const ir::CoreMapParams*, Picoseconds> blockStartOfMaps;
    // What the L1 of a slot holds during each core_map. Absent where the chip has none.
    std::map<const ir::CoreMapParams*, Bytes> l1OfMaps;

    [[nodiscard]] std::int32_t count() const { return places * cores; }

    [[nodiscard]] bool sharesSlots() const { return places > slots; }

    [[nodiscard]] std::int32_t slotOf(std::int32_t place) const { return place % slots; }

    // The number of a place among those of its slot.
    [[nodiscard]] std::int32_t inSlot(std::int32_t place) const { return place / slots; }

    // Agents are numbered slot by slot: how many places come before this one there; and the place
    // before which there are `before` others.
    [[nodiscard]] std::int32_t before(std::int32_t place) const;
    [[nodiscard]] std::int32_t placeAt(std::int32_t before) const;

    // How many clusters of the mesh run at a time, and the place of the first block of one of them.
    [[nodiscard]] std::int32_t clustersOf(const ir::CoreMapParams& mesh) const
    {
        return clustersOfMaps.at(&mesh);
    }

    [[nodiscard]] std::int32_t placeOf(const ir::CoreMapParams& mesh, std::int32_t cluster) const;

    // How many agents there are from the first core of the first place to the last core that runs
    // blocks of the mesh.
    [[nodiscard]] std::int32_t running(const ir::CoreMapParams& mesh) const;
};

// What the instances of the matrix unit belong to; its agents share them.
enum class UnitOwner : std::uint8_t
{
    Device,
    Slot,
    Core
};

// Agents are numbered by device, and on a device by group; in a group the cores of each place
// follow each other, and the places of each slot. The first group also runs what is outside of
// core_maps. After the groups come the instances of the matrix unit that the program uses directly,
// ordered by what owns them: the cores or slots of the first group.
struct AgentLayout
{
    std::int32_t devices = 1;
    std::vector<AgentGroup> groups{AgentGroup{}};
    std::int32_t asked = 0; // instances of the matrix unit that belong to each owner
    UnitOwner owner = UnitOwner::Device;

    [[nodiscard]] std::int32_t firstUnit() const
    {
        return groups.back().first + groups.back().count();
    }

    [[nodiscard]] std::int32_t perDevice() const { return firstUnit() + owners() * asked; }

    [[nodiscard]] std::int32_t owners() const
    {
        return owner == UnitOwner::Core   ? groups.front().count()
               : owner == UnitOwner::Slot ? groups.front().slots
                                          : 1;
    }

    // Which of the owners an agent of the first group belongs to, the `seat`th of a place.
    [[nodiscard]] std::int32_t ownerOf(std::int32_t place, std::int32_t seat) const
    {
        const AgentGroup& group = groups.front();
        return owner == UnitOwner::Core   ? group.before(place) * group.cores + seat
               : owner == UnitOwner::Slot ? group.slotOf(place)
                                          : 0;
    }

    // With a single agent, no other agent can race with it.
    [[nodiscard]] bool isAlone() const { return devices * perDevice() == 1; }

    // The agents of this kind (an index into Chip::agents), which some core_map must use.
    [[nodiscard]] const AgentGroup& groupOf(std::int32_t kind) const;
};

// `grids`: those of the program's core_maps on this chip, by cost::blockGrids().
[[nodiscard]] AgentLayout agentLayout(const ir::Program& program, const chip::Chip& chip,
                                      const std::vector<cost::BlockGrid>& grids);

} // namespace pallascope::machine
