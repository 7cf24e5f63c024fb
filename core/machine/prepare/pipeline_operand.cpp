#include "core/machine/prepare/pipeline_operand.h"

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/machine/ops/evaluate.h"
#include "core/machine/ops/ops.h"

#include <algorithm>
#include <map>

namespace pallascope::machine {

BlockMap::BlockMap(const ir::Program& program, const ir::Operation& pipeline, std::size_t operand,
                   const ir::OperandFacts& facts, const WritesTo& writesTo)
    : m_dims(facts.dims)
    , m_counts(facts.blockCounts)
    , m_array(program.type(pipeline.operands[operand]).shape)
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
        const auto inside = known.find(value);
        return inside != known.end() ? inside->second : Source{Source::Kind::Around, value.index};
    };
    for (const ir::Operation& operation : map.operations) {
        const bool loads = operation.code == ir::OpCode::Get;
        PALLASCOPE_CHECK(operation.results.size() == 1);
        Step step{&operation, {}, {}};
        m_mostOperands = std::max(m_mostOperands, operation.operands.size());
        for (std::size_t i = 0; i < operation.operands.size(); ++i) {
            step.operands.push_back(loads && i == 0 ? Source{} : source(operation.operands[i]));
            step.dtypes.push_back(program.type(operation.operands[i]).dtype);
        }
        known[operation.results[0]] = {Source::Kind::Operation,
                                       static_cast<std::int64_t>(m_steps.size())};
        m_steps.push_back(std::move(step));
        const Writes writes = loads ? writesTo(operation.operands[0]) : Writes::Never;
        m_live = m_live || writes == Writes::During;
        if (writes == Writes::Before) {
            m_filled.push_back(operation.operands[0]);
        }
    }
    for (const ir::ValueId result : map.results) {
        m_results.push_back(source(result));
    }
    m_indirect = facts.isIndirect();
    m_arrays.resize(m_indirect ? m_steps.size() : 0);
    m_plain = std::all_of(m_results.begin(), m_results.end(),
                          [](const Source& result) {
                              return result.kind == Source::Kind::Argument
                                     || result.kind == Source::Kind::Literal;
                          })
              && std::all_of(m_dims.begin(), m_dims.end(), [](const ir::BlockDim& dim) {
                     return dim.kind == ir::BlockKind::Blocked;
                 });
}

std::int64_t BlockMap::read(const Source& source, std::span<const std::int64_t> gridPoint,
                            const ValueAround& around, const Scratch& scratch) const
{
    switch (source.kind) {
    case Source::Kind::Argument:
        return gridPoint[static_cast<std::size_t>(source.value)];
    case Source::Kind::Literal:
        return source.value;
    case Source::Kind::Operation:
        return scratch.values[static_cast<std::size_t>(source.value)];
    case Source::Kind::Around:
        return static_cast<std::int64_t>(
            around(ir::ValueId{static_cast<std::int32_t>(source.value)}).scalar);
    }
    PALLASCOPE_CHECK(false && "exhaustive");
}

RuntimeValue BlockMap::readArray(const Source& source, DType dtype,
                                 std::span<const std::int64_t> gridPoint, const ValueAround& around,
                                 const Scratch& scratch) const
{
    if (m_indirect && source.kind == Source::Kind::Operation) {
        return m_arrays[static_cast<std::size_t>(source.value)];
    }
    if (m_indirect && source.kind == Source::Kind::Around) {
        return around(ir::ValueId{static_cast<std::int32_t>(source.value)});
    }
    return RuntimeValue::scalarOf(dtype,
                                  static_cast<double>(read(source, gridPoint, around, scratch)));
}

// Computes the values of all steps of the map.
void BlockMap::compute(std::span<const std::int64_t> gridPoint, const IndexLoader& load,
                       const ValueAround& around, Scratch& scratch) const
{
    scratch.values.resize(std::max(scratch.values.size(), m_steps.size()));
    scratch.operands.resize(std::max(scratch.operands.size(), m_mostOperands));
    for (std::size_t i = 0; i < m_steps.size(); ++i) {
        const Step& step = m_steps[i];
        const std::size_t count = step.operands.size();
        RuntimeValue result;
        if (step.operation->code == ir::OpCode::Get) {
            std::array<std::int64_t, ir::kMostMapOperands> numbers{};
            for (std::size_t k = 0; k < count; ++k) {
                numbers[k] = read(step.operands[k], gridPoint, around, scratch);
            }
            result = load(*step.operation, {numbers.data(), count});
        } else {
            std::array<RuntimeValue*, ir::kMostMapOperands> operands{};
            for (std::size_t k = 0; k < count; ++k) {
                operands[k] = &scratch.operands[k];
                if (m_indirect) {
                    *operands[k] =
                        readArray(step.operands[k], step.dtypes[k], gridPoint, around, scratch);
                } else {
                    operands[k]->becomeScalar(
                        step.dtypes[k],
                        static_cast<double>(read(step.operands[k], gridPoint, around, scratch)));
                }
            }
            const std::span<RuntimeValue* const> given(operands.data(), count);
            if (!ops::scalarInPlace(*step.operation, given, result)) {
                result = evaluate(*step.operation, given, 0);
            }
        }
        scratch.values[i] = static_cast<std::int64_t>(result.scalar);
        if (m_indirect) {
            m_arrays[i] = std::move(result);
        }
    }
}

std::optional<Extent> BlockMap::positionOfList(const Source& source, const ValueAround& around,
                                               const Scratch& scratch) const
{
    const RuntimeValue value = readArray(source, DType::Int32, {}, around, scratch);
    const auto* const indices = value.as<std::int32_t>();
    const std::optional<Extent> number =
        m_lists->numberOf(IndexLists::List(indices, indices + value.elements()));
    m_overfull = !number;
    return number;
}

std::vector<std::int64_t> BlockMap::yielded(std::span<const std::int64_t> gridPoint,
                                            const ValueAround& around, const Scratch& scratch) const
{
    std::vector<std::int64_t> indices;
    for (const Source& result : m_results) {
        indices.push_back(read(result, gridPoint, around, scratch));
    }
    return indices;
}

std::optional<std::int64_t> BlockMap::changesEvery(std::span<const Extent> grid,
                                                   std::span<const std::int64_t> offset) const
{
    // Different points of the axes that it uses have different blocks, and the innermost of these
    // axes moves whenever another one does.
    std::size_t behind = 0; // the innermost one that has more than one point
    for (std::size_t axis = 0; axis < m_results.size(); ++axis) {
        const Source& source = m_results[axis];
        const bool moves = source.kind == Source::Kind::Argument;
        const auto of = static_cast<std::size_t>(moves ? source.value : 0);
        const std::int64_t first = !moves ? source.value : offset.empty() ? 0 : offset[of];
        const std::int64_t points = moves ? grid[of] : 1;
        if (first < 0 || first + points > m_counts[axis]) {
            return std::nullopt;
        }
        behind = points > 1 ? std::max(behind, of + 1) : behind;
    }
    std::int64_t every = behind > 0 ? 1 : 0;
    for (std::size_t axis = behind; axis < grid.size(); ++axis) {
        every *= grid[axis];
    }
    return every;
}

std::int64_t BlockMap::block(std::span<const std::int64_t> gridPoint, const IndexLoader& load,
                             const ValueAround& around, Scratch& scratch) const
{
    compute(gridPoint, load, around, scratch);
    std::int64_t block = 0;
    std::size_t result = 0;
    for (std::size_t axis = 0; axis < m_dims.size(); ++axis) {
        if (m_dims[axis].kind == ir::BlockKind::Indirect) {
            const std::optional<Extent> list = positionOfList(m_results[result++], around, scratch);
            if (!list) {
                return -1;
            }
            block = block * m_counts[axis] + *list;
            continue;
        }
        const std::int64_t index = read(m_results[result++], gridPoint, around, scratch);
        if (m_dims[axis].kind == ir::BlockKind::Blocked) { // the usual case, handled without a call
            if (index < 0 || index >= m_counts[axis]) {
                return -1;
            }
            block = block * m_counts[axis] + index;
            continue;
        }
        const bool bounded = m_dims[axis].kind == ir::BlockKind::BoundedSlice;
        const std::int64_t size =
            bounded ? read(m_results[result++], gridPoint, around, scratch) : 0;
        const auto position = ir::positionOf(m_dims[axis], m_array[axis], index, size);
        if (!position) {
            return -1;
        }
        block = block * m_counts[axis] + *position;
    }
    return block;
}

namespace {

// The position along each axis.
Extents unpack(const std::vector<Extent>& counts, std::int64_t block)
{
    Extents index(counts.size());
    for (std::size_t axis = counts.size(); axis-- > 0;) {
        index[axis] = block % counts[axis];
        block /= counts[axis];
    }
    return index;
}

} // namespace

std::span<const std::int32_t> OperandPlan::indices(std::int64_t block) const
{
    if (!facts.isIndirect()) {
        return {};
    }
    const auto axis = static_cast<std::size_t>(facts.indirectAxis);
    return map.lists()[unpack(facts.blockCounts, block)[axis]];
}

Box OperandPlan::box(std::int64_t block) const
{
    Box box;
    box.squeezed.reserve(facts.blockCounts.size());
    const Extents index = unpack(facts.blockCounts, block);
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        const ir::AxisWindow window = ir::windowAt(facts.dims[axis], array[axis], index[axis]);
        const Extent start = std::max<Extent>(window.start, 0);
        const Extent end = std::min(window.start + window.size, array[axis]);
        box.start.push_back(start);
        box.size.push_back(end - start);
        box.inBlock.push_back(start - window.start);
        box.squeezed.push_back(facts.dims[axis].kind == ir::BlockKind::Squeezed);
    }
    if (facts.isIndirect()) {
        const auto axis = static_cast<std::size_t>(facts.indirectAxis);
        box.list = map.lists()[index[axis]];
        box.listAxis = axis;
        box.listed = array[axis];
        box.size[axis] = std::count_if(box.list.begin(), box.list.end(),
                                       [&](Extent i) { return i >= 0 && i < box.listed; });
    }
    return box;
}

Reach OperandPlan::reach(std::int64_t block) const
{
    if (facts.isIndirect()) {
        return reach(block, RefBinding{}, array);
    }
    Reach reach;
    const Extents index = unpack(facts.blockCounts, block);
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        const ir::AxisWindow window = ir::windowAt(facts.dims[axis], array[axis], index[axis]);
        reach.start.push_back(std::max<Extent>(window.start, 0));
        reach.stop.push_back(std::min(window.start + window.size, array[axis]));
    }
    return reach;
}

Reach OperandPlan::reach(std::int64_t block, const RefBinding& located, const Shape& memory) const
{
    Box part = box(block);
    if (!facts.isIndirect()) {
        return reachOf(boxOf(located, memory, part), memory);
    }
    std::vector<std::int32_t> elements(part.list.begin(), part.list.end());
    std::sort(elements.begin(), elements.end());
    elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
    std::vector<Reach> parts;
    for (const std::int32_t element : elements) {
        if (element >= 0 && element < part.listed) {
            part.start[part.listAxis] = element;
            part.size[part.listAxis] = 1;
            parts.push_back(reachOf(boxOf(located, memory, part), memory));
        }
    }
    return unionOf(std::move(parts), memory.rank());
}

Bytes OperandPlan::copyBytes(std::int64_t block) const
{
    if (everyCopy) {
        return *everyCopy;
    }
    const Extents index = unpack(facts.blockCounts, block);
    const Box part = box(block);
    std::int64_t elements = 1;
    for (std::size_t axis = 0; axis < part.size.size(); ++axis) {
        const Extent size = facts.dims[axis].size;
        // Elements outside of the array count too.
        if (facts.dims[axis].kind == ir::BlockKind::Indirect) {
            elements *= static_cast<Extent>(map.lists()[index[axis]].size());
            continue;
        }
        const Extent asked = ir::windowAt(facts.dims[axis], array[axis], index[axis]).size;
        const bool exact = part.size[axis] == asked && (asked == size || exactSlices);
        const bool isWhole = part.size[axis] == array[axis]; // with all of its padding
        elements *= isWhole ? alignTo(array[axis], tile[axis])
                    : exact ? asked
                            : std::min(size, alignTo(part.size[axis], tile[axis]));
    }
    return packedBytes(dtype, elements);
}

std::string OperandPlan::blockName(std::int64_t block) const
{
    const Extents index = unpack(facts.blockCounts, block);
    std::string text;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        const ir::BlockDim& dim = facts.dims[axis];
        text += axis == 0 ? "(" : ",";
        if (dim.kind == ir::BlockKind::Indirect) {
            text += listText(map.lists()[index[axis]]);
        } else if (dim.kind == ir::BlockKind::BoundedSlice) {
            const ir::AxisWindow window = ir::windowAt(dim, array[axis], index[axis]);
            text += std::to_string(window.start) + ":" + std::to_string(window.start + window.size);
        } else {
            text += std::to_string(index[axis]);
        }
    }
    return spec->name + text + (index.size() == 0 ? "()" : ")");
}

} // namespace pallascope::machine
