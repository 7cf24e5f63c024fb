// Checks the ends of copies by manual DMA: that they come in pairs, and lie inside of what they are
// ends in.
#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"
#include "core/trace/validate.h"

#include <algorithm>

namespace pallascope::trace {

namespace {

// Whether a box that begins at an element (row-major) lies inside of an array.
bool isInside(const Shape& box, std::int64_t first, const Shape& array)
{
    if (box.rank() != array.rank()) {
        return false;
    }
    std::int64_t rest = first;
    for (std::size_t axis = array.rank(); axis-- > 0;) {
        const Extent extent = std::max<Extent>(array[axis], 1);
        if (box[axis] > extent || rest % extent > extent - box[axis]) {
            return false;
        }
        rest /= extent;
    }
    return rest == 0;
}

Status checkBox(const TraceBuilder& b, std::size_t i)
{
    const CopyEnds& e = b.copyEnds;
    const Shape& box = b.info.copiedShapes[at(e.shape[i])];
    const Shape* const whole = shapeAtEnd(b.info, b.copies, e, EndRow::at(i));
    if (e.first[i] < 0 || (whole != nullptr && !isInside(box, e.first[i], *whole))) {
        return broken("copyEnds row {}: {} elements from element {} on lie outside of {}", i,
                      toString(box), e.first[i],
                      whole == nullptr ? std::string("the array") : toString(*whole));
    }
    return Done{};
}

} // namespace

Status validateCopyEnds(const TraceBuilder& rows)
{
    const CopyEnds& e = rows.copyEnds;
    for (const Shape& shape : rows.info.copiedShapes) {
        if (std::any_of(shape.begin(), shape.end(), [](Extent extent) { return extent < 0; })) {
            return broken("copiedShapes has {}, but an extent must be at least 0", toString(shape));
        }
    }
    for (std::size_t i = 0; i < e.size(); ++i) {
        const bool pairs = i % 2 == 1 ? e.copy[i] == e.copy[i - 1]
                                      : i + 1 < e.size() && (i == 0 || e.copy[i] > e.copy[i - 1]);
        const std::int32_t operand = rows.copies.operand[at(e.copy[i])];
        if (!pairs || rows.info.operands[at(operand)].pipeline != kNone) {
            return broken("copyEnds.copy[{}] is {}; expected two rows for each copy by manual DMA, "
                          "in order",
                          i, e.copy[i]);
        }
        if (Status status = checkBox(rows, i); !status) {
            return status;
        }
    }
    return Done{};
}

} // namespace pallascope::trace
