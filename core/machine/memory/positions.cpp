#include "core/machine/memory/positions.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace pallascope::machine {

namespace {

const Shape& shapeBelow(const RefBinding& ref, std::size_t recast, const Shape& memory)
{
    return recast > 0 ? ref.recasts[recast - 1].view.shape : ref.whole ? memory : ref.view.shape;
}

// The first of the positions in an array of shape `to` that lie where a position in an array of
// shape `from` lies, if a bitcast packs rows of one into rows of the other.
std::int64_t packed(std::int64_t position, const Shape& from, const Shape& to)
{
    if (from.elements() == to.elements() || from.rank() < 2 || from.rank() != to.rank()) {
        return position;
    }
    const Extent columns = from[from.rank() - 1];
    const Extent rows = from[from.rank() - 2], others = to[to.rank() - 2];
    const std::int64_t row = position / columns % rows, outer = position / columns / rows;
    const std::int64_t there = others < rows ? row / (rows / others) : row * (others / rows);
    return (outer * others + there) * columns + position % columns;
}

} // namespace

std::int64_t elementAt(const StridedView& view, std::int64_t position)
{
    std::int64_t element = view.offset;
    for (std::size_t axis = view.shape.rank(); axis-- > 0;) {
        element += position % view.shape[axis] * view.strides[axis];
        position /= view.shape[axis];
    }
    return element;
}

// Views of an array in memory move along its axes, so that a longer stride is never less than what
// the shorter ones cover together.
std::optional<std::int64_t> positionIn(const StridedView& view, std::int64_t element)
{
    std::vector<std::size_t> axes(view.shape.rank());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    std::sort(axes.begin(), axes.end(),
              [&](std::size_t a, std::size_t b) { return view.strides[a] > view.strides[b]; });
    std::int64_t rest = element - view.offset;
    std::vector<std::int64_t> index(axes.size(), 0);
    for (const std::size_t axis : axes) {
        if (view.shape[axis] == 0) {
            return std::nullopt;
        }
        if (view.strides[axis] > 0 && rest > 0) {
            index[axis] = std::min<std::int64_t>(rest / view.strides[axis], view.shape[axis] - 1);
            rest -= index[axis] * view.strides[axis];
        }
    }
    if (rest != 0) {
        return std::nullopt;
    }
    std::int64_t position = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        position = position * view.shape[axis] + index[axis];
    }
    return position;
}

std::optional<std::int64_t> positionIn(const RefBinding& ref, const Shape& memory,
                                       std::int64_t element)
{
    std::optional<std::int64_t> position = ref.whole ? element : positionIn(ref.view, element);
    for (std::size_t i = 0; position && i < ref.recasts.size(); ++i) {
        const Shape& below = shapeBelow(ref, i, memory);
        const RefBinding::Recast& recast = ref.recasts[i];
        const std::int64_t first = packed(*position, below, recast.shape);
        const bool unpacks = recast.shape.elements() > below.elements();
        const std::int64_t rows =
            unpacks ? recast.shape.elements() / std::max<std::int64_t>(below.elements(), 1) : 1;
        const std::int64_t columns = unpacks ? recast.shape[recast.shape.rank() - 1] : 0;
        position.reset();
        for (std::int64_t row = 0; row < rows && !position; ++row) {
            position = positionIn(recast.view, first + row * columns);
        }
    }
    return position;
}

std::int64_t elementAt(const RefBinding& ref, const Shape& memory, std::int64_t position)
{
    for (std::size_t i = ref.recasts.size(); i-- > 0;) {
        const RefBinding::Recast& recast = ref.recasts[i];
        position =
            packed(elementAt(recast.view, position), recast.shape, shapeBelow(ref, i, memory));
    }
    return ref.whole ? position : elementAt(ref.view, position);
}

} // namespace pallascope::machine
