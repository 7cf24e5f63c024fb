// A queue whose items usually arrive at the end and leave at the front. Unlike std::deque it keeps
// its memory while items come and go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace pallascope::machine {

template<class T>
class Queue
{
public:
    [[nodiscard]] bool empty() const { return m_first == m_items.size(); }

    [[nodiscard]] std::size_t size() const { return m_items.size() - m_first; }

    [[nodiscard]] auto begin() { return m_items.begin() + offset(); }

    [[nodiscard]] auto begin() const { return m_items.begin() + offset(); }

    [[nodiscard]] auto end() { return m_items.end(); }

    [[nodiscard]] auto end() const { return m_items.end(); }

    [[nodiscard]] T& front() { return m_items[m_first]; }

    [[nodiscard]] const T& front() const { return m_items[m_first]; }

    T& emplace_back() { return m_items.emplace_back(); }

    // Inserts before `place`, an iterator of this queue.
    template<class Iterator>
    void insert(Iterator place, T item)
    {
        m_items.insert(place, std::move(item));
    }

    void pop_front()
    {
        std::destroy_at(&m_items[m_first]);
        std::construct_at(&m_items[m_first++]);
        if (empty()) {
            m_items.clear();
            m_first = 0;
        } else if (m_first > size()) { // so that each item is moved only once or twice in total
            m_items.erase(m_items.begin(), begin());
            m_first = 0;
        }
    }

    template<class Predicate>
    void removeIf(const Predicate& predicate)
    {
        m_items.erase(std::remove_if(begin(), end(), predicate), end());
    }

private:
    [[nodiscard]] auto offset() const { return static_cast<std::ptrdiff_t>(m_first); }

    std::vector<T> m_items; // begins with items that have left and are empty
    std::size_t m_first = 0;
};

} // namespace pallascope::machine
