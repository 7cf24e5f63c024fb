// Who runs a program: its devices, and the agents of each.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"

namespace pallascope::machine {

// Agents are numbered by device; within it the cores of each slot come first, then the instances of
// the matrix unit that the program asks by hand, by core where cores own them.
struct AgentLayout
{
    std::int32_t devices = 1;
    std::int32_t slots = 1;    // of each device, which its core_maps use
    std::int32_t cores = 1;    // of each slot
    std::int32_t asked = 0;    // instances of the matrix unit, of one core or of the device
    bool ownedByCores = false; // else all cores of the device share them

    [[nodiscard]] std::int32_t perDevice() const
    {
        return slots * cores + (ownedByCores ? slots * cores : 1) * asked;
    }

    // From the first core of a device's first slot to the last one that runs blocks of the mesh.
    [[nodiscard]] std::int32_t running(const ir::CoreMapParams& mesh) const;

    // Slots that have a block of the mesh to run.
    [[nodiscard]] std::int32_t slotsOf(const ir::CoreMapParams& mesh) const;
};

[[nodiscard]] AgentLayout agentLayout(const ir::Program& program, const chip::Chip& chip);

} // namespace pallascope::machine
