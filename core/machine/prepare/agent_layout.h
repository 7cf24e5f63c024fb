// Which agents run a program: the devices, the agents on each, and how they are numbered.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <vector>

namespace pallascope::machine {

// The agents of one kind on one device.
struct AgentGroup
{
    std::int32_t kind = 0;  // index into Chip::agents
    std::int32_t first = 0; // the number of its first agent on the device
    std::int32_t slots = 1; // how many slots the core_maps use
    std::int32_t cores = 1; // in each slot

    [[nodiscard]] std::int32_t count() const { return slots * cores; }

    // How many slots have a block of the mesh to run.
    [[nodiscard]] std::int32_t slotsOf(const ir::CoreMapParams& mesh) const;

    // How many agents there are from the first core of the first slot to the last core that runs
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

// Agents are numbered by device, and on a device by group; in a group the cores of each slot follow
// each other. The first group also runs what is outside of core_maps. After the groups come the
// instances of the matrix unit that the program uses directly, ordered by what owns them: the cores
// or slots of the first group.
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

    // Which of the owners a core of the first group belongs to.
    [[nodiscard]] std::int32_t ownerOf(std::int32_t slot, std::int32_t core) const
    {
        return owner == UnitOwner::Core   ? slot * groups.front().cores + core
               : owner == UnitOwner::Slot ? slot
                                          : 0;
    }

    // With a single agent, no other agent can race with it.
    [[nodiscard]] bool isAlone() const { return devices * perDevice() == 1; }

    // The agents of this kind (an index into Chip::agents), which some core_map must use.
    [[nodiscard]] const AgentGroup& groupOf(std::int32_t kind) const;
};

[[nodiscard]] AgentLayout agentLayout(const ir::Program& program, const chip::Chip& chip);

} // namespace pallascope::machine
