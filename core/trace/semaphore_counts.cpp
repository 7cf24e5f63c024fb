#include "core/trace/semaphore_counts.h"

#include "core/trace/columns.h"
#include "core/trace/lookup.h"

#include <algorithm>

namespace pallascope::trace {

namespace {

void addTo(std::vector<std::int64_t>& sums, std::int64_t amount)
{
    const auto last = static_cast<std::uint64_t>(sums.empty() ? 0 : sums.back());
    sums.push_back(static_cast<std::int64_t>(last + static_cast<std::uint64_t>(amount)));
}

} // namespace

bool isBarrier(const Info& info, std::int32_t semaphore)
{
    return info.semaphores[at(semaphore)].kind == "barrier";
}

SemaphoreCounts::SemaphoreCounts(const Trace& trace)
    : m_all(trace.info().semaphores.size())
{
    const Signals& signals = trace.signals();
    for (std::size_t row = 0; row < signals.size(); ++row) {
        History& history = m_all[at(signals.semaphore[row])];
        const std::int64_t amount = signals.amount[row];
        history.time.push_back(signals.time[row]);
        addTo(history.count, amount);
        if (amount > 0) {
            addTo(history.added, amount);
        } else {
            history.takenTime.push_back(signals.time[row]);
            addTo(history.taken, static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(amount)));
        }
    }
}

const SemaphoreCounts::History& SemaphoreCounts::of(std::int32_t semaphore) const
{
    return m_all[at(semaphore)];
}

bool SemaphoreCounts::isUsed(std::int32_t semaphore) const
{
    return !of(semaphore).time.empty();
}

std::int64_t SemaphoreCounts::countAt(std::int32_t semaphore, Picoseconds t) const
{
    const History& history = of(semaphore);
    const std::size_t changes = begunBy(history.time, t.value());
    return changes == 0 ? 0 : history.count[changes - 1];
}

std::int64_t SemaphoreCounts::added(std::int32_t semaphore, std::size_t signals) const
{
    const std::vector<std::int64_t>& sums = of(semaphore).added;
    const std::size_t count = std::min(signals, sums.size());
    return count == 0 ? 0 : sums[count - 1];
}

std::optional<Picoseconds> SemaphoreCounts::takenAt(std::int32_t semaphore,
                                                    std::int64_t amount) const
{
    const History& history = of(semaphore);
    const auto enough = std::lower_bound(history.taken.begin(), history.taken.end(), amount);
    if (enough == history.taken.end()) {
        return std::nullopt;
    }
    return Picoseconds(history.takenTime[at(enough - history.taken.begin())]);
}

std::int64_t SemaphoreCounts::takesBy(std::int32_t semaphore, Picoseconds t) const
{
    return static_cast<std::int64_t>(begunBy(of(semaphore).takenTime, t.value()));
}

std::int64_t SemaphoreCounts::firstTaken(std::int32_t semaphore) const
{
    return of(semaphore).taken.empty() ? 0 : of(semaphore).taken.front();
}

std::optional<Picoseconds> SemaphoreCounts::nextTake(std::int32_t semaphore, Picoseconds t) const
{
    const std::vector<std::int64_t>& times = of(semaphore).takenTime;
    const auto next = std::lower_bound(times.begin(), times.end(), t.value());
    return next == times.end() ? std::nullopt : std::optional(Picoseconds(*next));
}

OptionalRow<WaitRow> waitOn(const Trace& trace, std::int32_t semaphore, Picoseconds t)
{
    const std::vector<std::int32_t>& semaphores = trace.waits().semaphore;
    const auto wait = waitAt(trace, AgentRow{trace.info().semaphores[at(semaphore)].agent}, t);
    return wait && !semaphores.empty() && semaphores[wait->index()] == semaphore ? wait
                                                                                 : std::nullopt;
}

} // namespace pallascope::trace
