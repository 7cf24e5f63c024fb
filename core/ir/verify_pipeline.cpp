#include "core/ir/verify_pipeline.h"

#include "core/ir/pipeline_facts.h"

#include <algorithm>

namespace pallascope::ir {

namespace {

Status checkGrid(const Program& program, const Operation& pipeline, const PipelineParams& params)
{
    std::int64_t steps = 1;
    std::size_t operand = params.specs.size();
    for (const Extent extent : params.grid) {
        if (extent == kDynamicExtent) {
            const Type& type = program.type(pipeline.operands[operand++]);
            if (type != Type{DType::Int32, Shape{}, {}}) {
                return userError("a dynamic grid axis is " + toString(type)
                                 + "; expected an int32 scalar.");
            }
            continue;
        }
        // In JAX, emit_pipeline refuses an empty grid, and pallas_call runs nothing for it.
        const Extent least = params.origin == PipelineOrigin::EmitPipeline ? 1 : 0;
        if (extent < least) {
            return userError("pipeline has a grid axis of " + std::to_string(extent)
                             + " steps; expected " + std::to_string(least) + " or more.");
        }
        if (__builtin_mul_overflow(steps, extent, &steps)) {
            return userError("pipeline has a grid of more than 2^63 steps.");
        }
    }
    return Done{};
}

Status checkBlock(const BlockSpec& spec, const Type& array, PipelineOrigin origin)
{
    const std::string who = "The block spec of " + spec.name;
    if (spec.block.size() != array.shape.rank()) {
        return userError(who + " has " + std::to_string(spec.block.size())
                         + " dimensions, its array " + toString(Type{array.dtype, array.shape, {}})
                         + " has " + std::to_string(array.shape.rank()) + ".");
    }
    bool element = false, blocked = false;
    __int128 positions = 1; // the number of places that a block can take
    constexpr __int128 kMostPositions = __int128{1} << 62;
    for (const BlockDim& dim : spec.block) {
        if (dim.size < 1 || (dim.kind == BlockKind::Squeezed && dim.size != 1)) {
            return userError(who + " has a block of " + std::to_string(dim.size)
                             + " elements; expected 1 or more, and 1 for a squeezed axis.");
        }
        if (dim.padLow < 0 || dim.padHigh < 0
            || (dim.kind != BlockKind::Element && dim.padLow + dim.padHigh > 0)) {
            return userError(who + " is padded by (" + std::to_string(dim.padLow) + ", "
                             + std::to_string(dim.padHigh)
                             + "); Element axes have a padding of 0 or more, others none.");
        }
        constexpr Extent kMostPadding = Extent{1} << 40;
        if (std::max(dim.padLow, dim.padHigh) > kMostPadding) {
            return userError(who + " is padded by more than 2^40 elements.");
        }
        if (dim.kind == BlockKind::BoundedSlice && origin == PipelineOrigin::PallasCall) {
            return userError(who + " has a BoundedSlice axis, which emit_pipeline alone takes.");
        }
        const Extent extent = array.shape[static_cast<std::size_t>(&dim - spec.block.data())];
        const bool bounded = dim.kind == BlockKind::BoundedSlice;
        const __int128 here = bounded ? static_cast<__int128>(extent) * dim.size
                              : dim.kind == BlockKind::Indirect
                                  ? kMostIndices
                                  : static_cast<__int128>(dim.padLow) + extent;
        positions = std::min(kMostPositions, positions * here);
        if (positions >= kMostPositions) {
            return userError(
                who + " can take 2^62 places or more in its array; use a smaller array or block.");
        }
        element = element || dim.kind == BlockKind::Element;
        blocked = blocked || dim.kind == BlockKind::Blocked;
    }
    if (element && blocked && origin == PipelineOrigin::PallasCall) {
        return userError(who
                         + " mixes Element and blocked axes; in a pallas_call all block "
                           "dimensions are Elements or none of them.");
    }
    return Done{};
}

// What JAX's emit_pipeline (jax/_src/pallas/mosaic/pipeline.py) refuses in Indirect blocks:
// in-flight predicates that are arrays, and two gathered axes.
Status checkIndirect(const BlockSpec& spec, PipelineOrigin origin, Schedule schedule,
                     bool isUnbuffered)
{
    const std::string who = "The block spec of " + spec.name;
    const auto axes = std::count_if(spec.block.begin(), spec.block.end(), [](const BlockDim& dim) {
        return dim.kind == BlockKind::Indirect;
    });
    if (axes == 0) {
        return Done{};
    }
    if (origin == PipelineOrigin::PallasCall || schedule == Schedule::Jax0_9) {
        return userError(who
                         + " has an Indirect axis, which emit_pipeline of JAX 0.10 or later alone "
                           "takes.");
    }
    if (axes > 1) {
        return userError(who + " has " + std::to_string(axes)
                         + " Indirect axes; expected at most one.");
    }
    const auto large = std::find_if(spec.block.begin(), spec.block.end(), [](const BlockDim& dim) {
        return dim.kind == BlockKind::Indirect && dim.size > kMostMapElements;
    });
    if (large != spec.block.end()) {
        return userError(who + " has an Indirect axis of " + std::to_string(large->size)
                         + " elements; expected at most " + std::to_string(kMostMapElements) + ".");
    }
    const std::int32_t buffers = spec.direction == BlockDirection::Out ? 1 : spec.inBuffers;
    if (buffers > 2 || spec.lookahead) {
        return userError(who
                         + " has an Indirect axis, with which an input has 1 or 2 buffers and no "
                           "lookahead.");
    }
    if (isUnbuffered) {
        return userError(who
                         + " has an Indirect axis, but its array is in the memory of its blocks, "
                           "so that nothing is copied; put the array into another memory.");
    }
    return Done{};
}

Status checkBuffers(const BlockSpec& spec, PipelineOrigin origin, Schedule schedule,
                    const std::string& version)
{
    const std::string who = "The block spec of " + spec.name;
    const bool isIn = spec.direction != BlockDirection::Out,
               isOut = spec.direction != BlockDirection::In;
    constexpr std::int32_t kMost = 1024; // a trace names each slot
    const auto among = [](std::int32_t count, std::int32_t least, std::int32_t most) {
        return least <= count && count <= most;
    };
    if ((isIn && !among(spec.inBuffers, 1, kMost))
        || (isOut && !among(spec.outBuffers, 1, kMost))) {
        return userError(who + " asks for "
                         + std::to_string(isIn ? spec.inBuffers : spec.outBuffers)
                         + " buffers; expected 1 to 1024.");
    }
    if (origin == PipelineOrigin::PallasCall
        && ((isIn && spec.inBuffers > 2) || (isOut && spec.outBuffers > 2))) {
        return userError(who + " asks for "
                         + std::to_string(isIn ? spec.inBuffers : spec.outBuffers)
                         + " buffers; a pallas_call has 1 or 2, emit_pipeline any number.");
    }
    if (spec.lookahead && (!isIn || origin == PipelineOrigin::PallasCall || spec.inBuffers < 2)) {
        return userError(who
                         + " asks for lookahead, which inputs of an emit_pipeline with two "
                           "buffers or more have.");
    }
    if (spec.prefetched < 0
        || (spec.prefetched > 0 && (!isIn || spec.prefetched > spec.inBuffers))) {
        return userError(who + " has " + std::to_string(spec.prefetched)
                         + " slots filled by the caller; an input has at most its "
                         + std::to_string(spec.inBuffers) + " buffers.");
    }
    if (spec.restores && (origin != PipelineOrigin::PallasCall || isIn || spec.outBuffers != 1)) {
        return userError(who
                         + " restores revisited blocks (RevisitMode.ANY), which outputs of a "
                           "pallas_call with one buffer can.");
    }
    if (schedule < Schedule::Jax0_12 && isOut && !isIn && spec.outBuffers > 2) {
        return userError(who + " asks for " + std::to_string(spec.outBuffers)
                         + " output buffers; the schedule of JAX " + version
                         + " has 1 or 2, that of 0.12 any number.");
    }
    if (schedule < Schedule::Jax0_11 && spec.prefetched > 0) {
        return userError(who + " has slots filled by the caller, which the schedule of JAX "
                         + version + " lacks; use 0.11 or later.");
    }
    if (schedule == Schedule::Jax0_9 && isIn && spec.inBuffers < 2) {
        return userError(who
                         + " asks for one input buffer; the schedule of JAX 0.9 has two or "
                           "more.");
    }
    return Done{};
}

} // namespace

Status checkPipeline(const Program& program, const Operation& pipeline)
{
    const auto& params = std::get<PipelineParams>(pipeline.params);
    const std::optional<Schedule> schedule = scheduleFromName(params.schedule);
    if (!schedule) {
        return userError("pipeline follows the schedule \"" + params.schedule
                         + "\"; expected 0.9, 0.10, 0.11 or 0.12.");
    }
    if (Status status = checkGrid(program, pipeline, params); !status) {
        return status;
    }
    for (std::size_t i = 0; i < params.parallel.size(); ++i) {
        const auto axis = static_cast<std::size_t>(params.parallel[i]);
        if (axis >= params.grid.size() || (i > 0 && params.parallel[i] <= params.parallel[i - 1])) {
            return userError("pipeline has parallel axis " + std::to_string(params.parallel[i])
                             + " in a grid of " + std::to_string(params.grid.size())
                             + "; expected rising numbers of its axes.");
        }
    }
    if ((!params.coreAxis.empty() || !params.blockAxes.empty()) && params.parallel.empty()) {
        return userError("pipeline shares its grid over cores but has no parallel axis.");
    }
    for (std::size_t i = 0; i < params.specs.size(); ++i) {
        const BlockSpec& spec = params.specs[i];
        const Type& array = program.type(pipeline.operands[i]);
        const Type& block = program.type(pipeline.regions[0].arguments[i]);
        if (!array.isRef() || !block.isRef()) {
            return userError("The operand " + spec.name + " of a pipeline is " + toString(array)
                             + "; expected a ref.");
        }
        if (isSemaphore(*array.space) || isSemaphore(*block.space)) {
            return userError("The operand " + spec.name
                             + " of a pipeline is of semaphores, which "
                               "have no blocks; its body may use them as they are.");
        }
        if (Status status = checkBlock(spec, array, params.origin); !status) {
            return status;
        }
        if (Status status = checkBuffers(spec, params.origin, *schedule, params.schedule);
            !status) {
            return status;
        }
        if (Status status =
                checkIndirect(spec, params.origin, *schedule, array.space == block.space);
            !status) {
            return status;
        }
        const Shape shape = refShape(spec.block);
        if (block.dtype != array.dtype || block.shape != shape) {
            return userError("The block ref of " + spec.name + " is typed " + toString(block)
                             + ", its spec cuts " + toString(Type{array.dtype, shape, {}}) + ".");
        }
        if (*schedule == Schedule::Jax0_9 && params.origin == PipelineOrigin::EmitPipeline
            && array.shape.rank() < 2) {
            return userError("The operand " + spec.name + " is " + toString(array)
                             + "; emit_pipeline of JAX 0.9 takes arrays of rank 2 or more.");
        }
    }
    return Done{};
}

} // namespace pallascope::ir
