#include "core/machine/ops/moves.h"

#include "core/machine/ops/lanes.h"

namespace pallascope::machine::ops {

RuntimeValue moved(DType dtype, const Shape& shape, const std::vector<Move>& moves)
{
    if (moves.size() == 1 && !moves[0].source->isScalar() && shape.rank() > 0
        && shape.elements() == moves[0].source->elements() && moves[0].from.isContiguous()) {
        RuntimeValue same = *moves[0].source;
        same.shape = shape;
        return same;
    }
    RuntimeValue result = RuntimeValue::arrayOf(dtype, shape);
    std::byte one[kMostLaneBytes];
    std::byte* target = result.isScalar() ? one : result.data.get();
    bool all = true, none = true;
    for (const Move& move : moves) {
        std::byte scalar[kMostLaneBytes];
        const std::byte* data = move.source->data.get();
        if (move.source->isScalar()) {
            writeElement(dtype, scalar, 0, move.source->scalar);
            data = scalar;
        }
        if (move.to.shape.elements() > 0) {
            copyStrided(data, move.from, target, move.to, dtypeBytes(dtype));
            all = all && move.source->shadow.all();
            none = none && move.source->shadow.none();
        }
    }
    if (result.isScalar()) {
        result.scalar = readElement(dtype, one, 0);
    }
    if (all || none) {
        result.shadow = all ? Shadow::allDefined() : Shadow::noneDefined();
        return result;
    }
    const std::int64_t count = shape.elements();
    SharedBytes mask = allocateBytes(count);
    for (const Move& move : moves) {
        if (move.to.shape.elements() > 0) {
            const SharedBytes defined = move.source->shadow.expanded(move.source->elements());
            copyStrided(defined.get(), move.from, mask.get(), move.to, 1);
        }
    }
    result.shadow = Shadow::fromMask(std::move(mask), count);
    return result;
}

StridedView part(const Shape& whole, const Shape& extents, const std::vector<Extent>& start,
                 const std::vector<Extent>& steps)
{
    const Extents strides = rowMajorStrides(whole);
    StridedView view{.shape = extents};
    for (std::size_t axis = 0; axis < whole.rank(); ++axis) {
        view.offset += start[axis] * strides[axis];
        view.strides.push_back(strides[axis] * steps[axis]);
    }
    return view;
}

StridedView along(const Shape& whole, std::size_t axis, Extent start, Extent length)
{
    StridedView view = StridedView::whole(whole);
    view.offset = start * view.strides[axis];
    view.shape[axis] = length;
    return view;
}

StridedView withoutAxis(StridedView view, std::size_t axis)
{
    Extents extents = view.shape.extents();
    extents.erase(axis);
    view.strides.erase(axis);
    view.shape = Shape(std::move(extents));
    return view;
}

} // namespace pallascope::machine::ops
