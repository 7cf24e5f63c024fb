// Works out what is known about a pipeline's operand before any run.
#include "core/base/format.h"
#include "core/cost/budget.h"
#include "core/cost/tiling.h"
#include "core/machine/prepare/pipeline_operand.h"

namespace pallascope::machine {

namespace {

// emit_pipeline cuts the copy of an overhanging block to whole tiles, so such blocks must consist
// of whole tiles.
Status checkOverhang(const ir::Program& program, const ir::BlockSpec& spec,
                     const OperandPlan& operand, ir::PipelineOrigin origin)
{
    for (std::size_t axis = 0; axis < spec.block.size(); ++axis) {
        const Extent size = spec.block[axis].size;
        if (ir::overhangs(spec.block[axis], operand.array[axis]) && size % operand.tile[axis] != 0
            && origin == ir::PipelineOrigin::EmitPipeline) {
            return userError(program.where(spec.location) + ": the block of " + spec.name + " has "
                             + std::to_string(size) + " elements on axis " + std::to_string(axis)
                             + " of " + std::to_string(operand.array[axis])
                             + ", so its last block overhangs; expected a block that divides the "
                               "axis, or a multiple of "
                             + std::to_string(operand.tile[axis]) + " (the tile of "
                             + std::string(dtypeName(operand.dtype)) + ").");
        }
    }
    return Done{};
}

} // namespace

Result<std::shared_ptr<const OperandPlan>> planOperand(const ir::Program& program,
                                                       const ir::Operation& pipeline,
                                                       std::size_t index, const chip::Chip& chip,
                                                       const WritesTo& writesTo)
{
    const auto& params = std::get<ir::PipelineParams>(pipeline.params);
    auto operand = std::make_shared<OperandPlan>(program, pipeline, index, writesTo);
    operand->spec = &params.specs[index];
    operand->blockRef = pipeline.regions[0].arguments[index];
    const ir::Type& array = program.type(pipeline.operands[index]);
    operand->array = array.shape;
    operand->dtype = array.dtype;
    operand->blockShape = program.type(operand->blockRef).shape;
    if (operand->facts.unbuffered) {
        return std::shared_ptr<const OperandPlan>(std::move(operand));
    }
    const Result<std::int32_t> from = cost::memoryOf(*array.space, chip);
    const Result<std::int32_t> to = cost::memoryOf(*program.type(operand->blockRef).space, chip);
    if (!from || !to) {
        return from ? to.error() : from.error();
    }
    const std::optional<std::int32_t> linkIn = chip.linkBetween(*from, *to);
    const std::optional<std::int32_t> linkOut = chip.linkBetween(*to, *from);
    if (!linkIn || !linkOut) {
        return userError("The chip " + chip.title + " has no link between "
                         + chip.memories[static_cast<std::size_t>(*from)].name + " and "
                         + chip.memories[static_cast<std::size_t>(*to)].name + ", which "
                         + operand->spec->name + " needs.");
    }
    operand->linkIn = *linkIn;
    operand->linkOut = *linkOut;
    operand->tile =
        cost::tiling(array.dtype, array.shape, chip.memories[static_cast<std::size_t>(*to)].tile);
    operand->exactSlices = ir::scheduleFromName(params.schedule) < ir::Schedule::Jax0_11;
    if (Status status = checkOverhang(program, *operand->spec, *operand, params.origin); !status) {
        return status.error();
    }
    if (operand->facts.outCount > 0 && !operand->facts.isIndirect()) {
        constexpr std::int64_t kMostBlocks = 1 << 24;
        operand->blocks = Shape(operand->facts.blockCounts).elements();
        if (operand->blocks > kMostBlocks) {
            return limitError(operand->spec->name + " has " + countText(operand->blocks)
                              + " blocks; the model keeps track of " + countText(kMostBlocks)
                              + " at most.");
        }
    }
    bool even = true;
    operand->tiles = true;
    for (std::size_t axis = 0; axis < operand->array.rank(); ++axis) {
        const ir::BlockDim& dim = operand->facts.dims[axis];
        operand->tiles =
            operand->tiles
            && (dim.kind == ir::BlockKind::Blocked || dim.kind == ir::BlockKind::Squeezed);
        even = even && operand->array[axis] % dim.size == 0;
    }
    if (even && operand->tiles) {
        operand->everyCopy = operand->copyBytes(0);
    }
    return std::shared_ptr<const OperandPlan>(std::move(operand));
}

} // namespace pallascope::machine
