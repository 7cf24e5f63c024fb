// Copies that the blocks of a cluster make for each other, in class Races.
#include "core/machine/state/races.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

// What `other` writes into the memory of the block that has started `mine`, against what was done
// there before. The starter of `mine` has waited for that; later accesses see what the copy brings.
// Writes are not looked at: what a copy brought is what the copy before this one brought.
std::optional<Race> Races::intoPeer(const Share& other, const Share& mine) const
{
    const Access& access = mine.write.access;
    const auto buffer = static_cast<std::size_t>(access.buffer);
    if (buffer >= m_past.size()) {
        return std::nullopt;
    }
    const Past* past =
        m_past[buffer].reads.knownOnly(mine.known, other.known, reachOf(access.place));
    if (past == nullptr || past->agent == other.agent) {
        return std::nullopt;
    }
    return Race{false, false, true, {}, past->agent, past->step, past->location};
}

std::optional<std::pair<Race, Accessor>> Races::share(std::int32_t agent, const SharedWrite& write)
{
    const Reach& reach = reachOf(write.access.place);
    SharedPlace place{write.access.buffer, {}};
    for (std::size_t axis = 1; axis < reach.start.size(); ++axis) { // the first says whose it is
        place.second.insert(place.second.end(), {reach.start[axis], reach.stop[axis]});
    }
    Shares& shares = m_shares[std::move(place)];
    const Share mine{shares.rounds[write.block]++, agent, clock(agent).known, write};
    release(agent); // later accesses see what the copy brings
    std::optional<std::pair<Race, Accessor>> found;
    const auto find = [&](const Share& by, const Share& at) {
        if (found) {
            return;
        }
        if (const std::optional<Race> race = intoPeer(by, at)) {
            const Access& access = by.write.access;
            found.emplace(*race, Accessor{by.agent, by.write.copy, access.step, access.location});
        }
    };
    const auto belong = [&](std::int32_t block) {
        return std::find(write.blocks.begin(), write.blocks.end(), block) != write.blocks.end();
    };
    for (const Share& other : shares.open) {
        if (other.round == mine.round && belong(other.write.block)) {
            find(other, mine);
            find(mine, other);
        }
    }
    shares.open.push_back(mine);
    const bool isLast = std::all_of(write.blocks.begin(), write.blocks.end(), [&](auto block) {
        const auto rounds = shares.rounds.find(block);
        return rounds != shares.rounds.end() && rounds->second > mine.round;
    });
    if (isLast) {
        std::erase_if(shares.open, [&](const Share& one) {
            return one.round == mine.round && belong(one.write.block);
        });
    }
    return found;
}

} // namespace pallascope::machine
