// Array shapes and strided views on them. Sizes are int64; every product is checked for overflow.
#pragma once

#include "core/base/extents.h"
#include "core/base/result.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace pallascope {

// The extents of an array, outermost first; rank 0 is a scalar with one element.
class Shape
{
public:
    Shape() = default;

    Shape(std::initializer_list<Extent> extents)
        : m_extents(extents)
    {}

    explicit Shape(Extents extents)
        : m_extents(std::move(extents))
    {}

    [[nodiscard]] std::size_t rank() const { return m_extents.size(); }

    [[nodiscard]] Extent operator[](std::size_t axis) const { return m_extents[axis]; }

    [[nodiscard]] Extent& operator[](std::size_t axis) { return m_extents[axis]; }

    [[nodiscard]] const Extents& extents() const { return m_extents; }

    [[nodiscard]] auto begin() const { return m_extents.begin(); }

    [[nodiscard]] auto end() const { return m_extents.end(); }

    bool operator==(const Shape&) const = default;

    // The number of elements. A PALLASCOPE_CHECK fails on overflow, so sizes that come from users
    // go through checkedElements first.
    [[nodiscard]] std::int64_t elements() const;

private:
    Extents m_extents;
};

// The number of elements, or a user error that names the shape if the number does not fit into
// int64.
[[nodiscard]] Result<std::int64_t> checkedElements(const Shape& shape);

// "4096x512" with the separator "x"; empty for a scalar.
[[nodiscard]] std::string join(const std::vector<Extent>& numbers, const std::string& separator);
// "[4096,512]"
[[nodiscard]] std::string toString(const Shape& shape);

// Row-major strides in elements.
[[nodiscard]] Extents rowMajorStrides(const Shape& shape);

// A view of a buffer: element (i, j, ...) lies at offset + i*strides[0] + j*strides[1] + ...
struct StridedView
{
    std::int64_t offset = 0;
    Shape shape;
    Extents strides;

    bool operator==(const StridedView&) const = default;
    [[nodiscard]] static StridedView whole(const Shape& shape);
    [[nodiscard]] bool isContiguous() const; // row-major without gaps; the offset may be any
};

[[nodiscard]] constexpr std::int64_t ceilDiv(std::int64_t a, std::int64_t b)
{
    return (a + b - 1) / b;
}

[[nodiscard]] constexpr std::int64_t alignTo(std::int64_t a, std::int64_t multiple)
{
    return ceilDiv(a, multiple) * multiple;
}

} // namespace pallascope
