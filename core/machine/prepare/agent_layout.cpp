#include "core/machine/prepare/agent_layout.h"

#include "core/base/check.h"
#include "core/ir/mesh.h"

#include <algorithm>

namespace pallascope::machine {

// The first `places % slots` slots have one place more than the others.
std::int32_t AgentGroup::before(std::int32_t place) const
{
    const std::int32_t slot = slotOf(place);
    return slot * (places / slots) + std::min(slot, places % slots) + inSlot(place);
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

// No cluster lies on the last slot and the first one.
std::int32_t AgentGroup::placeOf(const ir::CoreMapParams& mesh, std::int32_t cluster) const
{
    const std::int32_t blocks = ir::sizeOf(mesh.cluster), starts = std::max(1, slots / blocks);
    return cluster / starts * slots + cluster % starts * blocks;
}

std::int32_t AgentGroup::running(const ir::CoreMapParams& mesh) const
{
    std::int32_t last = 0;
    for (std::int32_t cluster = 0; cluster < clustersOf(mesh); ++cluster) {
        for (std::int32_t block = 0; block < ir::sizeOf(mesh.cluster); ++block) {
            last = std::max(last, before(placeOf(mesh, cluster) + block));
        }
    }
    const bool hasWarps = cores > blockCores;
    return last * cores + (hasWarps ? cores : mesh.cores);
}

const AgentGroup& AgentLayout::groupOf(std::int32_t kind) const
{
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const AgentGroup& one) { return one.kind == kind; });
    PALLASCOPE_CHECK(group != groups.end());
    return *group;
}

namespace {

// Adds the slots and agents that a core_map needs. Places come when all slots are known.
void addMap(AgentGroup& group, const chip::Chip& chip, const ir::Operation& coreMap,
            const std::vector<cost::BlockGrid>& grids)
{
    const auto grid = std::find_if(grids.begin(), grids.end(), [&](const cost::BlockGrid& one) {
        return one.coreMap == &coreMap;
    });
    const auto& mesh = std::get<ir::CoreMapParams>(coreMap.params);
    const std::int64_t size = ir::sizeOf(mesh.cluster);
    const std::int64_t starts =
        std::max<std::int64_t>(1, chip.agents[static_cast<std::size_t>(group.kind)].slots / size);
    const std::int64_t each = grid == grids.end() ? 1 : grid->occupancy.blocks;
    const std::int64_t clusters = ir::sizeOf(mesh.grid);
    group.slots =
        std::max(group.slots, static_cast<std::int32_t>(std::min(starts, clusters) * size));
    group.blockCores = std::max(group.blockCores, mesh.cores);
    group.clustersOfMaps[&mesh] = static_cast<std::int32_t>(std::min(starts * each, clusters));
    group.blockStartOfMaps[&mesh] =
        chip.blockStart(grid == grids.end() || grid->shared.barriers > 0);
    if (grid != grids.end() && chip.multiprocessor->l1WithShared) {
        const std::int64_t blocks = std::min(each, ceilDiv(clusters, starts));
        const Bytes shared = cost::sharedTaken(grid->block, *chip.multiprocessor) * blocks;
        const Bytes all = *chip.multiprocessor->l1WithShared;
        group.l1OfMaps[&mesh] = all - std::min(all, shared);
    }
}

void addPlaces(AgentGroup& group)
{
    for (const auto& [mesh, clusters] : group.clustersOfMaps) {
        const std::int32_t last = group.placeOf(*mesh, clusters - 1) + ir::sizeOf(mesh->cluster);
        group.places = std::max(group.places, last);
    }
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

} // namespace

AgentLayout agentLayout(const ir::Program& program, const chip::Chip& chip,
                        const std::vector<cost::BlockGrid>& grids)
{
    AgentLayout layout;
    layout.devices = ir::deviceCount(program);
    bool asks = false, usesTensorMemory = false;
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
        addMap(*group, chip, operation, grids);
    });
    const std::int32_t warps = warpsOf(program);
    for (AgentGroup& group : layout.groups) {
        addPlaces(group);
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
