// One number for each axis of an array: extents, strides, positions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace pallascope {

using Extent = std::int64_t;

// Like std::vector, but up to kNear numbers, enough for most arrays, lie in the object itself. A
// program makes a view for every access, and this keeps it from calling the allocator for each.
class Extents
{
public:
    using value_type = Extent;
    using iterator = Extent*;
    using const_iterator = const Extent*;

    Extents() = default;

    Extents(std::initializer_list<Extent> numbers) { append(numbers.begin(), numbers.size()); }

    Extents(const std::vector<Extent>& numbers) { append(numbers.data(), numbers.size()); }

    explicit Extents(std::size_t count, Extent number = 0) { resize(count, number); }

    Extents(const Extent* first, const Extent* last)
    {
        append(first, static_cast<std::size_t>(last - first));
    }

    Extents(const Extents& other)
        : m_size(other.m_far ? 0 : other.m_size)
        , m_near(other.m_near)
    {
        if (other.m_far) {
            append(other.begin(), other.size());
        }
    }

    Extents(Extents&& other) noexcept
        : m_size(std::exchange(other.m_size, 0))
        , m_capacity(std::exchange(other.m_capacity, kNear))
        , m_near(other.m_near)
        , m_far(std::move(other.m_far))
    {}

    Extents& operator=(const Extents& other) { return *this = Extents(other); }

    Extents& operator=(Extents&& other) noexcept
    {
        m_size = std::exchange(other.m_size, 0);
        m_capacity = std::exchange(other.m_capacity, kNear);
        m_near = other.m_near;
        m_far = std::move(other.m_far);
        return *this;
    }

    ~Extents() = default;

    operator std::vector<Extent>() const { return {begin(), end()}; }

    [[nodiscard]] std::size_t size() const { return m_size; }

    [[nodiscard]] bool empty() const { return m_size == 0; }

    [[nodiscard]] Extent* data() { return m_far ? m_far.get() : m_near.data(); }

    [[nodiscard]] const Extent* data() const { return m_far ? m_far.get() : m_near.data(); }

    [[nodiscard]] Extent& operator[](std::size_t axis) { return data()[axis]; }

    [[nodiscard]] Extent operator[](std::size_t axis) const { return data()[axis]; }

    [[nodiscard]] iterator begin() { return data(); }

    [[nodiscard]] iterator end() { return data() + m_size; }

    [[nodiscard]] const_iterator begin() const { return data(); }

    [[nodiscard]] const_iterator end() const { return data() + m_size; }

    [[nodiscard]] Extent front() const { return data()[0]; }

    [[nodiscard]] Extent back() const { return data()[m_size - 1]; }

    void clear() { m_size = 0; }

    void push_back(Extent number)
    {
        reserve(m_size + 1U);
        data()[m_size++] = number;
    }

    void resize(std::size_t count, Extent number = 0)
    {
        reserve(count);
        std::fill(end(), std::max(end(), begin() + count), number);
        m_size = static_cast<std::uint32_t>(count);
    }

    void erase(std::size_t axis)
    {
        std::copy(begin() + axis + 1, end(), begin() + axis);
        --m_size;
    }

    void assign(std::size_t count, Extent number)
    {
        clear();
        resize(count, number);
    }

    bool operator==(const Extents& other) const
    {
        return std::equal(begin(), end(), other.begin(), other.end());
    }

private:
    static constexpr std::uint32_t kNear = 4;

    void reserve(std::size_t count)
    {
        if (count > m_capacity) {
            const std::size_t more = std::max<std::size_t>(count, 2U * m_capacity);
            auto far = std::make_unique<Extent[]>(more);
            std::copy(begin(), end(), far.get());
            m_far = std::move(far);
            m_capacity = static_cast<std::uint32_t>(more);
        }
    }

    void append(const Extent* numbers, std::size_t count)
    {
        reserve(m_size + count);
        std::copy(numbers, numbers + count, end());
        m_size += static_cast<std::uint32_t>(count);
    }

    std::uint32_t m_size = 0, m_capacity = kNear;
    std::array<Extent, kNear> m_near{}; // used while the numbers fit
    std::unique_ptr<Extent[]> m_far;    // used otherwise
};

} // namespace pallascope
