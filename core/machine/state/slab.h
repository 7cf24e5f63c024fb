// Numbered items, allocated and released in ranges of numbers. Released numbers are reused, so that
// a loop does not make the slab grow.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace pallascope::machine {

// A range of numbers: [first, first + count).
struct SlabRange
{
    std::int32_t first = 0, count = 0;
};

template<class T>
class Slab
{
public:
    // Allocates default-constructed items with consecutive numbers.
    [[nodiscard]] SlabRange allocate(std::int32_t count)
    {
        std::vector<std::int32_t>& free = m_free[count];
        if (!free.empty()) {
            const std::int32_t first = free.back();
            free.pop_back();
            return {first, count};
        }
        const auto first = static_cast<std::int32_t>(m_items.size());
        m_items.resize(m_items.size() + static_cast<std::size_t>(count));
        return {first, count};
    }

    void release(SlabRange range)
    {
        for (std::int32_t i = range.first; i < range.first + range.count; ++i) {
            std::destroy_at(&(*this)[i]);
            std::construct_at(&(*this)[i]);
        }
        m_free[range.count].push_back(range.first);
    }

    // All numbers are below this, in use or released.
    [[nodiscard]] std::int32_t end() const { return static_cast<std::int32_t>(m_items.size()); }

    [[nodiscard]] const T& operator[](std::int32_t index) const
    {
        return m_items[static_cast<std::size_t>(index)];
    }

    [[nodiscard]] T& operator[](std::int32_t index)
    {
        return m_items[static_cast<std::size_t>(index)];
    }

private:
    friend class StateHasher;

    std::vector<T> m_items;
    std::map<std::int32_t, std::vector<std::int32_t>> m_free; // released ranges, by count
};

} // namespace pallascope::machine
