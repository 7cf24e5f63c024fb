#include "core/machine/prepare/may_race.h"

#include "core/ir/pipeline_facts.h"
#include "core/machine/prepare/written.h"

#include <algorithm>

namespace pallascope::machine {

using ir::OpCode;

namespace {

// Whether two blocks of such an axis are either the same or share no element.
bool tiles(const ir::BlockDim& dim)
{
    const bool isOneElement = dim.kind == ir::BlockKind::Element && dim.size == 1;
    return dim.kind == ir::BlockKind::Blocked || dim.kind == ir::BlockKind::Squeezed
           || isOneElement;
}

// Whether no block comes back after another one. That holds if its positions are grid indices and
// the grid axes that it ignores run faster than those that it follows.
bool comesOnce(const ir::OperandFacts& facts, const std::vector<Extent>& grid)
{
    std::vector<bool> taken(grid.size(), false);
    for (std::size_t axis = 0; axis < facts.dims.size(); ++axis) {
        if (facts.blockCounts[axis] == 1) {
            continue;
        }
        if (facts.gridAxes[axis] < 0) {
            return false;
        }
        taken[static_cast<std::size_t>(facts.gridAxes[axis])] = true;
    }
    bool repeats = false;
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
        if (taken[axis] && repeats) {
            return false;
        }
        repeats = repeats || (!taken[axis] && grid[axis] != 1);
    }
    return true;
}

// Whether two write-backs of the same elements can be under way together. Neighbouring steps have
// different blocks, so with two buffers it is enough that blocks do not overlap.
bool writeBacksMayMeet(const ir::OperandFacts& facts, const std::vector<Extent>& grid)
{
    if (facts.trivial || facts.unbuffered) {
        return false;
    }
    return !std::all_of(facts.dims.begin(), facts.dims.end(), tiles)
           || (facts.outLag > 1 && !comesOnce(facts, grid));
}

// By ValueId: the ref that a view of views finally refers to.
std::vector<ir::ValueId> seenByViews(const ir::Program& program)
{
    std::vector<ir::ValueId> seen(program.values.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        seen[i].index = static_cast<std::int32_t>(i);
    }
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (ir::opEntry(operation.code).kind == ir::OpKind::View && !operation.operands.empty()) {
            seen[static_cast<std::size_t>(operation.results[0].index)] =
                seen[static_cast<std::size_t>(operation.operands[0].index)];
        }
    });
    return seen;
}

// Whether the map loads what the pipeline writes. Then it may ask for one block when a copy starts
// and for another when the copy is waited for, and the body sees a slot whose copy nobody has
// waited for, of an input or of an output.
bool mapChanges(const ir::Region& map, const std::vector<bool>& written, const NeededSet& refs)
{
    bool found = false;
    forEachOperation(map, [&](const ir::Operation& operation) {
        for (const ir::ValueId operand : operation.operands) {
            found = found || written[static_cast<std::size_t>(refs.root(operand).index)];
        }
    });
    return found;
}

bool mayRaceOutput(const ir::Program& program, const ir::Operation& pipeline, std::size_t index,
                   const std::vector<ir::ValueId>& seen)
{
    const auto of = [&](ir::ValueId ref) { return seen[static_cast<std::size_t>(ref.index)]; };
    const auto& params = std::get<ir::PipelineParams>(pipeline.params);
    const auto isArray = [&, array = of(pipeline.operands[index])](ir::ValueId ref) {
        return of(ref) == array;
    };
    if (std::ranges::count_if(pipeline.operands, isArray) > 1) {
        return true;
    }
    bool inside = false; // whether the body or an index map reads or writes it
    for (const ir::Region& region : pipeline.regions) {
        forEachOperation(region, [&](const ir::Operation& operation) {
            inside = inside || std::ranges::any_of(operation.operands, isArray);
        });
    }
    return inside || writeBacksMayMeet(ir::operandFacts(program, pipeline, index), params.grid);
}

} // namespace

bool mayRace(const ir::Program& program, const NeededSet& refs)
{
    bool isManual = false;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        isManual = isManual || ir::startsCopy(operation.code) || operation.code == OpCode::CoreMap;
    });
    const bool aliases =
        std::any_of(program.arguments.begin(), program.arguments.end(),
                    [](const ir::Argument& argument) { return argument.aliasOf >= 0; });
    const std::vector<const ir::Operation*> pipelines = ir::pipelinesOf(program);
    if (isManual || aliases || pipelines.size() != 1) {
        return isManual || aliases || pipelines.size() > 1;
    }
    const std::vector<ir::ValueId> seen = seenByViews(program);
    const std::vector<bool> written = writtenRoots(program, *pipelines[0], refs);
    const auto& specs = std::get<ir::PipelineParams>(pipelines[0]->params).specs;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const bool writes = specs[i].direction != ir::BlockDirection::In;
        if (specs[i].direction == ir::BlockDirection::InOut || specs[i].restores
            || mapChanges(pipelines[0]->regions[i + 1], written, refs)
            || (writes
                && (ir::hasIndirect(specs[i]) || mayRaceOutput(program, *pipelines[0], i, seen)))) {
            return true;
        }
    }
    return false;
}

} // namespace pallascope::machine
