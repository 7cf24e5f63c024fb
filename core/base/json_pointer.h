// The position of a reader in a JSON document, as an RFC 6901 pointer that it lengthens and
// shortens.
#pragma once

#include <string>
#include <string_view>

namespace pallascope {

// While it lives, the pointer of `place` is one step longer. A place is anything with a member
// `pointer`.
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
