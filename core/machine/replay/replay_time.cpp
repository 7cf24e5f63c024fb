// Finds moments of a replay by their times, which it learns where it has not been yet.
#include "core/machine/replay/replay_impl.h"

#include <algorithm>

namespace pallascope::machine {

bool Replay::Impl::learns() const
{
    return latest.size() < spacing.times;
}

std::int64_t Replay::Impl::endOfSlice(std::int64_t most) const
{
    const std::int64_t to = std::min(most, sequence() + slice);
    const auto known = static_cast<std::int64_t>(latest.size()) - 1;
    return learns() && sequence() < known ? std::min(to, known) : to;
}

// Where the run has not been yet, it pauses at every moment to learn its time.
Status Replay::Impl::advance(Until until)
{
    if (!learns()) {
        return engine.execute(until);
    }
    if (sequence() + 1 < static_cast<std::int64_t>(latest.size())) {
        return engine.execute({.events = until.events});
    }
    while (sequence() < until.events && !engine.hasEnded() && engine.now() <= until.time) {
        if (Status status = engine.execute({.events = sequence() + 1}); !status) {
            return status;
        }
        latest.resize(static_cast<std::size_t>(sequence()) + 1,
                      std::max(latest.back(), engine.now()));
    }
    return Done{};
}

Result<bool> Replay::seekTime(Picoseconds time, const Proceed& proceed)
{
    Result<bool> explored = m_impl->explore(time, proceed);
    if (!explored || !*explored) {
        return explored;
    }
    if (!m_impl->knowsAllUpTo(time)) {
        return m_impl->searchTime(time, proceed);
    }
    const std::vector<Picoseconds>& latest = m_impl->latest;
    const auto later = std::upper_bound(latest.begin(), latest.end(), time);
    return seek(std::max<std::int64_t>(later - latest.begin() - 1, 0), proceed);
}

bool Replay::Impl::knowsAllUpTo(Picoseconds time) const
{
    return latest.back() > time || (end && *end < static_cast<std::int64_t>(latest.size()));
}

Result<bool> Replay::Impl::explore(Picoseconds time, const Proceed& proceed)
{
    while (learns() && !knowsAllUpTo(time)) {
        approach(checkpoints.size(), false);
        Result<bool> moved = forward({.time = time}, proceed);
        if (!moved || !*moved) {
            return moved;
        }
    }
    return true;
}

// In a run of so many moments that the times of only some are kept.
Result<bool> Replay::Impl::searchTime(Picoseconds time, const Proceed& proceed)
{
    const auto later =
        std::partition_point(checkpoints.begin(), checkpoints.end(),
                             [&](const auto& checkpoint) { return checkpoint.time <= time; });
    approach(static_cast<std::size_t>(later - checkpoints.begin()), engine.now() > time);
    Result<bool> moved = forward({.time = time}, proceed);
    if (!moved || !*moved || (engine.hasEnded() && engine.now() <= time)) {
        return moved;
    }
    // The search may run past the last moment that it looks for: to where the next event would
    // begin, or past a wait that ends later.
    std::int64_t number = sequence();
    approach(countUpTo(number), true);
    moved = forward({.events = number}, proceed);
    while (moved && *moved && engine.now() > time) {
        moved = seek(--number, proceed);
    }
    return moved;
}

} // namespace pallascope::machine
