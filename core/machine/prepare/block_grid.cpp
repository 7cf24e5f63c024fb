#include "core/machine/block_grid.h"

#include "core/ir/mesh.h"

namespace pallascope::machine {

trace::BlockGrid recorded(const cost::BlockGrid& grid, trace::SourceLine source)
{
    const auto& mesh = std::get<ir::CoreMapParams>(grid.coreMap->params);
    trace::BlockGrid recorded{.source = source,
                              .threads = grid.block.threads,
                              .agents = mesh.cores,
                              .shared = grid.shared.total(),
                              .arrays = grid.shared.arrays,
                              .barriers = grid.shared.barriers,
                              .hasReductions = grid.shared.hasReductions,
                              .registers = grid.block.registersPerThread,
                              .assumesRegisters = grid.assumesRegisters,
                              .blocksPerSm = grid.occupancy.blocks,
                              .warpsPerSm = grid.occupancy.warps,
                              .warpsAtMost = grid.warpsAtMost,
                              .allowed = {},
                              .blocks = grid.blocks,
                              .extents = {},
                              .cluster = ir::sizeOf(mesh.cluster),
                              .atATime = grid.waves.atATime,
                              .waves = grid.waves.waves,
                              .last = grid.waves.last};
    for (const ir::MeshAxis& axis : mesh.grid) {
        recorded.extents.push_back(axis.size);
    }
    for (std::size_t i = 0; i < cost::kOccupancyLimitNames.size(); ++i) {
        if (const std::optional<std::int64_t> blocks = grid.occupancy.allowed[i]) {
            recorded.allowed.push_back({std::string(cost::kOccupancyLimitNames[i]), *blocks});
        }
    }
    return recorded;
}

} // namespace pallascope::machine
