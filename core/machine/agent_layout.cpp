#include "core/machine/agent_layout.h"

#include "core/ir/mesh.h"

#include <algorithm>

namespace pallascope::machine {

std::int32_t AgentLayout::slotsOf(const ir::CoreMapParams& mesh) const
{
    return std::min(slots, ir::sizeOf(mesh.grid));
}

std::int32_t AgentLayout::running(const ir::CoreMapParams& mesh) const
{
    return (slotsOf(mesh) - 1) * cores + mesh.cores;
}

AgentLayout agentLayout(const ir::Program& program, const chip::Chip& chip)
{
    const chip::AgentKind& kind = chip.agents.front();
    AgentLayout layout;
    layout.devices = ir::deviceCount(program);
    layout.slots =
        static_cast<std::int32_t>(std::min<std::int64_t>(kind.slots, ir::blockCount(program)));
    layout.cores = ir::coreCount(program);
    bool asks = false;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        asks = asks || ir::opEntry(operation.code).kind == ir::OpKind::Request;
    });
    const chip::Unit* unit = chip.unitOf(chip::UnitKind::Matrix);
    if (asks && unit != nullptr) {
        layout.asked = static_cast<std::int32_t>(unit->count);
        layout.ownedByCores =
            std::find(kind.units.begin(), kind.units.end(), unit - chip.units.data())
            != kind.units.end();
    }
    return layout;
}

} // namespace pallascope::machine
