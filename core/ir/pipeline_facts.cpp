#include "core/ir/pipeline_facts.h"

#include <algorithm>
#include <map>
#include <set>

namespace pallascope::ir {

namespace {

// The grid axes (positions of the map's arguments) that a map's results depend on.
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
    return std::any_of(map.operations.begin(), map.operations.end(),
                       [](const Operation& operation) { return operation.code == OpCode::Get; });
}

bool isTrivial(const BlockSpec& spec, const Shape& array, const Region& map,
               const std::vector<Extent>& grid)
{
    for (std::size_t axis = 0; axis < spec.block.size(); ++axis) {
        if (spec.block[axis].squeezed || spec.block[axis].size != array[axis]) {
            return false;
        }
    }
    const std::set<std::int32_t> used = axesUsed(map);
    return !readsRef(map) && std::none_of(used.begin(), used.end(), [&](std::int32_t axis) {
        return grid[static_cast<std::size_t>(axis)] != 1;
    });
}

} // namespace

OperandFacts operandFacts(const Program& program, const Operation& pipeline, std::size_t operand)
{
    const auto& params = std::get<PipelineParams>(pipeline.params);
    const BlockSpec& spec = params.specs[operand];
    const Shape& array = program.type(pipeline.operands[operand]).shape;
    const Region& map = pipeline.regions[operand + 1];
    OperandFacts facts;
    facts.trivial = isTrivial(spec, array, map, params.grid);
    facts.inCount = spec.direction == BlockDirection::Out ? 0 : spec.inBuffers;
    facts.outCount = spec.direction == BlockDirection::In ? 0 : spec.outBuffers;
    facts.slots =
        facts.inCount + facts.outCount - (spec.direction == BlockDirection::InOut ? 1 : 0);
    if (facts.trivial) {
        facts.slots = 1;
    }
    for (std::size_t axis = 0; axis < spec.block.size(); ++axis) {
        facts.blockCounts.push_back(ceilDiv(array[axis], spec.block[axis].size));
        const auto argument =
            std::find(map.arguments.begin(), map.arguments.end(), map.results[axis]);
        facts.gridAxes.push_back(argument == map.arguments.end()
                                     ? -1
                                     : static_cast<std::int32_t>(argument - map.arguments.begin()));
    }
    return facts;
}

std::int64_t stepCount(const PipelineParams& params)
{
    std::int64_t steps = 1;
    for (const Extent extent : params.grid) {
        steps *= extent;
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
