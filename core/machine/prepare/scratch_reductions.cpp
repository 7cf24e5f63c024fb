#include "core/machine/prepare/scratch_reductions.h"

#include "core/cost/block_grid.h"

namespace pallascope::machine {

using ir::OpCode;

namespace {

void collect(const ir::Program& program, const ir::Region& region,
             std::set<const ir::Operation*>& found)
{
    std::set<std::int32_t> repeated; // values that are one number in all places
    forEachOperation(region, [&](const ir::Operation& operation) {
        const auto elements = [&](ir::ValueId value) {
            return program.type(value).shape.elements();
        };
        if (operation.code == OpCode::BroadcastInDim && elements(operation.operands[0]) == 1) {
            repeated.insert(operation.results[0].index);
        } else if (cost::usesReductionScratch(operation.code)
                   && program.type(operation.results[0]).shape.rank() == 0
                   && elements(operation.operands[0]) > 1
                   && !repeated.contains(operation.operands[0].index)) {
            found.insert(&operation);
        }
    });
}

} // namespace

std::set<const ir::Operation*> scratchReductions(const ir::Program& program, const chip::Chip& chip)
{
    std::set<const ir::Operation*> found;
    if (!chip.multiprocessor) {
        return found;
    }
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        const auto* mesh = std::get_if<ir::CoreMapParams>(&operation.params);
        if (mesh != nullptr && mesh->cores > 1) {
            collect(program, operation.regions[0], found);
        }
    });
    return found;
}

} // namespace pallascope::machine
