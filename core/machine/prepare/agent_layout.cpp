#include "core/machine/prepare/agent_layout.h"

#include "core/base/check.h"
#include "core/ir/mesh.h"

#include <algorithm>

namespace pallascope::machine {

// The first `places % slots` slots have one place more than the others.
std::int32_t AgentGroup::before(std::int32_t place) const
{
    return slotOf(place) * (places / slots) + std::min(slotOf(place), places % slots)
           + inSlot(place);
}

std::int32_t AgentGroup::placeAt(std::int32_t before) const
{
    const std::int32_t each = places / slots, fuller = places % slots;
    const std::int32_t inFuller = fuller * (each + 1);
    const bool isFuller = before < inFuller;
    const std::int32_t number = isFuller ? before : before - inFuller;
    const std::int32_t size = isFuller ? each + 1 : each;
    return number % size * slots + (isFuller ? 0 : fuller) + number / size;
}

std::int32_t AgentGroup::running(const ir::CoreMapParams& mesh) const
{
    std::int32_t last = 0;
    for (std::int32_t place = 0; place < placesOf(mesh); ++place) {
        last = std::max(last, before(place));
    }
    return last * cores + mesh.cores;
}

const AgentGroup& AgentLayout::groupOf(std::int32_t kind) const
{
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const AgentGroup& one) { return one.kind == kind; });
    PALLASCOPE_CHECK(group != groups.end());
    return *group;
}

namespace {

// Adds the places that a core_map needs.
void addPlaces(AgentGroup& group, const chip::Chip& chip, const ir::Operation& coreMap,
               const std::vector<cost::BlockGrid>& grids)
{
    const auto grid = std::find_if(grids.begin(), grids.end(), [&](const cost::BlockGrid& one) {
        return one.coreMap == &coreMap;
    });
    const auto& mesh = std::get<ir::CoreMapParams>(coreMap.params);
    const std::int64_t slots = chip.agents[static_cast<std::size_t>(group.kind)].slots;
    const std::int64_t each = grid == grids.end() ? 1 : grid->occupancy.blocks;
    const std::int64_t blocks = ir::sizeOf(mesh.grid);
    const auto places = static_cast<std::int32_t>(std::min(slots * each, blocks));
    group.slots = std::max(group.slots, static_cast<std::int32_t>(std::min(slots, blocks)));
    group.places = std::max(group.places, places);
    group.cores = std::max(group.cores, mesh.cores);
    group.placesOfMaps[&mesh] = places;
}

} // namespace

AgentLayout agentLayout(const ir::Program& program, const chip::Chip& chip,
                        const std::vector<cost::BlockGrid>& grids)
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
        addPlaces(*group, chip, operation, grids);
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
