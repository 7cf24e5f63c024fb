#include "views/layout/run/barriers.h"

#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"
#include "core/trace/grid_launches.h"
#include "core/trace/lookup.h"

#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

using trace::at;

// Adds the copies under way on all links whose end signals this semaphore.
void addCopies(const RunView& run, std::int32_t semaphore, Picoseconds now, BarrierNow& barrier)
{
    const trace::Trace& trace = *run.trace;
    const trace::Copies& copies = trace.copies();
    for (std::size_t link = 0; link < trace.info().links.size(); ++link) {
        const auto row = trace::LinkRow::at(link);
        const std::size_t issued = run.index->copiesBy(row, copies.issue, now);
        for (std::size_t i = run.index->copiesBy(row, copies.end, now); i < issued; ++i) {
            const trace::CopyRow copy = run.index->copyOf(row, i);
            const trace::OptionalRow<trace::EndRow> source = trace::sourceOf(trace, copy);
            if (source && trace.copyEnds().semaphore[source->index() + 1] == semaphore) {
                const double left = 1 - trace::copyFraction(trace, copy, now);
                ++barrier.copies;
                barrier.pending +=
                    Bytes(std::llround(left * static_cast<double>(copies.bytes[copy.index()])));
            }
        }
    }
}

} // namespace

BarrierNow barrierAt(const RunView& run, std::int32_t semaphore, Picoseconds now)
{
    const trace::SemaphoreCounts& counts = run.index->semaphores();
    const std::int32_t agent = run.trace->info().semaphores[at(semaphore)].agent;
    BarrierNow barrier{.complete = counts.takesBy(semaphore, now),
                       .arrived = counts.countAt(semaphore, now),
                       .needed = counts.firstTaken(semaphore)};
    if (const std::optional<std::int64_t> block = run.index->launches().blockOf(agent, now)) {
        const Picoseconds begin(run.trace->gridBlocks().begin[at(*block)]);
        // What arrived in the block before and completed no phase is dropped.
        barrier.complete -= counts.takesBy(semaphore, begin - Picoseconds(1));
        barrier.arrived -= counts.countAt(semaphore, begin - Picoseconds(1));
    }
    addCopies(run, semaphore, now, barrier);
    const trace::Waits& waits = run.trace->waits();
    const trace::Agents& agents = run.index->agents();
    const std::int32_t sm = agents.smOf.empty() ? trace::kNone : agents.smOf[at(agent)];
    const bool canWait = sm != trace::kNone && now < run.trace->end() && !waits.semaphore.empty();
    for (const std::int32_t one :
         canWait ? agents.sms[at(sm)].agents : std::vector<std::int32_t>()) {
        const auto wait = trace::waitAt(*run.trace, trace::AgentRow{one}, now);
        if (wait && waits.semaphore[wait->index()] == semaphore) {
            barrier.waiting.push_back(one);
        }
    }
    return barrier;
}

std::string arrivedText(const BarrierNow& barrier, bool isLong)
{
    const std::string arrived = countText(barrier.arrived);
    if (barrier.needed == 0) {
        return isLong ? arrived + " arrived" : arrived;
    }
    return isLong ? fmt::format("phase {}, {} of {} arrived", countText(barrier.complete), arrived,
                                countText(barrier.needed))
                  : fmt::format("{}: {}/{}", countText(barrier.complete), arrived,
                                countText(barrier.needed));
}

std::string pendingText(const BarrierNow& barrier)
{
    return barrier.copies == 0 ? std::string()
                               : fmt::format("{} to come in {}", bytesText(barrier.pending),
                                             counted(barrier.copies, "copy", "copies"));
}

} // namespace pallascope::layout
