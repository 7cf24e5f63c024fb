#include "core/machine/prepare/agent_layout.h"

#include "core/base/check.h"
#include "core/ir/mesh.h"

#include <algorithm>

namespace pallascope::machine {

// The first `places % starts` starts have one place more than the others.
std::int32_t AgentGroup::before(std::int32_t place) const
{
    const std::int32_t start = place % starts();
    return start * (places / starts()) + std::min(start, places % starts()) + inSlot(place);
}

std::int32_t AgentGroup::placeAt(std::int32_t before) const
{
    const std::int32_t each = places / starts(), fuller = places % starts();
    const std::int32_t inFuller = fuller * (each + 1);
    const bool isFuller = before < inFuller;
    const std::int32_t number = isFuller ? before : before - inFuller;
    const std::int32_t size = isFuller ? each + 1 : each;
    return number % size * starts() + (isFuller ? 0 : fuller) + number / size;
}

std::int32_t AgentGroup::running(const ir::CoreMapParams& mesh) const
{
    std::int32_t last = 0;
    for (std::int32_t place = 0; place < placesOf(mesh); ++place) {
        last = std::max(last, before(place));
    }
    const bool hasWarps = cores > blockCores;
    return last * cores + (hasWarps ? cores : coresOf(mesh));
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
    // Of all core_maps the largest cluster says how far places are apart.
    const std::int64_t span = group.span;
    const std::int64_t starts =
        std::max<std::int64_t>(1, chip.agents[static_cast<std::size_t>(group.kind)].slots / span);
    const std::int64_t each = grid == grids.end() ? 1 : grid->occupancy.blocks;
    const std::int64_t blocks = ir::sizeOf(mesh.grid);
    const auto places = static_cast<std::int32_t>(std::min(starts * each, blocks));
    group.slots = std::max(group.slots, static_cast<std::int32_t>(std::min(starts, blocks) * span));
    group.places = std::max(group.places, places);
    group.blockCores = std::max(group.blockCores, coresOf(mesh));
    group.placesOfMaps[&mesh] = places;
}

// How many agents each warpgroup has: one for itself, which stands for the first warp at work, and
// one for each further warp.
std::int32_t warpsOf(const ir::Program& program)
{
    std::size_t most = 1;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code == ir::OpCode::WarpMap) {
            most = std::max(most, operation.regions.size());
        }
    });
    return static_cast<std::int32_t>(most);
}

std::int32_t spanOf(const ir::Program& program)
{
    std::int32_t most = 1;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (const auto* mesh = std::get_if<ir::CoreMapParams>(&operation.params)) {
            most = std::max(most, ir::sizeOf(mesh->cluster));
        }
    });
    return most;
}

} // namespace

AgentLayout agentLayout(const ir::Program& program, const chip::Chip& chip,
                        const std::vector<cost::BlockGrid>& grids)
{
    AgentLayout layout;
    layout.devices = ir::deviceCount(program);
    bool asks = false, usesTensorMemory = false;
    layout.groups.front().span = spanOf(program);
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        asks = asks || ir::opEntry(operation.code).kind == ir::OpKind::Request
               || operation.code == ir::OpCode::AsyncCopySmemToTmem
               || operation.code == ir::OpCode::Tcgen05CommitArrive;
        usesTensorMemory = usesTensorMemory || operation.code == ir::OpCode::Tcgen05Mma
                           || operation.code == ir::OpCode::AsyncCopySmemToTmem;
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
    const std::int32_t warps = warpsOf(program);
    for (AgentGroup& group : layout.groups) {
        group.cores = group.blockCores * warps;
        group.usesTensorMemory = usesTensorMemory;
    }
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
