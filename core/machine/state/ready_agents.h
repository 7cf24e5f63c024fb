// Which agent has the next turn. It keeps the agents that can go on in a heap, so that a turn costs
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
        m_heap.clear();
        m_places.assign(agents, kNowhere);
    }

    // The agent can go on with this key, or cannot go on.
    void set(std::int32_t agent, std::optional<Key> key)
    {
        const std::int32_t place = m_places[static_cast<std::size_t>(agent)];
        if (key) {
            if (place == kNowhere) {
                m_heap.emplace_back();
            }
            settle(place == kNowhere ? m_heap.size() - 1 : static_cast<std::size_t>(place),
                   {*key, agent});
        } else if (place != kNowhere) {
            m_places[static_cast<std::size_t>(agent)] = kNowhere;
            const Entry last = m_heap.back();
            m_heap.pop_back();
            if (last.agent != agent) {
                settle(static_cast<std::size_t>(place), last);
            }
        }
    }

    [[nodiscard]] std::optional<std::int32_t> first() const
    {
        return m_heap.empty() ? std::nullopt : std::optional(m_heap.front().agent);
    }

    // The time of whoever would be first without that one; the latest time if there is nobody else.
    [[nodiscard]] Picoseconds nextTime() const
    {
        Picoseconds time(std::numeric_limits<std::int64_t>::max());
        for (std::size_t place = 1; place < std::min<std::size_t>(3, m_heap.size()); ++place) {
            time = std::min(time, m_heap[place].key.time);
        }
        return time;
    }

private:
    static constexpr std::int32_t kNowhere = -1;

    struct Entry
    {
        Key key;
        std::int32_t agent = kNowhere;
    };

    void put(std::size_t place, const Entry& entry)
    {
        m_heap[place] = entry;
        m_places[static_cast<std::size_t>(entry.agent)] = static_cast<std::int32_t>(place);
    }

    // Puts an entry where it belongs, if `place` is free.
    void settle(std::size_t place, const Entry entry)
    {
        while (place > 0 && entry.key < m_heap[(place - 1) / 2].key) {
            put(place, m_heap[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        for (std::size_t below = 2 * place + 1; below < m_heap.size(); below = 2 * place + 1) {
            if (below + 1 < m_heap.size() && m_heap[below + 1].key < m_heap[below].key) {
                ++below;
            }
            if (!(m_heap[below].key < entry.key)) {
                break;
            }
            put(place, m_heap[below]);
            place = below;
        }
        put(place, entry);
    }

    // A heap: those at places 2n + 1 and 2n + 2 come after the one at place n.
    std::vector<Entry> m_heap;
    std::vector<std::int32_t> m_places; // of each agent in it
};

} // namespace pallascope::machine
