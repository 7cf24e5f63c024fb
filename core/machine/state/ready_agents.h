// Which agent has the next turn. It keeps the agents that can go on in a tree, so that a turn costs
// the logarithm of their number.
#pragma once

#include "core/base/units.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace pallascope::machine {

class ReadyAgents
{
public:
    // Agents go in this order.
    struct Key
    {
        Picoseconds time;
        bool yields = false;    // others with the same time go first
        std::int32_t order = 0; // different for each agent

        auto operator<=>(const Key&) const = default;
    };

    // Begins with `agents` agents that cannot go on.
    void reset(std::size_t agents)
    {
        m_leaves = 1;
        while (m_leaves < agents) {
            m_leaves *= 2;
        }
        m_keys.assign(agents, std::nullopt);
        m_firstOf.assign(2 * m_leaves, kNobody);
    }

    // The agent can go on with this key, or cannot go on.
    void set(std::int32_t agent, std::optional<Key> key)
    {
        m_keys[static_cast<std::size_t>(agent)] = key;
        std::size_t node = m_leaves + static_cast<std::size_t>(agent);
        m_firstOf[node] = key ? agent : kNobody;
        for (node /= 2; node > 0; node /= 2) {
            m_firstOf[node] = earlier(m_firstOf[2 * node], m_firstOf[2 * node + 1]);
        }
    }

    [[nodiscard]] std::optional<std::int32_t> first() const
    {
        return m_firstOf[1] == kNobody ? std::nullopt : std::optional(m_firstOf[1]);
    }

    // The time of whoever would be first without that one; the latest time if there is nobody else.
    [[nodiscard]] Picoseconds nextTime() const
    {
        Picoseconds time(std::numeric_limits<std::int64_t>::max());
        if (m_firstOf[1] == kNobody) {
            return time;
        }
        std::size_t node = m_leaves + static_cast<std::size_t>(m_firstOf[1]);
        for (; node > 1; node /= 2) {
            if (const std::int32_t other = m_firstOf[node ^ 1U]; other != kNobody) {
                time = std::min(time, keyOf(other).time);
            }
        }
        return time;
    }

private:
    static constexpr std::int32_t kNobody = -1;

    [[nodiscard]] const Key& keyOf(std::int32_t agent) const
    {
        return *m_keys[static_cast<std::size_t>(agent)];
    }

    [[nodiscard]] std::int32_t earlier(std::int32_t a, std::int32_t b) const
    {
        if (a == kNobody || b == kNobody) {
            return a == kNobody ? b : a;
        }
        return keyOf(b) < keyOf(a) ? b : a;
    }

    std::size_t m_leaves = 1; // a power of two
    std::vector<std::optional<Key>> m_keys;
    // A binary tree: node 1 is the root, nodes 2n and 2n + 1 are below node n, and agent i is leaf
    // m_leaves + i. Each node has the first agent of those below it.
    std::vector<std::int32_t> m_firstOf{kNobody, kNobody};
};

} // namespace pallascope::machine
