// Random choices that follow from a seed, the same with every compiler.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace pallascope::machine_test {

class Chance
{
public:
    explicit Chance(std::uint64_t seed)
        : m_random(seed)
    {}

    std::int64_t below(std::int64_t limit)
    {
        return static_cast<std::int64_t>(m_random() % static_cast<std::uint64_t>(limit));
    }

    // From lowest to highest, both included.
    std::int64_t from(std::int64_t lowest, std::int64_t highest)
    {
        return lowest + below(highest - lowest + 1);
    }

    bool oneIn(std::int64_t n) { return below(n) == 0; }

    template<class T>
    const T& pick(const std::vector<T>& among)
    {
        return among[static_cast<std::size_t>(below(static_cast<std::int64_t>(among.size())))];
    }

private:
    std::mt19937_64 m_random;
};

} // namespace pallascope::machine_test
