// The positions of an operand's blocks in its array, and their names.
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/lookup.h"

#include <algorithm>

namespace pallascope::trace {

namespace {

bool isAmong(const std::vector<std::int32_t>& axes, std::size_t axis)
{
    return std::find(axes.begin(), axes.end(), static_cast<std::int32_t>(axis)) != axes.end();
}

} // namespace

std::vector<Extent> blockIndex(const Operand& operand, std::int64_t block)
{
    return rowMajorIndex(operand.blockCounts, block);
}

std::span<const std::int32_t> indicesOf(const Operand& operand, std::int64_t block)
{
    if (operand.indirectAxis < 0) {
        return {};
    }
    const std::size_t axis = at(operand.indirectAxis);
    const std::size_t size = at(operand.block[axis]);
    const std::span<const std::int32_t> list =
        std::span(operand.indices).subspan(at(blockIndex(operand, block)[axis]) * size, size);
    const auto end = std::find(list.begin(), list.end(), kNoElement);
    return list.first(at(end - list.begin()));
}

AxisRange rangeOf(const Operand& operand, std::int64_t block, std::size_t axis)
{
    const Extent extent = operand.array[axis], size = operand.block[axis];
    if (operand.indirectAxis == static_cast<std::int32_t>(axis)) {
        return {0, extent};
    }
    const Extent index = blockIndex(operand, block)[axis];
    if (isAmong(operand.sliceAxes, axis)) {
        const Extent from = index / size;
        return {from, std::min(from + index % size + 1, extent)};
    }
    const auto& elements = operand.elementAxes;
    const auto element =
        std::find(elements.begin(), elements.end(), static_cast<std::int32_t>(axis));
    const Extent from = element == elements.end()
                            ? index * size
                            : index - operand.elementPads[at(element - elements.begin())];
    return {std::max<Extent>(from, 0), std::min(from + size, extent)};
}

namespace {

// With the block's place behind the name.
std::string placed(std::string name, const Operand& operand, std::int64_t block)
{
    if (operand.indirectAxis < 0 && operand.sliceAxes.empty()) {
        name += indexText(blockIndex(operand, block));
        return name;
    }
    const std::vector<Extent> index = blockIndex(operand, block);
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        name += axis == 0 ? "(" : ",";
        if (operand.indirectAxis == static_cast<std::int32_t>(axis)) {
            name += listText(indicesOf(operand, block));
        } else if (isAmong(operand.sliceAxes, axis)) {
            const AxisRange range = rangeOf(operand, block, axis);
            name += std::to_string(range.from) + ":" + std::to_string(range.to);
        } else {
            name += std::to_string(index[axis]);
        }
    }
    name += ')';
    return name;
}

} // namespace

std::string blockName(const Operand& operand, std::int64_t block)
{
    return placed(operand.name, operand, block);
}

std::string copyLabel(const Trace& trace, CopyRow copy)
{
    const Copies& copies = trace.copies();
    const Operand& operand = trace.info().operands[at(copies.operand[copy.index()])];
    std::string name(arrayName(operand));
    if (operand.pipeline != kNone) {
        return placed(std::move(name), operand, copies.block[copy.index()]);
    }
    const std::vector<Extent> index = blockIndex(operand, copies.block[copy.index()]);
    std::vector<Extent> cut; // along the axes that the copies cut
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        if (operand.blockCounts[axis] > 1) {
            cut.push_back(index[axis]);
        }
    }
    return cut.empty() ? name : name + indexText(cut);
}

std::string copyName(const Trace& trace, CopyRow copy)
{
    const Copies& copies = trace.copies();
    return blockName(trace.info().operands[static_cast<std::size_t>(copies.operand[copy.index()])],
                     copies.block[copy.index()]);
}

std::string indexText(const std::vector<Extent>& index)
{
    std::string text(1, '('); // not operator+, for which g++ 12 gives a wrong warning
    text += join(index, ",");
    text += ')';
    return text;
}

} // namespace pallascope::trace
