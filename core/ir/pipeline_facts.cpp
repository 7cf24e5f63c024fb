#include "core/ir/pipeline_facts.h"

#include "core/base/check.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace pallascope::ir {

namespace {

// The grid axes (as positions of the map's arguments) that the results of an index map depend on.
std::set<std::int32_t> axesUsed(const Region& map)
{
    std::map<ValueId, std::set<std::int32_t>> from;
    for (std::size_t axis = 0; axis < map.arguments.size(); ++axis) {
        from[map.arguments[axis]] = {static_cast<std::int32_t>(axis)};
    }
    for (const Operation& operation : map.operations) {
        std::set<std::int32_t> axes;
        for (const ValueId operand : operation.operands) {
            axes.insert(from[operand].begin(), from[operand].end());
        }
        for (const ValueId result : operation.results) {
            from[result] = axes;
        }
    }
    std::set<std::int32_t> used;
    for (const ValueId result : map.results) {
        used.insert(from[result].begin(), from[result].end());
    }
    return used;
}

bool readsRef(const Region& map)
{
    return std::any_of(map.operations.begin(), map.operations.end(), [](const Operation& step) {
        return !step.operands.empty() && isRead(roleOf(step, 0));
    });
}

// emit_pipeline does not shift by an Element's padding; pallas_call does.
std::vector<BlockDim> effectiveDims(const BlockSpec& spec, PipelineOrigin origin)
{
    std::vector<BlockDim> dims = spec.block;
    for (BlockDim& dim : dims) {
        if (origin == PipelineOrigin::EmitPipeline) {
            dim.padLow = dim.padHigh = 0;
        }
    }
    return dims;
}

bool isTrivial(const BlockSpec& spec, const Shape& array, const Region& map,
               const std::vector<Extent>& grid)
{
    for (std::size_t axis = 0; axis < spec.block.size(); ++axis) {
        if (spec.block[axis].kind != BlockKind::Blocked || spec.block[axis].size != array[axis]) {
            return false;
        }
    }
    const std::set<std::int32_t> used = axesUsed(map);
    return !readsRef(map) && std::none_of(used.begin(), used.end(), [&](std::int32_t axis) {
        return grid[static_cast<std::size_t>(axis)] != 1;
    });
}

} // namespace

std::optional<Schedule> scheduleFromName(std::string_view name)
{
    constexpr std::array<std::string_view, 4> kNames{"0.9", "0.10", "0.11", "0.12"};
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    return found == kNames.end() ? std::nullopt
                                 : std::optional(static_cast<Schedule>(found - kNames.begin()));
}

OperandFacts operandFacts(const Program& program, const Operation& pipeline, std::size_t operand)
{
    const auto& params = std::get<PipelineParams>(pipeline.params);
    const Schedule schedule = scheduleFromName(params.schedule).value_or(Schedule::Jax0_12);
    const BlockSpec& spec = params.specs[operand];
    const Type& type = program.type(pipeline.operands[operand]);
    const Shape& array = type.shape;
    const Region& map = pipeline.regions[operand + 1];
    OperandFacts facts;
    facts.unbuffered = type.space == program.type(pipeline.regions[0].arguments[operand]).space;
    facts.trivial = !facts.unbuffered && schedule > Schedule::Jax0_9 && !params.noPipelining
                    && isTrivial(spec, array, map, params.grid);
    const bool both = spec.direction == BlockDirection::InOut;
    facts.inCount = spec.direction == BlockDirection::Out ? 0 : spec.inBuffers;
    facts.outCount = spec.direction == BlockDirection::In ? 0 : spec.outBuffers;
    facts.slots = facts.inCount + facts.outCount - (both ? 1 : 0);
    facts.outLag = std::max(facts.outCount - 1, 1);
    // One set of slots serves both directions, and write-backs lag by one step.
    if (schedule < Schedule::Jax0_12) {
        facts.outLag = 1;
        if (both) {
            facts.outCount = facts.slots = facts.inCount;
        }
    }
    if (facts.trivial || params.noPipelining) {
        facts.slots = 1;
    }
    if (facts.unbuffered) {
        facts.inCount = facts.outCount = facts.slots = 0;
    }
    facts.lookahead = spec.lookahead;
    facts.prefetched = spec.prefetched;
    facts.wrapsPrologue = schedule < Schedule::Jax0_11;
    facts.countsWaits = spec.lookahead && schedule == Schedule::Jax0_12;
    facts.dims = effectiveDims(spec, params.origin);
    std::size_t result = 0;
    for (std::size_t axis = 0; axis < facts.dims.size(); ++axis) {
        facts.blockCounts.push_back(positionCount(facts.dims[axis], array[axis]));
        if (facts.dims[axis].kind == BlockKind::Indirect) {
            facts.indirectAxis = static_cast<std::int32_t>(axis);
        }
        const auto argument =
            std::find(map.arguments.begin(), map.arguments.end(), map.results[result]);
        facts.gridAxes.push_back(argument == map.arguments.end()
                                     ? -1
                                     : static_cast<std::int32_t>(argument - map.arguments.begin()));
        result += facts.dims[axis].kind == BlockKind::BoundedSlice ? 2U : 1U;
    }
    return facts;
}

Extent positionCount(const BlockDim& dim, Extent extent)
{
    switch (dim.kind) {
    case BlockKind::Blocked:
        return ceilDiv(extent, dim.size);
    case BlockKind::Squeezed:
        return extent;
    case BlockKind::Element:
        return dim.padLow + extent;
    case BlockKind::BoundedSlice:
        return extent * dim.size;
    case BlockKind::Indirect:
        return kMostIndices;
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

AxisWindow windowAt(const BlockDim& dim, Extent extent, Extent position)
{
    switch (dim.kind) {
    case BlockKind::Blocked:
        return {position * dim.size, dim.size};
    case BlockKind::Squeezed:
        return {position, 1};
    case BlockKind::Element:
        return {position - dim.padLow, dim.size};
    case BlockKind::BoundedSlice:
        return {position / dim.size, position % dim.size + 1};
    case BlockKind::Indirect:
        return {0, extent};
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

std::optional<Extent> positionOf(const BlockDim& dim, Extent extent, std::int64_t index,
                                 std::int64_t size)
{
    const bool bounded = dim.kind == BlockKind::BoundedSlice;
    if (index < 0 || (bounded && (size < 1 || size > dim.size || index >= extent))) {
        return std::nullopt;
    }
    const Extent position = bounded ? index * dim.size + size - 1 : index;
    const bool before = dim.kind == BlockKind::Element && index + dim.size <= dim.padLow;
    return before || position >= positionCount(dim, extent) ? std::nullopt
                                                            : std::optional(position);
}

Shape refShape(const std::vector<BlockDim>& block)
{
    std::vector<Extent> extents;
    for (const BlockDim& dim : block) {
        if (dim.kind != BlockKind::Squeezed) {
            extents.push_back(dim.size);
        }
    }
    return Shape(extents);
}

bool hasIndirect(const BlockSpec& spec)
{
    return std::any_of(spec.block.begin(), spec.block.end(),
                       [](const BlockDim& dim) { return dim.kind == BlockKind::Indirect; });
}

std::size_t indexCount(const BlockSpec& spec)
{
    return spec.block.size()
           + static_cast<std::size_t>(
               std::count_if(spec.block.begin(), spec.block.end(), [](const BlockDim& dim) {
                   return dim.kind == BlockKind::BoundedSlice;
               }));
}

std::int64_t stepCount(const std::vector<Extent>& grid)
{
    std::int64_t steps = 1;
    for (const Extent extent : grid) {
        steps *= extent == kDynamicExtent ? 1 : extent;
    }
    return steps;
}

std::vector<const Operation*> pipelinesOf(const Program& program)
{
    std::vector<const Operation*> pipelines;
    forEachOperation(program.body, [&](const Operation& operation) {
        if (operation.code == OpCode::Pipeline) {
            pipelines.push_back(&operation);
        }
    });
    return pipelines;
}

} // namespace pallascope::ir
