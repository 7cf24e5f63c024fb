#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace pallascope {

// A vector whose copies share its elements until one of them changes. It is for what many values
// have in common and rarely change, such as a program's operations in the traces of its runs.
template<class T>
class SharedList
{
public:
    SharedList() = default;

    SharedList(std::initializer_list<T> elements)
        : SharedList(std::vector<T>(elements))
    {}

    SharedList(std::vector<T> elements)
        : m_elements(std::make_shared<std::vector<T>>(std::move(elements)))
    {}

    [[nodiscard]] std::size_t size() const { return m_elements ? m_elements->size() : 0; }

    [[nodiscard]] bool empty() const { return size() == 0; }

    [[nodiscard]] const T& operator[](std::size_t i) const { return (*m_elements)[i]; }

    [[nodiscard]] const T& front() const { return m_elements->front(); }

    [[nodiscard]] const T& back() const { return m_elements->back(); }

    [[nodiscard]] const T* begin() const { return m_elements ? m_elements->data() : nullptr; }

    [[nodiscard]] const T* end() const { return begin() + size(); }

    // The elements, to change them; copies of this list keep theirs. The reference is valid until
    // the list is copied or destroyed.
    [[nodiscard]] std::vector<T>& edit()
    {
        if (!m_elements) {
            m_elements = std::make_shared<std::vector<T>>();
        } else if (m_elements.use_count() > 1) {
            m_elements = std::make_shared<std::vector<T>>(*m_elements);
        }
        return *m_elements;
    }

    // Whether one is a copy of the other and neither has changed since.
    [[nodiscard]] bool sharesWith(const SharedList& other) const
    {
        return m_elements == other.m_elements;
    }

    friend bool operator==(const SharedList& a, const SharedList& b)
    {
        return a.m_elements == b.m_elements
               || (a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin()));
    }

private:
    std::shared_ptr<std::vector<T>> m_elements; // null: empty
};

} // namespace pallascope
