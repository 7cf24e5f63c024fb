// Finds the part of the memory below a bitcast or reshape that is enough for a selected part of
// it.
#include "core/machine/memory/recasts.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pallascope::machine {

RefBinding withView(RefBinding ref, StridedView view)
{
    if (ref.recasts.empty()) {
        ref.view = std::move(view);
        ref.whole = false;
    } else {
        ref.recasts.back().view = std::move(view);
    }
    return ref;
}

StridedView part(std::int64_t offset, const Extents& strides, std::span<const Window> windows)
{
    const auto kept = static_cast<std::size_t>(std::ranges::count_if(windows, &Window::kept));
    StridedView to{offset, Shape(Extents(kept)), Extents(kept)};
    std::size_t axis = 0, keptAxis = 0;
    for (const Window& window : windows) {
        const std::int64_t stride = strides[axis++];
        to.offset += window.start * stride;
        if (window.kept) {
            to.shape[keptAxis] = window.size;
            to.strides[keptAxis++] = window.stride * stride;
        }
    }
    return to;
}

namespace {

Window all(Extent size)
{
    return {.start = 0, .size = size, .stride = 1, .kept = true};
}

// The windows below a bitcast that correspond to the selected `windows` of it. Nothing if the
// selection does not begin and end at rows of the memory below. A bitcast packs or unpacks rows
// and leaves every other axis unchanged.
std::optional<std::vector<Window>> rowsBelow(const Shape& below, const Shape& shape,
                                             std::span<const Window> windows)
{
    const std::size_t rank = shape.rank();
    if (rank < 2 || below.rank() != rank) {
        return {};
    }
    std::vector<Window> inside(windows.begin(), windows.end());
    for (std::size_t axis = 0; axis < rank; ++axis) {
        inside[axis].kept = true;
        if (axis + 2 != rank && below[axis] != shape[axis]) {
            return {};
        }
    }
    Window& rows = inside[rank - 2];
    const Extent from = below[rank - 2], to = shape[rank - 2];
    const auto multiple = [&](Extent one, Extent other) { return other > 0 && one % other == 0; };
    if (from == to) {
        return inside;
    }
    if (rows.stride != 1) {
        return {};
    }
    if (multiple(from, to)) {
        rows.start *= from / to;
        rows.size *= from / to;
        return inside;
    }
    if (!multiple(to, from) || !multiple(rows.start, to / from)
        || !multiple(rows.size, to / from)) {
        return {};
    }
    rows.start /= to / from;
    rows.size /= to / from;
    return inside;
}

// Replaces a ref's last recast by one of another part below it: casts `below` to shape `cast` and
// shows `seen` of that.
RefBinding recastOf(RefBinding ref, StridedView below, Shape cast, StridedView seen)
{
    const DType dtype = ref.recasts.back().dtype;
    ref.recasts.pop_back();
    ref = withView(std::move(ref), std::move(below));
    ref.recasts.push_back({dtype, std::move(cast), std::move(seen)});
    return ref;
}

// If the selected elements of the recast are contiguous, and so is the memory below, recasts only
// the whole rows that contain them. A bitcast packs or unpacks rows and leaves the lanes
// unchanged.
std::optional<RefBinding> stretchBelow(const RefBinding& ref, const StridedView& below,
                                       std::span<const Window> windows)
{
    const RefBinding::Recast& last = ref.recasts.back();
    const StridedView taken = part(0, rowMajorStrides(last.view.shape), windows);
    const Extent from = below.shape.elements(), to = last.shape.elements();
    const Extent count = taken.shape.elements();
    if (!below.isContiguous() || !taken.isContiguous() || count == 0) {
        return {};
    }
    const bool packs = from != to;
    if (packs
        && (below.shape.rank() < 2 || last.shape.rank() < 2
            || last.shape.extents().back() != below.shape.extents().back())) {
        return {};
    }
    const Extent lanes = packs ? last.shape.extents().back() : 1;
    const Extent group =
        to > from ? to / from * lanes : lanes; // elements of the recast in a row below
    const Extent lead = taken.offset % group;  // elements of the first row that are not selected
    const Extent first = taken.offset - lead, all = alignTo(lead + count, group);
    const auto rows = [&](Extent elements) {
        return packs ? Shape{elements / lanes, lanes} : Shape{elements};
    };
    const auto asBelow = [&](Extent elements) {
        return to > from ? elements / (to / from) : elements * (from / to);
    };
    const Shape inside = rows(asBelow(all)), cast = rows(all);
    return recastOf(ref, {below.offset + asBelow(first), inside, rowMajorStrides(inside)}, cast,
                    {lead, taken.shape, rowMajorStrides(taken.shape)});
}

} // namespace

std::optional<RefBinding> narrowedBelow(const RefBinding& ref, std::span<const Window> windows)
{
    const RefBinding::Recast& last = ref.recasts.back();
    const StridedView& below =
        ref.recasts.size() > 1 ? ref.recasts[ref.recasts.size() - 2].view : ref.view;
    const Shape& shape = last.view.shape;
    if (!last.view.isContiguous() || shape.elements() != last.shape.elements()) {
        return {};
    }
    const auto recast = [&](std::span<const Window> inside, Extents extents,
                            std::span<const Window> rest) {
        const Shape cast(std::move(extents));
        return recastOf(ref, part(below.offset, below.strides, inside), cast,
                        part(0, rowMajorStrides(cast), rest));
    };
    if (const auto inside = rowsBelow(below.shape, shape, windows)) {
        Extents extents;
        std::vector<Window> rest;
        for (const Window& window : windows) {
            extents.push_back(window.size);
            rest.push_back({0, window.size, 1, window.kept});
        }
        return recast(*inside, std::move(extents), rest);
    }
    if (std::optional<RefBinding> stretch = stretchBelow(ref, below, windows)) {
        return stretch;
    }
    std::size_t common = 0;
    while (common + 2 < below.shape.rank() && common < shape.rank()
           && below.shape[common] == shape[common]) {
        ++common;
    }
    if (common == 0) {
        return {};
    }
    std::vector<Window> inside(windows.begin(),
                               windows.begin() + static_cast<std::ptrdiff_t>(common)),
        rest;
    Extents extents;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const bool isCommon = axis < common;
        if (!isCommon || windows[axis].kept) {
            extents.push_back(isCommon ? windows[axis].size : shape[axis]);
            rest.push_back(isCommon ? all(windows[axis].size) : windows[axis]);
        }
    }
    for (std::size_t axis = common; axis < below.shape.rank(); ++axis) {
        inside.push_back(all(below.shape[axis]));
    }
    return recast(inside, std::move(extents), rest);
}

} // namespace pallascope::machine
