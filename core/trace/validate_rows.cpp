#include "core/trace/columns.h"
#include "core/trace/validate.h"

#include <fmt/format.h>
#include <vector>

namespace pallascope::trace {

namespace {

Status checkSteps(const TraceBuilder& b)
{
    const Steps& s = b.steps;
    // For each pipeline the ordinal that must come next.
    std::vector<std::int64_t> next(b.info.pipelines.size(), 0);
    std::vector<std::int64_t> ended(b.info.pipelines.size(), 0);
    std::int64_t previous = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
        if (s.begin[i] < 0 || s.bodyBegin[i] < s.begin[i] || s.bodyEnd[i] < s.bodyBegin[i]
            || s.end[i] < s.bodyEnd[i] || s.end[i] > b.end.value()) {
            return broken(
                "steps row {}: begin {}, bodyBegin {}, bodyEnd {}, end {} must not decrease "
                "and lie between 0 and the run's end ({} ps)",
                i, s.begin[i], s.bodyBegin[i], s.bodyEnd[i], s.end[i], b.end.value());
        }
        std::int64_t& expected = next[at(s.pipeline[i])];
        const std::int64_t steps = b.info.pipelines[at(s.pipeline[i])].steps;
        if (s.ordinal[i] != expected || s.ordinal[i] >= steps) {
            return broken("steps.ordinal[{}] is {}, but the next of {} steps of its pipeline is {}",
                          i, s.ordinal[i], steps, expected);
        }
        expected = expected + 1 == steps ? 0 : expected + 1; // a pipeline may run several times
        if (s.begin[i] < previous) {
            return broken("steps.begin[{}] is {} ps, but rows are sorted by begin and the one "
                          "before begins at {} ps",
                          i, s.begin[i], previous);
        }
        previous = s.begin[i];
        std::int64_t& before = ended[at(s.pipeline[i])];
        if (s.begin[i] < before || (s.ordinal[i] != 0 && s.begin[i] != before)) {
            return broken("steps.begin[{}] is {} ps, but the step before it ends at {} ps", i,
                          s.begin[i], before);
        }
        before = s.end[i];
    }
    return Done{};
}

// Of each template.
std::vector<std::int64_t> durationsOf(const Info& info)
{
    std::vector<std::int64_t> durations;
    for (const SegmentTemplate& segment : info.templates) {
        durations.push_back(segment.duration.value());
    }
    return durations;
}

Status checkSegments(const TraceBuilder& b)
{
    const Segments& g = b.segments;
    std::vector<std::int64_t> free(b.info.agents.size(), 0);
    const std::vector<std::int64_t> durations = durationsOf(b.info);
    std::int64_t previous = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
        const std::int64_t begin = g.begin[i], duration = durations[at(g.templateId[i])];
        if (begin < previous) {
            return broken("segments.begin[{}] is {} ps, but rows are sorted by begin and the one "
                          "before begins at {} ps",
                          i, begin, previous);
        }
        previous = begin;
        if (duration > b.end.value() || begin > b.end.value() - duration) {
            return broken("segments row {} ends {} ps after {} ps, past the run's end ({} ps)", i,
                          duration, begin, b.end.value());
        }
        std::int64_t& agentFree = free[at(g.agent[i])];
        if (begin < agentFree) {
            return broken("segments.begin[{}] is {} ps, but agent {} is busy until {} ps", i, begin,
                          g.agent[i], agentFree);
        }
        agentFree = begin + duration;
        if (g.step[i] == kNone) {
            continue;
        }
        const std::size_t step = at(g.step[i]);
        if (begin < b.steps.begin[step] || agentFree > b.steps.end[step]) {
            return broken("segments row {} ({} to {} ps) lies outside its step {} ({} to {} ps)", i,
                          begin, agentFree, step, b.steps.begin[step], b.steps.end[step]);
        }
    }
    return Done{};
}

// Of each operand.
std::vector<std::int64_t> blockTotals(const Info& info)
{
    std::vector<std::int64_t> totals;
    for (const Operand& operand : info.operands) {
        totals.push_back(blockTotal(operand));
    }
    return totals;
}

// Bytes that all copies may move together: reading and writing HBM for each still fits 64 bits.
constexpr std::int64_t kMostMoved = std::int64_t{1} << 61;

// Checks copies, including that their operands have such a block and slot.
Status checkCopies(const TraceBuilder& b)
{
    const Copies& c = b.copies;
    std::vector<std::int64_t> free(b.info.links.size(), 0);
    const std::vector<std::int64_t> blocks = blockTotals(b.info);
    std::int64_t previous = 0, left = kMostMoved;
    for (std::size_t i = 0; i < c.size(); ++i) {
        const Operand& operand = b.info.operands[at(c.operand[i])];
        const bool isManual = operand.pipeline == kNone;
        if (c.block[i] < 0 || c.block[i] >= blocks[at(c.operand[i])] || c.slot[i] < 0
            || c.slot[i] >= (isManual ? 1 : operand.slots)) {
            return broken("copies row {}: operand {} has no block {} or no slot {}", i,
                          operand.name, c.block[i], c.slot[i]);
        }
        if (operand.direction == (c.out[i] != 0 ? Direction::In : Direction::Out)) {
            return broken("copies.out[{}] is {}, against the direction of operand {}", i, c.out[i],
                          operand.name);
        }
        if (c.issue[i] < previous) {
            return broken(
                "copies.issue[{}] is {} ps, but rows are in issue order and the one before "
                "is issued at {} ps",
                i, c.issue[i], previous);
        }
        previous = c.issue[i];
        const bool timeless = c.start[i] == c.end[i];
        if (c.start[i] < c.issue[i] || c.end[i] < c.start[i] || c.end[i] > b.end.value()
            || c.bytes[i] < 0 || (timeless && c.bytes[i] != 0)) {
            return broken("copies row {}: issue {}, start {}, end {} ps must not decrease and lie "
                          "within the run ({} ps); {} bytes need more than no time",
                          i, c.issue[i], c.start[i], c.end[i], b.end.value(), c.bytes[i]);
        }
        if (c.bytes[i] > left) {
            return broken("copies move more than {} bytes in all, up to row {}", kMostMoved, i);
        }
        left -= c.bytes[i];
        std::int64_t& linkFree = free[at(c.link[i])];
        if (c.start[i] < linkFree) {
            return broken("copies.start[{}] is {} ps, but link {} is busy until {} ps", i,
                          c.start[i], b.info.links[at(c.link[i])].name, linkFree);
        }
        linkFree = c.end[i];
    }
    return Done{};
}

Status checkWaits(const TraceBuilder& b)
{
    const Waits& w = b.waits;
    std::vector<std::int64_t> free(b.info.agents.size(), 0);
    std::int64_t previous = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
        if (w.begin[i] < previous || w.end[i] < w.begin[i] || w.end[i] > b.end.value()) {
            return broken(
                "waits row {} ({} to {} ps) must begin at {} ps or later and lie within the "
                "run ({} ps)",
                i, w.begin[i], w.end[i], previous, b.end.value());
        }
        previous = w.begin[i];
        std::int64_t& agentFree = free[at(w.agent[i])];
        if (w.begin[i] < agentFree) {
            return broken("waits.begin[{}] is {} ps, but agent {} still waits until {} ps", i,
                          w.begin[i], w.agent[i], agentFree);
        }
        agentFree = w.end[i];
        if (w.copy[i] == kNone) {
            continue;
        }
        const bool bySemaphore = !w.semaphore.empty() && w.semaphore[i] != kNone;
        const std::size_t copy = at(w.copy[i]);
        if ((!bySemaphore && w.begin[i] < b.copies.issue[copy]) || w.end[i] < b.copies.end[copy]) {
            return broken(
                "waits row {} ({} to {} ps) is for copy {}, which is issued at {} and lands "
                "at {} ps",
                i, w.begin[i], w.end[i], copy, b.copies.issue[copy], b.copies.end[copy]);
        }
    }
    return Done{};
}

// An agent computes or waits, but never both at once. Rows without length cannot conflict and are
// skipped.
Status checkAgents(const TraceBuilder& b)
{
    const Segments& g = b.segments;
    const Waits& w = b.waits;
    const std::vector<std::int64_t> durations = durationsOf(b.info);
    std::vector<std::int64_t> free(b.info.agents.size(), 0);
    std::size_t row = 0;
    const auto overlaps = [&](std::int32_t agent, std::int64_t begin, std::int64_t length) {
        if (length == 0) {
            return false;
        }
        const bool busy = begin < free[at(agent)];
        free[at(agent)] = begin + length;
        return busy;
    };
    for (std::size_t i = 0; i <= w.size(); ++i) {
        const bool last = i == w.size();
        for (; row < g.size() && (last || g.begin[row] < w.begin[i]); ++row) {
            if (overlaps(g.agent[row], g.begin[row], durations[at(g.templateId[row])])) {
                return broken("segments row {} begins at {} ps while its agent still waits", row,
                              g.begin[row]);
            }
        }
        if (!last && overlaps(w.agent[i], w.begin[i], w.end[i] - w.begin[i])) {
            return broken("waits row {} begins at {} ps while its agent still computes", i,
                          w.begin[i]);
        }
    }
    return Done{};
}

// Whether a visit's copy has the same operand, block and slot, and goes in the given direction.
bool isCopyOf(const TraceBuilder& b, std::size_t visit, std::size_t copy, bool out)
{
    const Visits& v = b.visits;
    const Copies& c = b.copies;
    return c.operand[copy] == v.operand[visit] && c.block[copy] == v.block[visit]
           && c.slot[copy] == v.slot[visit] && (c.out[copy] != 0) == out;
}

// Whether it ends before the bodies of the visit's steps, or is issued behind them.
bool isInTime(const TraceBuilder& b, std::size_t visit, std::size_t copy, bool out)
{
    const Visits& v = b.visits;
    return out ? b.copies.issue[copy] >= b.steps.bodyEnd[at(v.lastStep[visit])]
               : b.copies.end[copy] <= b.steps.bodyBegin[at(v.firstStep[visit])];
}

Status brokenCopy(const TraceBuilder& b, std::size_t visit, std::int32_t copy, bool out)
{
    const char* const column = out ? "copyOut" : "copyIn";
    if (!isCopyOf(b, visit, at(copy), out)) {
        return broken(
            "visits.{}[{}] is copy {}, which moves another operand, block or slot, or the "
            "other way",
            column, visit, copy);
    }
    return broken("visits.{}[{}] is copy {} ({} to {} ps), which must {} the bodies of its steps",
                  column, visit, copy, b.copies.start[at(copy)], b.copies.end[at(copy)],
                  out ? "follow" : "precede");
}

Status checkVisits(const TraceBuilder& b)
{
    const Visits& v = b.visits;
    const std::vector<std::int64_t> blocks = blockTotals(b.info);
    for (std::size_t i = 0; i < v.size(); ++i) {
        const Operand& operand = b.info.operands[at(v.operand[i])];
        if (v.lastStep[i] < v.firstStep[i]
            || b.steps.pipeline[at(v.firstStep[i])] != operand.pipeline) {
            return broken(
                "visits row {}: steps {} to {} do not form a stay in the pipeline of operand "
                "{}",
                i, v.firstStep[i], v.lastStep[i], operand.name);
        }
        if (v.block[i] < 0 || v.block[i] >= blocks[at(v.operand[i])] || v.slot[i] < 0
            || v.slot[i] >= operand.slots) {
            return broken("visits row {}: operand {} has no block {} or no slot {}", i,
                          operand.name, v.block[i], v.slot[i]);
        }
        if (i > 0
            && (v.operand[i] < v.operand[i - 1]
                || (v.operand[i] == v.operand[i - 1] && v.firstStep[i] <= v.lastStep[i - 1]))) {
            return broken("visits row {} must come after the row before it: rows are sorted by "
                          "(operand, step) and stays do not overlap",
                          i);
        }
        for (const bool out : {false, true}) {
            const std::int32_t copy = out ? v.copyOut[i] : v.copyIn[i];
            if (copy != kNone
                && !(isCopyOf(b, i, at(copy), out) && isInTime(b, i, at(copy), out))) {
                return brokenCopy(b, i, copy, out);
            }
        }
    }
    return Done{};
}

Status checkSignals(const TraceBuilder& b)
{
    std::int64_t previous = 0;
    for (std::size_t i = 0; i < b.signals.size(); ++i) {
        if (b.signals.time[i] < previous || b.signals.time[i] > b.end.value()) {
            return broken("signals.time[{}] is {} ps; expected a time from {} ps, that of the row "
                          "before, to the run's end",
                          i, b.signals.time[i], previous);
        }
        previous = b.signals.time[i];
    }
    return Done{};
}

Status checkPrints(const TraceBuilder& b)
{
    Picoseconds previous;
    for (std::size_t i = 0; i < b.info.prints.size(); ++i) {
        const Print& print = b.info.prints[i];
        if (print.time < previous || print.time > b.end) {
            return broken("prints[{}].time is {} ps; expected a time from {} ps, that of the one "
                          "before, to the run's end",
                          i, print.time.value(), previous.value());
        }
        if (print.step < kNone || print.step >= static_cast<std::int64_t>(b.steps.size())
            || print.agent < 0 || print.agent >= static_cast<std::int64_t>(b.info.agents.size())) {
            return broken("prints[{}] is of step {} of {} and agent {} of {}", i, print.step,
                          b.steps.size(), print.agent, b.info.agents.size());
        }
        previous = print.time;
    }
    return Done{};
}

Status checkGridBlocks(const TraceBuilder& b)
{
    const GridBlocks& blocks = b.gridBlocks;
    std::int64_t previous = 0, sum = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const std::int64_t all = b.info.blockGrids[at(blocks.grid[i])].blocks;
        if (blocks.block[i] < 0 || blocks.block[i] >= all) {
            return broken("gridBlocks.block[{}] is {}, but its grid has {} blocks", i,
                          blocks.block[i], all);
        }
        if (blocks.begin[i] < previous || blocks.end[i] < blocks.begin[i]
            || blocks.end[i] > b.end.value()) {
            return broken("gridBlocks row {} ({} to {} ps) must begin at {} ps or later and lie "
                          "within the run ({} ps)",
                          i, blocks.begin[i], blocks.end[i], previous, b.end.value());
        }
        previous = blocks.begin[i];
        std::int64_t ofAgents = 0; // reports add it up
        if (__builtin_mul_overflow(blocks.end[i] - blocks.begin[i],
                                   b.info.blockGrids[at(blocks.grid[i])].agents, &ofAgents)
            || __builtin_add_overflow(sum, ofAgents, &sum)) {
            return broken("gridBlocks up to row {} take more than 2^63 ps over all agents", i);
        }
    }
    return Done{};
}

constexpr std::int64_t kMostCached = std::int64_t{1} << 40; // bytes; their sum fits 64 bits

Status checkCacheChanges(const TraceBuilder& b)
{
    const CacheChanges& changes = b.cacheChanges;
    std::int64_t previous = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        if (changes.time[i] < previous || changes.time[i] > b.end.value()) {
            return broken("cacheChanges.time[{}] is {} ps, but must be at least {} ps and at most "
                          "the run's end ({} ps)",
                          i, changes.time[i], previous, b.end.value());
        }
        if (changes.bytes[i] < 0 || changes.bytes[i] > kMostCached) {
            return broken("cacheChanges.bytes[{}] is {}, but must lie between 0 and {}", i,
                          changes.bytes[i], kMostCached);
        }
        previous = changes.time[i];
    }
    return Done{};
}

} // namespace

Status validateRows(const TraceBuilder& rows)
{
    if (rows.end < Picoseconds(0) || rows.end > Picoseconds(kMaxTime)) {
        return broken("the run's end is {} ps, but must lie between 0 and {} ps", rows.end.value(),
                      kMaxTime);
    }
    for (const auto check : {validateColumns, checkSteps, checkSegments, validateWork, checkCopies,
                             validateCopyEnds, checkWaits, checkAgents, checkVisits, checkSignals,
                             validateRounds, checkGridBlocks, checkCacheChanges, checkPrints}) {
        if (Status status = check(rows); !status) {
            return status;
        }
    }
    return Done{};
}

} // namespace pallascope::trace
