#include "core/machine/prepare/agent_layout.h"

#include "core/base/check.h"
#include "core/ir/mesh.h"

#include <algorithm>

namespace pallascope::machine {

std::int32_t AgentGroup::slotsOf(const ir::CoreMapParams& mesh) const
{
    return std::min(slots, ir::sizeOf(mesh.grid));
}

std::int32_t AgentGroup::running(const ir::CoreMapParams& mesh) const
{
    return (slotsOf(mesh) - 1) * cores + mesh.cores;
}

const AgentGroup& AgentLayout::groupOf(std::int32_t kind) const
{
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const AgentGroup& one) { return one.kind == kind; });
    PALLASCOPE_CHECK(group != groups.end());
    return *group;
}

AgentLayout agentLayout(const ir::Program& program, const chip::Chip& chip)
{
    AgentLayout layout;
    layout.devices = ir::deviceCount(program);
    bool asks = false;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        asks = asks || ir::opEntry(operation.code).kind == ir::OpKind::Request;
        if (operation.code != ir::OpCode::CoreMap) {
            return;
        }
        const auto& mesh = std::get<ir::CoreMapParams>(operation.params);
        const std::optional<std::int32_t> kind = chip.agentNamed(mesh.agents);
        if (!kind) {
            return; // the plan reports the error
        }
        auto group = std::find_if(layout.groups.begin(), layout.groups.end(),
                                  [&](const AgentGroup& one) { return one.kind == *kind; });
        if (group == layout.groups.end()) {
            group = layout.groups.insert(group, AgentGroup{.kind = *kind});
        }
        const std::int64_t slots = chip.agents[static_cast<std::size_t>(*kind)].slots;
        const std::int64_t used = std::min<std::int64_t>(slots, ir::sizeOf(mesh.grid));
        group->slots = std::max(group->slots, static_cast<std::int32_t>(used));
        group->cores = std::max(group->cores, mesh.cores);
    });
    for (std::size_t i = 1; i < layout.groups.size(); ++i) {
        layout.groups[i].first = layout.groups[i - 1].first + layout.groups[i - 1].count();
    }
    const chip::AgentKind& kind = chip.agents.front();
    const chip::Unit* unit = chip.unitOf(UnitKind::Matrix);
    if (asks && unit != nullptr) {
        layout.asked = static_cast<std::int32_t>(unit->count);
        const bool isOwned =
            std::find(kind.units.begin(), kind.units.end(), unit - chip.units.data())
            != kind.units.end();
        layout.owner = !isOwned           ? UnitOwner::Device
                       : kind.sharesUnits ? UnitOwner::Slot
                                          : UnitOwner::Core;
    }
    return layout;
}

} // namespace pallascope::machine
