// What has happened before, as somebody knows it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pallascope::machine {

// For each agent, how many of its releases (signals, starts of copies, commits) somebody knows of.
// Only agents of which something is known are kept: of the thousands on a GPU an agent knows those
// of its block.
class Epochs
{
public:
    // 0: nothing of this agent is known.
    [[nodiscard]] std::uint32_t operator[](std::int32_t agent) const
    {
        const std::size_t at = find(agent);
        return at < m_known.size() && m_known[at].first == agent ? m_known[at].second : 0;
    }

    void release(std::int32_t agent)
    {
        const std::size_t at = find(agent);
        if (at == m_known.size() || m_known[at].first != agent) {
            m_known.insert(m_known.begin() + static_cast<std::ptrdiff_t>(at), {agent, 0});
        }
        ++m_known[at].second;
    }

    void learn(const Epochs& others)
    {
        std::size_t at = 0;
        for (std::size_t i = 0; i < others.m_known.size(); ++i) {
            const auto& [agent, epoch] = others.m_known[i];
            while (at < m_known.size() && m_known[at].first < agent) {
                ++at;
            }
            if (at == m_known.size() || m_known[at].first != agent) {
                merge(others, i);
                return;
            }
            m_known[at].second = std::max(m_known[at].second, epoch);
        }
    }

    void forgetAllBut(std::int32_t agent)
    {
        std::erase_if(m_known, [&](const Known& known) { return known.first != agent; });
    }

    void clear() { m_known.clear(); }

private:
    friend class StateHasher;
    using Known = std::pair<std::int32_t, std::uint32_t>; // agent, releases

    // Where the agent is, or belongs.
    [[nodiscard]] std::size_t find(std::int32_t agent) const
    {
        const auto at = std::lower_bound(
            m_known.begin(), m_known.end(), agent,
            [](const Known& known, std::int32_t one) { return known.first < one; });
        return static_cast<std::size_t>(at - m_known.begin());
    }

    // Learns those of `others` from number `from` on, of which some agent is not known yet.
    void merge(const Epochs& others, std::size_t from)
    {
        std::vector<Known> all;
        all.reserve(m_known.size() + others.m_known.size() - from);
        std::size_t at = 0;
        for (std::size_t i = from; i < others.m_known.size(); ++i) {
            const Known& other = others.m_known[i];
            while (at < m_known.size() && m_known[at].first < other.first) {
                all.push_back(m_known[at++]);
            }
            const bool isBoth = at < m_known.size() && m_known[at].first == other.first;
            all.emplace_back(other.first,
                             isBoth ? std::max(m_known[at++].second, other.second) : other.second);
        }
        all.insert(all.end(), m_known.begin() + static_cast<std::ptrdiff_t>(at), m_known.end());
        m_known = std::move(all);
    }

    std::vector<Known> m_known; // by agent
};

struct VectorClock
{
    Epochs known;
    // How much of that a commit_smem has made known to the async proxy of a GPU. Empty elsewhere.
    Epochs committed;

    void learn(const VectorClock& other)
    {
        known.learn(other.known);
        committed.learn(other.committed);
    }
};

} // namespace pallascope::machine
