#include "core/base/shape.h"

#include "core/base/check.h"

namespace pallascope {

Result<std::int64_t> checkedElements(const Shape& shape)
{
    std::int64_t elements = 1;
    for (const Extent extent : shape) {
        if (__builtin_mul_overflow(elements, extent, &elements)) {
            return userError("The shape " + toString(shape) + " has more than 2^63 elements.");
        }
    }
    return elements;
}

std::int64_t Shape::elements() const
{
    std::int64_t elements = 1;
    for (const Extent extent : m_extents) {
        PALLASCOPE_CHECK(!__builtin_mul_overflow(elements, extent, &elements));
    }
    return elements;
}

std::string join(const std::vector<Extent>& numbers, const std::string& separator)
{
    std::string text;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        text += (i > 0 ? separator : "") + std::to_string(numbers[i]);
    }
    return text;
}

std::string toString(const Shape& shape)
{
    return "[" + join(shape.extents(), ",") + "]";
}

Extents rowMajorStrides(const Shape& shape)
{
    Extents strides(shape.rank(), 1);
    for (std::size_t axis = shape.rank(); axis-- > 1;) {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    return strides;
}

StridedView StridedView::whole(const Shape& shape)
{
    return {0, shape, rowMajorStrides(shape)};
}

bool StridedView::isContiguous() const
{
    std::int64_t expected = 1;
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        if (shape[axis] != 1 && strides[axis] != expected) {
            return false;
        }
        expected *= shape[axis];
    }
    return true;
}

} // namespace pallascope
