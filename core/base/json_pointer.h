// Where a reader of a JSON document is, as an RFC 6901 pointer that grows and shrinks with it.
#pragma once

#include <string>
#include <string_view>

namespace pallascope {

// Adds one step to the pointer of a place while it lives; a place is anything with a `pointer`.
class Enter
{
public:
    template<class Place>
    Enter(Place& place, std::string_view key)
        : m_pointer(place.pointer)
        , m_length(place.pointer.size())
    {
        m_pointer.append(1, '/').append(key);
    }

    template<class Place>
    Enter(Place& place, std::size_t index)
        : Enter(place, std::string_view(std::to_string(index)))
    {}

    ~Enter() { m_pointer.resize(m_length); }

    Enter(const Enter&) = delete;
    Enter& operator=(const Enter&) = delete;

private:
    std::string& m_pointer;
    std::size_t m_length;
};

} // namespace pallascope
