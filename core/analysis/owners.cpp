#include "core/analysis/owners.h"

#include "core/trace/agents.h"

#include <algorithm>

namespace pallascope::analysis {

namespace {

// The SMs of one device that run blocks; 0 if it is not a GPU.
std::int64_t smsUsed(const trace::Info& info)
{
    std::int64_t used = 0;
    for (const trace::BlockGrid& grid : info.blockGrids) {
        if (grid.blocksPerSm > 0) {
            used = std::max(used, std::min(grid.blocks, grid.atATime / grid.blocksPerSm));
        }
    }
    return used;
}

} // namespace

std::int64_t agentsUsed(const trace::Info& info)
{
    std::int64_t agents = 0; // of the blocks that are there at a time
    for (const trace::BlockGrid& grid : info.blockGrids) {
        agents = std::max(agents, std::min(grid.blocks, grid.atATime) * grid.agents);
    }
    if (agents > 0) {
        return agents * info.deviceCount();
    }
    std::int32_t last = 0;
    for (const trace::Pipeline& pipeline : info.pipelines) {
        last = std::max(last, pipeline.agent);
    }
    for (const trace::Semaphore& semaphore : info.semaphores) {
        last = std::max(last, semaphore.agent);
    }
    return last + 1;
}

std::int64_t ownersOf(const trace::Info& info, const chip::Chip& chip, std::size_t unit)
{
    const auto has = [&](const chip::AgentKind& kind) {
        return std::any_of(kind.units.begin(), kind.units.end(), [&](std::int32_t owned) {
            return chip.units[static_cast<std::size_t>(owned)].name == info.units[unit].name;
        });
    };
    const bool isOwned = std::any_of(chip.agents.begin(), chip.agents.end(), has);
    // The agents of an SM share its units, however many blocks it runs.
    if (chip.agents.front().sharesUnits && has(chip.agents.front()) && smsUsed(info) > 0) {
        return smsUsed(info) * info.deviceCount();
    }
    const std::int64_t used = agentsUsed(info);
    std::int64_t owning = 0, known = 0;
    for (std::size_t agent = 0;
         agent < std::min(info.agents.size(), static_cast<std::size_t>(used)); ++agent) {
        const std::string name = trace::kindOfAgent(info.agents[agent]);
        const auto kind =
            std::find_if(chip.agents.begin(), chip.agents.end(),
                         [&](const chip::AgentKind& one) { return name.ends_with(one.name); });
        if (kind != chip.agents.end()) {
            ++known;
            owning += (isOwned ? has(*kind) : kind == chip.agents.begin()) ? 1 : 0;
        }
    }
    return known == 0 ? used : std::max<std::int64_t>(1, owning);
}

bool holdsVectors(const trace::Memory& memory)
{
    return memory.name != "HBM" && memory.name != "SMEM";
}

std::int32_t blockMemoryOf(const trace::Info& info, const chip::Chip& chip)
{
    const std::int32_t ofCores = info.links.front().to;
    const auto isThere = [&](const trace::Buffer& buffer) { return buffer.memory == ofCores; };
    if (chip.multiprocessor || std::any_of(info.buffers.begin(), info.buffers.end(), isThere)) {
        return ofCores;
    }
    std::int32_t found = ofCores;
    for (const trace::Buffer& buffer : info.buffers) {
        const trace::Memory& memory = info.memories[static_cast<std::size_t>(buffer.memory)];
        const bool isSmaller =
            found == ofCores
            || memory.capacity < info.memories[static_cast<std::size_t>(found)].capacity;
        found = holdsVectors(memory) && isSmaller ? buffer.memory : found;
    }
    return found;
}

const std::string& kindOf(const trace::Link& link)
{
    return link.kind.empty() ? link.name : link.kind;
}

} // namespace pallascope::analysis
