#include "core/analysis/block_grids.h"

#include "core/base/shape.h"

#include <nlohmann/json.hpp>

namespace pallascope::analysis {

std::string gridJson(const cost::BlockGrid& grid, const std::string& source)
{
    nlohmann::ordered_json allowed = nlohmann::ordered_json::object(),
                           limits = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < cost::kOccupancyLimitNames.size(); ++i) {
        allowed[std::string(cost::kOccupancyLimitNames[i])] = grid.occupancy.allowed[i];
    }
    for (const cost::OccupancyLimit limit : grid.occupancy.limits) {
        limits.push_back(cost::kOccupancyLimitNames[static_cast<std::size_t>(limit)]);
    }
    return nlohmann::ordered_json{
        {"source", source.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(source)},
        {"threads", grid.block.threads},
        {"warpgroups", ceilDiv(grid.block.threads, chip::kWarpgroupThreads)},
        {"shared_bytes", grid.shared.total().value()},
        {"barriers", grid.shared.barriers},
        {"registers_per_thread", grid.block.registersPerThread},
        {"registers_assumed", grid.assumesRegisters},
        {"blocks_per_sm", grid.occupancy.blocks},
        {"warps_per_sm", grid.occupancy.warps},
        {"limited_by", std::move(limits)},
        {"allowed_blocks", std::move(allowed)},
        {"blocks", grid.blocks},
        {"blocks_at_a_time", grid.waves.atATime},
        {"waves", grid.waves.waves},
        {"last_wave_blocks", grid.waves.last}}
        .dump();
}

std::string gridText(const cost::BlockGrid& grid)
{
    std::string text;
    for (const std::string& line : cost::linesOf(grid)) {
        text += (text.empty() ? "blocks  " : "\n        ") + line;
    }
    return text;
}

} // namespace pallascope::analysis
