// The table of past accesses in class Races: by where they start on the first axis.
#include "core/machine/state/races.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace pallascope::machine {

template<class F>
void Races::PastAccesses::near(std::int64_t from, std::int64_t to, F visit) const
{
    if (m_all.empty() || from >= to) {
        return;
    }
    const std::int64_t first = std::max<std::int64_t>(from, 0) >> m_shift,
                       last = (to - 1) >> m_shift;
    const auto count = static_cast<std::int32_t>(m_all.size());
    if (last - first >= count) {
        for (std::int32_t number = 0; number < count; ++number) {
            visit(number);
        }
        return;
    }
    for (std::int64_t stretch = first; stretch <= last; ++stretch) {
        for (std::int32_t number = m_chains[chainOf(stretch)]; number >= 0;
             number = m_all[static_cast<std::size_t>(number)].next) {
            visit(number);
        }
    }
}

void Races::PastAccesses::link(std::int32_t number)
{
    Past& past = m_all[static_cast<std::size_t>(number)];
    past.next = std::exchange(m_chains[chainOf(past.start >> m_shift)], number);
}

void Races::PastAccesses::rebuild()
{
    m_chains.assign(std::bit_ceil(2 * m_all.size()), -1);
    for (std::size_t number = 0; number < m_all.size(); ++number) {
        link(static_cast<std::int32_t>(number));
    }
}

void Races::PastAccesses::add(Past past)
{
    Past* same = nullptr;
    near(past.start, past.start + 1, [&](std::int32_t number) {
        Past& other = m_all[static_cast<std::size_t>(number)];
        if (other.agent == past.agent && other.adds == past.adds && other.start == past.start
            && other.proxy == past.proxy && other.copy.has_value() == past.copy.has_value()
            && *other.reach == *past.reach) {
            same = &other;
        }
    });
    if (same != nullptr) {
        past.next = same->next;
        *same = std::move(past);
        return;
    }
    const int shift = m_shift;
    while ((std::int64_t{1} << m_shift) < stopOf(*past.reach) - past.start) {
        ++m_shift;
    }
    m_all.push_back(std::move(past));
    if (m_shift != shift || m_all.size() > m_chains.size()) {
        rebuild();
    } else {
        link(static_cast<std::int32_t>(m_all.size()) - 1);
    }
}

template<class F>
auto Races::PastAccesses::firstAt(const Reach& reach, bool adds, F isOpen) const -> const Past*
{
    std::pair<std::int64_t, std::int32_t> best{std::numeric_limits<std::int64_t>::max(), -1};
    const std::int64_t longest = std::int64_t{1} << m_shift;
    near(startOf(reach) - longest + 1, stopOf(reach), [&](std::int32_t number) {
        const Past& other = m_all[static_cast<std::size_t>(number)];
        if (isOpen(other) && !(adds && other.adds) && overlap(*other.reach, reach)) {
            best = std::min(best, {other.start, number});
        }
    });
    return best.second < 0 ? nullptr : &m_all[static_cast<std::size_t>(best.second)];
}

auto Races::PastAccesses::conflict(std::int32_t agent, const Epochs& known, const Reach& reach,
                                   bool adds) const -> const Past*
{
    return firstAt(reach, adds, [&](const Past& other) {
        return other.agent != agent && other.epoch > known[other.agent];
    });
}

auto Races::PastAccesses::uncommitted(const Epochs& committed, const Reach& reach, bool adds) const
    -> const Past*
{
    return firstAt(reach, adds, [&](const Past& other) {
        return other.proxy == Proxy::Generic && other.epoch > committed[other.agent];
    });
}

auto Races::PastAccesses::knownOnly(const Epochs& mine, const Epochs& others,
                                    const Reach& reach) const -> const Past*
{
    return firstAt(reach, false, [&](const Past& past) {
        return past.epoch <= mine[past.agent] && past.epoch > others[past.agent];
    });
}

auto Races::PastAccesses::conflicts(const Epochs& known, const Reach& reach, bool adds) const
    -> std::vector<const Past*>
{
    std::vector<std::int32_t> found;
    const std::int64_t longest = std::int64_t{1} << m_shift;
    near(startOf(reach) - longest + 1, stopOf(reach), [&](std::int32_t number) {
        const Past& other = m_all[static_cast<std::size_t>(number)];
        if (other.epoch > known[other.agent] && !(adds && other.adds)
            && overlap(*other.reach, reach)) {
            found.push_back(number);
        }
    });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    std::vector<const Past*> accesses;
    for (const std::int32_t number : found) {
        accesses.push_back(&m_all[static_cast<std::size_t>(number)]);
    }
    return accesses;
}

} // namespace pallascope::machine
