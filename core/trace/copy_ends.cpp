#include "core/trace/copy_ends.h"

#include "core/trace/columns.h"

#include <algorithm>

namespace pallascope::trace {

const Shape* shapeAtEnd(const Info& info, const Copies& copies, const CopyEnds& ends, EndRow end)
{
    const std::size_t row = end.index();
    if (ends.buffer[row] != kNone) {
        return &info.buffers[at(ends.buffer[row])].shape;
    }
    const Operand& operand = info.operands[at(copies.operand[at(ends.copy[row])])];
    return isSource(end) != (operand.direction == Direction::Out) ? &operand.array : nullptr;
}

std::vector<AxisRange> rangesOfEnd(const Trace& trace, EndRow end)
{
    const CopyEnds& ends = trace.copyEnds();
    const Shape& box = trace.info().copiedShapes[at(ends.shape[end.index()])];
    const Shape* const whole = shapeAtEnd(trace.info(), trace.copies(), ends, end);
    if (whole == nullptr) {
        return {};
    }
    std::vector<AxisRange> ranges;
    const std::vector<Extent> first = rowMajorIndex(whole->extents(), ends.first[end.index()]);
    for (std::size_t axis = 0; axis < first.size(); ++axis) {
        ranges.push_back({first[axis], first[axis] + box[axis]});
    }
    return ranges;
}

OptionalRow<EndRow> sourceOf(const Trace& trace, CopyRow copy)
{
    const std::vector<std::int32_t>& column = trace.copyEnds().copy;
    const auto found = std::lower_bound(column.begin(), column.end(), copy.number);
    return found == column.end() || *found != copy.number
               ? std::nullopt
               : OptionalRow(EndRow::at(at(found - column.begin())));
}

CopyRow copyOf(const Trace& trace, EndRow end)
{
    return {trace.copyEnds().copy[end.index()]};
}

} // namespace pallascope::trace
