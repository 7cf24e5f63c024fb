// Who runs a program: its devices, and the agents of each.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <vector>

namespace pallascope::machine {

// Agents of one kind, of one device.
struct AgentGroup
{
    std::int32_t kind = 0;  // index into Chip::agents
    std::int32_t first = 0; // the number of its first agent on its device
    std::int32_t slots = 1; // that the core_maps use
    std::int32_t cores = 1; // of each slot

    [[nodiscard]] std::int32_t count() const { return slots * cores; }

    // Slots that have a block of the mesh to run.
    [[nodiscard]] std::int32_t slotsOf(const ir::CoreMapParams& mesh) const;

    // From the first core of the first slot to the last one that runs blocks of the mesh.
    [[nodiscard]] std::int32_t running(const ir::CoreMapParams& mesh) const;
};

// Agents are numbered by device; within it by group, where the cores of each slot come one after
// the other. The first group runs what is in no core_map. Then come the instances of the matrix
// unit that the program asks by hand, by core of the first group where cores own them.
struct AgentLayout
{
    std::int32_t devices = 1;
    std::vector<AgentGroup> groups{AgentGroup{}};
    std::int32_t asked = 0;    // instances of the matrix unit, of one core or of the device
    bool ownedByCores = false; // else all cores of the device share them

    [[nodiscard]] std::int32_t firstUnit() const
    {
        return groups.back().first + groups.back().count();
    }

    [[nodiscard]] std::int32_t perDevice() const
    {
        return firstUnit() + (ownedByCores ? groups.front().count() : 1) * asked;
    }

    // There is one agent: no other can race with it.
    [[nodiscard]] bool isAlone() const { return devices * perDevice() == 1; }

    // Of the agents of a kind, an index into Chip::agents, that some core_map runs on.
    [[nodiscard]] const AgentGroup& groupOf(std::int32_t kind) const;
};

[[nodiscard]] AgentLayout agentLayout(const ir::Program& program, const chip::Chip& chip);

} // namespace pallascope::machine
