// Changes files in ways that may cause trouble. The same state of `Random` gives the same bytes
// everywhere.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace pallascope::fuzz {

using Json = nlohmann::ordered_json;

class Random
{
public:
    explicit Random(std::uint64_t seed)
        : m_engine(seed)
    {}

    [[nodiscard]] std::uint64_t bits() { return m_engine(); }

    [[nodiscard]] std::size_t below(std::size_t count) // 0 if count is 0
    {
        return count == 0 ? 0 : static_cast<std::size_t>(m_engine() % count);
    }

    [[nodiscard]] bool oneIn(std::size_t count) { return below(count) == 0; }

    template<class List>
    [[nodiscard]] decltype(auto) pick(List& list)
    {
        return list[below(std::size(list))];
    }

private:
    std::mt19937_64 m_engine;
};

// The text of `file` with one to six values changed: replaced by another number, word or kind, or
// by a value from another place or from `other`; swapped; removed; repeated; put deep into lists;
// or replaced by something that is not JSON.
[[nodiscard]] std::string mutatedTree(const Json& file, const Json& other, Random& random);

// One to four changes of bytes: flipped, replaced, inserted, removed, repeated or cut off; numbers
// in text replaced; a part of `other` inserted.
[[nodiscard]] std::string mutatedBytes(std::string bytes, const std::string& other, Random& random);

} // namespace pallascope::fuzz
