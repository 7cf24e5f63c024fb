// Checks columns without looking at what they mean: their lengths, and that row numbers exist.
#include "core/trace/columns.h"
#include "core/trace/validate.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace pallascope::trace {

namespace {

Status firstFault(std::span<const Status> results)
{
    const auto fault =
        std::find_if(results.begin(), results.end(), [](const Status& one) { return !one; });
    return fault == results.end() ? Status(Done{}) : *fault;
}

// All columns of a table must be as long as the first.
Status sameLength(std::string_view table, std::size_t rows,
                  std::initializer_list<std::pair<std::string_view, std::size_t>> columns)
{
    // Every column that refers to a row holds int32.
    if (rows > static_cast<std::size_t>(INT32_MAX)) {
        return broken("{} has {} rows, more than a trace can number", table, rows);
    }
    for (const auto& [name, size] : columns) {
        if (size != rows) {
            return broken("{}.{} has {} rows, but the other columns of {} have {}", table, name,
                          size, table, rows);
        }
    }
    return Done{};
}

// Has no branches, because columns are long and nearly always valid.
template<class T>
bool isWithin(const std::vector<T>& column, std::int64_t least, std::int64_t most)
{
    constexpr std::int64_t kLeast = std::numeric_limits<T>::min(),
                           kMost = std::numeric_limits<T>::max();
    const T first = static_cast<T>(std::clamp(least, kLeast, kMost)),
            last = static_cast<T>(std::clamp(most, kLeast, kMost));
    int outside = least > most && !column.empty() ? 1 : 0;
    for (const T value : column) {
        outside |= static_cast<int>(value < first) | static_cast<int>(value > last);
    }
    return outside == 0;
}

template<class T>
Status inRange(const char* name, const std::vector<T>& column, std::int64_t least,
               std::size_t count)
{
    const auto limit = static_cast<std::int64_t>(count);
    if (isWithin(column, least, limit - 1)) {
        return Done{};
    }
    for (std::size_t row = 0; row < column.size(); ++row) {
        const std::int64_t value = column[row];
        if (value < least || value >= limit) {
            return broken("{}[{}] is {}, but must lie between {} and {}", name, row, value, least,
                          limit - 1);
        }
    }
    return Done{};
}

// Of what happens in a program by itself.
Status checkLengthsOfWork(const TraceBuilder& b)
{
    const Steps& s = b.steps;
    const Segments& g = b.segments;
    const Visits& v = b.visits;
    const Status results[] = {sameLength("steps", s.size(),
                                         {{"pipeline", s.pipeline.size()},
                                          {"ordinal", s.ordinal.size()},
                                          {"bodyBegin", s.bodyBegin.size()},
                                          {"bodyEnd", s.bodyEnd.size()},
                                          {"end", s.end.size()}}),
                              sameLength("segments", g.size(),
                                         {{"templateId", g.templateId.size()},
                                          {"agent", g.agent.size()},
                                          {"step", g.step.size()}}),
                              sameLength("rounds", b.rounds.size(),
                                         {{"loop", b.rounds.loop.size()},
                                          {"agent", b.rounds.agent.size()},
                                          {"round", b.rounds.round.size()},
                                          {"end", b.rounds.end.size()}}),
                              sameLength("gridBlocks", b.gridBlocks.size(),
                                         {{"grid", b.gridBlocks.grid.size()},
                                          {"block", b.gridBlocks.block.size()},
                                          {"agent", b.gridBlocks.agent.size()},
                                          {"claimed", b.gridBlocks.claimed.size()},
                                          {"end", b.gridBlocks.end.size()}}),
                              sameLength("visits", v.size(),
                                         {{"operand", v.operand.size()},
                                          {"firstStep", v.firstStep.size()},
                                          {"lastStep", v.lastStep.size()},
                                          {"slot", v.slot.size()},
                                          {"copyIn", v.copyIn.size()},
                                          {"copyOut", v.copyOut.size()}})};
    return firstFault(results);
}

// Of copies, and of what waits for them.
Status checkLengthsOfCopies(const TraceBuilder& b)
{
    const Copies& c = b.copies;
    const Waits& w = b.waits;
    const CopyEnds& e = b.copyEnds;
    const Status results[] = {sameLength("copies", c.size(),
                                         {{"operand", c.operand.size()},
                                          {"block", c.block.size()},
                                          {"slot", c.slot.size()},
                                          {"out", c.out.size()},
                                          {"link", c.link.size()},
                                          {"step", c.step.size()},
                                          {"bytes", c.bytes.size()},
                                          {"start", c.start.size()},
                                          {"end", c.end.size()}}),
                              sameLength("copyEnds", e.size(),
                                         {{"agent", e.agent.size()},
                                          {"buffer", e.buffer.size()},
                                          {"first", e.first.size()},
                                          {"shape", e.shape.size()},
                                          {"semaphore", e.semaphore.size()}}),
                              sameLength("waits", w.size(),
                                         {{"copy", w.copy.size()},
                                          {"agent", w.agent.size()},
                                          {"step", w.step.size()},
                                          {"end", w.end.size()}}),
                              sameLength("waits", b.info.semaphores.empty() ? 0 : w.size(),
                                         {{"semaphore", w.semaphore.size()}}),
                              sameLength("waits", w.operation.empty() ? 0 : w.size(),
                                         {{"operation", w.operation.size()}}),
                              sameLength("cacheChanges", b.cacheChanges.size(),
                                         {{"device", b.cacheChanges.device.size()},
                                          {"operand", b.cacheChanges.operand.size()},
                                          {"bytes", b.cacheChanges.bytes.size()}}),
                              sameLength("signals", b.signals.size(),
                                         {{"semaphore", b.signals.semaphore.size()},
                                          {"agent", b.signals.agent.size()},
                                          {"amount", b.signals.amount.size()}})};
    return firstFault(results);
}

Status checkLengths(const TraceBuilder& b)
{
    const Status work = checkLengthsOfWork(b);
    return work ? checkLengthsOfCopies(b) : work;
}

Status checkIndices(const TraceBuilder& b)
{
    const Info& info = b.info;
    const std::size_t steps = b.steps.size();
    const Status results[] = {
        inRange("steps.pipeline", b.steps.pipeline, 0, info.pipelines.size()),
        inRange("segments.templateId", b.segments.templateId, 0, info.templates.size()),
        inRange("segments.agent", b.segments.agent, 0, info.agents.size()),
        inRange("segments.step", b.segments.step, kNone, steps),
        inRange("copies.operand", b.copies.operand, 0, info.operands.size()),
        inRange("copies.link", b.copies.link, 0, info.links.size()),
        inRange("copies.step", b.copies.step, kNone, steps),
        inRange("copies.out", b.copies.out, 0, 2),
        inRange("copyEnds.copy", b.copyEnds.copy, 0, b.copies.size()),
        inRange("copyEnds.agent", b.copyEnds.agent, 0, info.agents.size()),
        inRange("copyEnds.buffer", b.copyEnds.buffer, kNone, info.buffers.size()),
        inRange("copyEnds.shape", b.copyEnds.shape, 0, info.copiedShapes.size()),
        inRange("copyEnds.semaphore", b.copyEnds.semaphore, kNone, info.semaphores.size()),
        inRange("waits.copy", b.waits.copy, kNone, b.copies.size()),
        inRange("waits.semaphore", b.waits.semaphore, kNone, info.semaphores.size()),
        inRange("waits.operation", b.waits.operation, kNone, info.operations.size()),
        inRange("signals.semaphore", b.signals.semaphore, 0, info.semaphores.size()),
        inRange("signals.agent", b.signals.agent, 0, info.agents.size()),
        inRange("rounds.loop", b.rounds.loop, 0, info.loops.size()),
        inRange("rounds.agent", b.rounds.agent, 0, info.agents.size()),
        inRange("gridBlocks.grid", b.gridBlocks.grid, 0, info.blockGrids.size()),
        inRange("gridBlocks.agent", b.gridBlocks.agent, 0, info.agents.size()),
        inRange("gridBlocks.claimed", b.gridBlocks.claimed, 0, 2),
        inRange("cacheChanges.device", b.cacheChanges.device, 0,
                static_cast<std::size_t>(info.deviceCount())),
        inRange("cacheChanges.operand", b.cacheChanges.operand, 0, info.operands.size()),
        inRange("waits.agent", b.waits.agent, 0, info.agents.size()),
        inRange("waits.step", b.waits.step, kNone, steps),
        inRange("visits.operand", b.visits.operand, 0, info.operands.size()),
        inRange("visits.firstStep", b.visits.firstStep, 0, steps),
        inRange("visits.lastStep", b.visits.lastStep, 0, steps),
        inRange("visits.copyIn", b.visits.copyIn, kNone, b.copies.size()),
        inRange("visits.copyOut", b.visits.copyOut, kNone, b.copies.size())};
    return firstFault(results);
}

} // namespace

Status validateColumns(const TraceBuilder& rows)
{
    Status lengths = checkLengths(rows);
    return lengths ? checkIndices(rows) : lengths;
}

} // namespace pallascope::trace
