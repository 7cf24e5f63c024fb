#include "core/cost/block_grid.h"

#include "core/base/format.h"
#include "core/base/shape.h"
#include "core/cost/left_out.h"
#include "core/cost/live_registers.h"
#include "core/cost/product_operands.h"
#include "core/cost/scope_sum.h"
#include "core/cost/tensor_memory.h"
#include "core/ir/mesh.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace pallascope::cost {

namespace {

// Barriers of scopes that follow each other are shared if they are alike: as many of them, which
// as many arrivals complete. Counted by (arrivals, barriers).
using Barriers = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

struct Need
{
    Bytes arrays;
    Barriers barriers;
    bool hasReductions = false;

    // Both at the same time.
    void add(const Need& other)
    {
        arrays += other.arrays;
        for (const auto& [alike, count] : other.barriers) {
            barriers[alike] += count;
        }
        hasReductions = hasReductions || other.hasReductions;
    }

    // One after the other.
    void follow(const Need& other)
    {
        arrays = std::max(arrays, other.arrays);
        for (const auto& [alike, count] : other.barriers) {
            barriers[alike] = std::max(barriers[alike], count);
        }
        hasReductions = hasReductions || other.hasReductions;
    }
};

Bytes rounded(Bytes bytes)
{
    return Bytes(alignTo(bytes.value(), kSharedGranule.value()));
}

Need needOfScope(const ir::Program& program, const ir::Operation& scope)
{
    const auto* params = std::get_if<ir::ScopedParams>(&scope.params);
    const std::int64_t blocks = sharingBlocks(params);
    Need need;
    ScopeSum<Bytes> arrays(params);
    const std::vector<ir::ValueId>& refs = scope.regions[0].arguments;
    for (std::size_t i = 0; i < refs.size(); ++i) {
        const ir::Type& type = program.type(refs[i]);
        if (*type.space == ir::MemorySpace::Smem) {
            arrays.add(i, rounded(packedBytes(type.dtype, type.shape.elements() / blocks)));
        } else if (*type.space == ir::MemorySpace::Barrier
                   && (params == nullptr || !params->named)) {
            const std::int64_t arrivals =
                params != nullptr && i < params->arrivals.size() ? params->arrivals[i] : 0;
            ++need.barriers[{arrivals, type.shape.elements() / blocks}];
        }
    }
    need.arrays = arrays.total();
    return need;
}

// What a region needs. `operands` are given for kernels of Triton, `outer` in a loop.
Need needOf(const ir::Program& program, const ir::Region& region, const ProductOperands* operands,
            const ir::Operation* outer = nullptr)
{
    Need need;
    for (const ir::Operation& operation : region.operations) {
        if (operands == nullptr && usesReductionScratch(operation.code)) {
            need.follow({kReductionScratch, {}, true});
            continue;
        }
        if (operands != nullptr && operation.code == ir::OpCode::DotGeneral) {
            need.follow({rounded(operands->beside(operation, region)), {}, false});
        }
        const bool isLoop =
            operation.code == ir::OpCode::Scan || operation.code == ir::OpCode::While;
        for (const ir::Region& inner : operation.regions) {
            Need nested;
            if (operation.code == ir::OpCode::RunScoped) {
                nested = needOfScope(program, operation);
            } else if (operands != nullptr && isLoop) {
                nested.arrays = rounded(operands->before(operation, outer));
            }
            const ir::Operation* around = outer == nullptr && isLoop ? &operation : outer;
            nested.add(needOf(program, inner, operands, around));
            need.follow(nested);
        }
    }
    return need;
}

std::vector<const ir::Operation*> coreMapsOf(const ir::Program& program)
{
    std::vector<const ir::Operation*> found;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code == ir::OpCode::CoreMap) {
            found.push_back(&operation);
        }
    });
    return found;
}

} // namespace

bool usesReductionScratch(ir::OpCode code)
{
    return code == ir::OpCode::ReduceSum || code == ir::OpCode::ReduceMax
           || code == ir::OpCode::ReduceMin || code == ir::OpCode::ReduceProd;
}

Bytes BlockShared::total() const
{
    return arrays + kBarrierBytes * barriers;
}

std::int64_t threadsOf(const ir::CoreMapParams& mesh)
{
    return std::int64_t{mesh.cores} * mesh.threads;
}

namespace {

BlockShared blockShared(const ir::Program& program, const ir::Operation& coreMap,
                        const OperandSources& sources)
{
    const bool isTriton = std::get<ir::CoreMapParams>(coreMap.params).compiler == ir::kTriton;
    const ProductOperands operands(program, sources);
    const Need need = needOf(program, coreMap.regions[0], isTriton ? &operands : nullptr);
    BlockShared shared{need.arrays, 0, need.hasReductions};
    for (const auto& [alike, count] : need.barriers) {
        shared.barriers += alike.second * count;
    }
    return shared;
}

// Of an SM's TMEM, which its blocks share.
std::int64_t tensorColumnsOf(const chip::Chip& chip)
{
    const std::optional<std::int32_t> memory = chip.memoryIndex("TMEM");
    return memory
               ? chip.memories[static_cast<std::size_t>(*memory)].bytes.value() / kTensorColumnBytes
               : 0;
}

} // namespace

std::vector<BlockGrid> blockGrids(const ir::Program& program, const chip::Chip& chip,
                                  std::optional<std::int64_t> registers)
{
    std::vector<BlockGrid> grids;
    if (!chip.multiprocessor) {
        return grids;
    }
    const chip::Multiprocessor& sm = *chip.multiprocessor;
    const LeftOut leftOut(program, chip);
    for (const ir::Operation* coreMap : coreMapsOf(program)) {
        const auto& mesh = std::get<ir::CoreMapParams>(coreMap->params);
        BlockGrid grid{.coreMap = coreMap,
                       .shared = blockShared(program, *coreMap, leftOut.sources())};
        grid.block.threads = threadsOf(mesh);
        grid.assumesRegisters = !registers || *registers == kMostRegisters;
        const std::int64_t most = mostRegisters(grid.block.threads, sm);
        if (grid.assumesRegisters) {
            grid.block.registersPerThread =
                registers ? most : liveRegisters(program, *coreMap, leftOut, most);
        } else {
            grid.block.registersPerThread = *registers;
        }
        grid.warpsAtMost = sm.warps();
        grid.block.shared = grid.shared.total();
        grid.block.tensorColumns = blockColumns(program, coreMap->regions[0]);
        grid.occupancy = occupancy(grid.block, sm, tensorColumnsOf(chip));
        const std::int64_t cluster = ir::sizeOf(mesh.cluster);
        grid.blocks = ir::sizeOf(mesh.grid) * cluster;
        grid.waves = waves(grid.blocks, chip.agents.front().slots / cluster * cluster,
                           grid.occupancy.blocks);
        grids.push_back(std::move(grid));
    }
    return grids;
}

namespace {

Status checkRegisters(const chip::Chip& chip, std::int64_t registers)
{
    const std::vector<About> subject{{Subject::Setting, "registers"}};
    if (!chip.multiprocessor) {
        return userError("The setting registers says how many a thread of a GPU has, which "
                             + chip.title + " is not.",
                         subject);
    }
    const std::int64_t most = chip.multiprocessor->registersPerThread;
    if (registers != kMostRegisters && (registers < 1 || registers > most)) {
        return userError("The setting registers is " + std::to_string(registers)
                             + "; expected estimate, most or 1 to " + std::to_string(most) + ".",
                         subject);
    }
    return Done{};
}

} // namespace

Status checkBlocks(const ir::Program& program, const chip::Chip& chip,
                   std::optional<std::int64_t> registers)
{
    if (registers) {
        if (Status status = checkRegisters(chip, *registers); !status) {
            return status;
        }
    }
    for (const BlockGrid& grid : blockGrids(program, chip, registers)) {
        const chip::Multiprocessor& sm = *chip.multiprocessor;
        const std::string where = program.where(grid.coreMap->location);
        if (grid.block.threads > sm.threadsPerBlock) {
            return limitError(where + ": a block of " + program.name + " has "
                              + countText(grid.block.threads / chip::kWarpgroupThreads)
                              + " warpgroups (" + countText(grid.block.threads) + " threads); "
                              + chip.title + " takes "
                              + countText(sm.threadsPerBlock / chip::kWarpgroupThreads) + " ("
                              + countText(sm.threadsPerBlock) + ").");
        }
        if (grid.block.shared > sm.sharedPerBlock) {
            return limitError(where + ": a block of " + program.name + " needs "
                              + countText(grid.block.shared.value()) + " bytes of shared memory; "
                              + chip.title + " has " + countText(sm.sharedPerBlock.value())
                              + " for a block. Fewer slots or smaller tiles need less.");
        }
        if (grid.occupancy.blocks == 0) {
            return limitError(where + ": with " + countText(grid.block.registersPerThread)
                              + " registers a thread, a block of " + program.name + " with "
                              + countText(grid.block.threads) + " threads does not fit; "
                              + chip.title + " has " + countText(sm.registers) + " in an SM, so "
                              + countText(mostRegisters(grid.block.threads, sm))
                              + " a thread are the most.");
        }
    }
    return Done{};
}

} // namespace pallascope::cost
