#include "core/machine/pipeline_operand.h"

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/cost/budget.h"
#include "core/cost/tiling.h"
#include "core/machine/evaluate.h"

#include <algorithm>
#include <map>

namespace pallascope::machine {

BlockMap::BlockMap(const ir::Program& program, const ir::Operation& pipeline, std::size_t operand)
    : m_counts(ir::operandFacts(program, pipeline, operand).blockCounts)
{
    const ir::Region& map = pipeline.regions[operand + 1];
    std::map<ir::ValueId, Source> known;
    for (std::size_t axis = 0; axis < map.arguments.size(); ++axis) {
        known[map.arguments[axis]] = {Source::Kind::Argument, static_cast<std::int64_t>(axis)};
    }
    const auto source = [&](ir::ValueId value) -> Source {
        if (const auto& literal = program.value(value).literal) {
            return {Source::Kind::Literal, static_cast<std::int64_t>(*literal)};
        }
        return known.at(value);
    };
    for (const ir::Operation& operation : map.operations) {
        PALLASCOPE_CHECK(operation.results.size() == 1
                         && ir::opEntry(operation.code).kind != ir::OpKind::Memory);
        Step step{&operation, {}};
        for (const ir::ValueId value : operation.operands) {
            step.operands.push_back(source(value));
        }
        known[operation.results[0]] = {Source::Kind::Operation,
                                       static_cast<std::int64_t>(m_steps.size())};
        m_steps.push_back(std::move(step));
    }
    for (const ir::ValueId result : map.results) {
        m_results.push_back(source(result));
    }
    m_values.resize(m_steps.size());
}

std::int64_t BlockMap::read(const Source& source, const std::vector<std::int64_t>& gridPoint) const
{
    switch (source.kind) {
    case Source::Kind::Argument:
        return gridPoint[static_cast<std::size_t>(source.value)];
    case Source::Kind::Literal:
        return source.value;
    case Source::Kind::Operation:
        return m_values[static_cast<std::size_t>(source.value)];
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

std::int64_t BlockMap::block(const std::vector<std::int64_t>& gridPoint)
{
    for (std::size_t i = 0; i < m_steps.size(); ++i) {
        std::array<RuntimeValue, 3> values;
        std::array<RuntimeValue*, 3> operands{};
        const std::size_t count = m_steps[i].operands.size();
        for (std::size_t k = 0; k < count; ++k) {
            values[k] = RuntimeValue::scalarOf(
                DType::Int32, static_cast<double>(read(m_steps[i].operands[k], gridPoint)));
            operands[k] = &values[k];
        }
        m_values[i] = static_cast<std::int64_t>(
            evaluate(*m_steps[i].operation, {operands.data(), count}, 0).scalar);
    }
    std::int64_t block = 0;
    for (std::size_t axis = 0; axis < m_results.size(); ++axis) {
        const std::int64_t index = read(m_results[axis], gridPoint);
        if (index < 0 || index >= m_counts[axis]) {
            return -1;
        }
        block = block * m_counts[axis] + index;
    }
    return block;
}

namespace {

// Block index per axis.
std::vector<Extent> unpack(const std::vector<Extent>& counts, std::int64_t block)
{
    std::vector<Extent> index(counts.size());
    for (std::size_t axis = counts.size(); axis-- > 0;) {
        index[axis] = block % counts[axis];
        block /= counts[axis];
    }
    return index;
}

} // namespace

Box PipelineOperand::box(std::int64_t block) const
{
    Box box;
    const std::vector<Extent> index = unpack(facts.blockCounts, block);
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        const Extent size = spec->block[axis].size, start = index[axis] * size;
        box.start.push_back(start);
        box.size.push_back(std::min(size, array[axis] - start));
        box.squeezed.push_back(spec->block[axis].squeezed);
    }
    return box;
}

Bytes PipelineOperand::copyBytes(std::int64_t block) const
{
    if (everyCopy) {
        return *everyCopy;
    }
    const Box part = box(block);
    std::int64_t elements = 1;
    for (std::size_t axis = 0; axis < part.size.size(); ++axis) {
        const Extent size = spec->block[axis].size;
        elements *=
            part.size[axis] == size ? size : std::min(size, alignTo(part.size[axis], tile[axis]));
    }
    return packedBytes(dtype, elements);
}

std::string PipelineOperand::blockName(std::int64_t block) const
{
    return spec->name + "(" + join(unpack(facts.blockCounts, block), ",") + ")";
}

namespace {

// emit_pipeline cuts the copy of an overhanging block to whole tiles, so its blocks must be made of
// them.
Status checkOverhang(const ir::Program& program, const ir::BlockSpec& spec,
                     const PipelineOperand& operand, ir::PipelineOrigin origin)
{
    for (std::size_t axis = 0; axis < spec.block.size(); ++axis) {
        const Extent size = spec.block[axis].size;
        const bool overhangs = operand.array[axis] % size != 0;
        if (overhangs && size % operand.tile[axis] != 0
            && origin == ir::PipelineOrigin::EmitPipeline) {
            return userError(
                program.where(spec.location) + ": the block of " + spec.name + " has "
                + std::to_string(size) + " elements on axis " + std::to_string(axis) + " of "
                + std::to_string(operand.array[axis])
                + ", so its last block overhangs; a block that divides the axis or a multiple of "
                + std::to_string(operand.tile[axis]) + " (the tile of "
                + std::string(dtypeName(operand.dtype)) + ") is right.");
        }
    }
    return Done{};
}

} // namespace

Result<PipelineOperand> makeOperand(const ir::Program& program, const ir::Operation& pipeline,
                                    std::size_t index, const chip::Chip& chip)
{
    const auto& params = std::get<ir::PipelineParams>(pipeline.params);
    PipelineOperand operand;
    operand.facts = ir::operandFacts(program, pipeline, index);
    operand.spec = &params.specs[index];
    operand.blockRef = pipeline.regions[0].arguments[index];
    const ir::Type& array = program.type(pipeline.operands[index]);
    operand.array = array.shape;
    operand.dtype = array.dtype;
    operand.blockShape = program.type(operand.blockRef).shape;
    const Result<std::int32_t> from = cost::memoryOf(*array.space, chip);
    const Result<std::int32_t> to = cost::memoryOf(*program.type(operand.blockRef).space, chip);
    if (!from || !to) {
        return from ? to.error() : from.error();
    }
    const auto link =
        std::find_if(chip.links.begin(), chip.links.end(), [&](const chip::Link& candidate) {
            return (candidate.from == *from && candidate.to == *to)
                   || (candidate.from == *to && candidate.to == *from);
        });
    if (link == chip.links.end()) {
        return userError("The chip " + chip.title + " has no link between "
                         + chip.memories[static_cast<std::size_t>(*from)].name + " and "
                         + chip.memories[static_cast<std::size_t>(*to)].name + ", which "
                         + operand.spec->name + " needs.");
    }
    operand.link = static_cast<std::int32_t>(link - chip.links.begin());
    operand.tile =
        cost::tiling(array.dtype, array.shape, chip.memories[static_cast<std::size_t>(*to)].tile);
    if (Status status = checkOverhang(program, *operand.spec, operand, params.origin); !status) {
        return status.error();
    }
    const auto slots = static_cast<std::size_t>(operand.facts.slots);
    operand.inCopyOfSlot.assign(slots, -1);
    operand.outCopyOfSlot.assign(slots, -1);
    if (operand.facts.outCount > 0) {
        constexpr std::int64_t kMostBlocks = 1 << 26;
        const std::int64_t blocks = Shape(operand.facts.blockCounts).elements();
        if (blocks > kMostBlocks) {
            return limitError(operand.spec->name + " has " + countText(blocks)
                              + " blocks; the model keeps track of " + countText(kMostBlocks)
                              + " at most.");
        }
        operand.lastVisitOfBlock.assign(static_cast<std::size_t>(blocks), -1);
    }
    bool even = true;
    for (std::size_t axis = 0; axis < operand.array.rank(); ++axis) {
        even = even && operand.array[axis] % operand.spec->block[axis].size == 0;
    }
    if (even) {
        operand.everyCopy = operand.copyBytes(0);
    }
    return operand;
}

} // namespace pallascope::machine
