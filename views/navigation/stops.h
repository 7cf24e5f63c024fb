// The times at which a playhead stops: grid steps, rounds of loops, operations, copies, waits,
// lines and events. It is pure and without Qt. It is built once per run; each question then takes
// O(log n), or looks at what lies between two lines.
#pragma once

#include "core/trace/loop_rounds.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace pallascope::navigation {

enum class StepUnit
{
    Step,      // of the grid, of the leading agents; without several of them as Round
    Round,     // of the marked loop; where it does not run, what the program goes on by there
    Operation, // of the kernel's program
    Copy,      // when it starts to move
    Event,     // whatever begins or ends
    Wait,      // that takes time
    Line       // of the source, when another one than before is run
};

class Stops
{
public:
    explicit Stops(std::shared_ptr<const trace::Trace> trace);

    // Chooses the loop (row of Info::loops) to whose rounds Step and Round go; kNone: the outermost
    // ones.
    void mark(std::int32_t loop);

    // The units by which this run can be gone through, and the one that is best to begin with: by
    // step, else by round, else by copy.
    [[nodiscard]] std::vector<StepUnit> units() const;
    [[nodiscard]] StepUnit ownUnit() const;

    // The first stop after t, and the last one before t. After the last stop comes the end of the
    // run and before the first one its beginning, except for waits: these have neither.
    [[nodiscard]] std::optional<Picoseconds> next(StepUnit unit, Picoseconds t) const;
    [[nodiscard]] std::optional<Picoseconds> previous(StepUnit unit, Picoseconds t) const;

private:
    using Times = std::vector<std::int64_t>; // sorted, without repetition

    [[nodiscard]] std::optional<std::int64_t> after(StepUnit unit, std::int64_t t) const;
    [[nodiscard]] std::optional<std::int64_t> before(StepUnit unit, std::int64_t t) const;
    [[nodiscard]] std::optional<std::int64_t> nextOperation(std::int64_t t) const;
    [[nodiscard]] std::optional<std::int64_t> previousOperation(std::int64_t t) const;
    [[nodiscard]] Times operationStops(std::size_t segment) const;
    [[nodiscard]] bool hasSteps() const;
    // Those of loops; without any, what the run goes on by.
    [[nodiscard]] const Times& rounds() const;
    [[nodiscard]] const Times& events() const;

    // In stops_lines.cpp:
    [[nodiscard]] std::optional<std::int64_t> nextLine(std::int64_t t) const;
    [[nodiscard]] std::optional<std::int64_t> previousLine(std::int64_t t) const;
    // The line that is run at t by the agent whose lines are gone through; none where it is not
    // known.
    [[nodiscard]] std::optional<trace::SourceLine> lineAt(std::int64_t t) const;
    [[nodiscard]] std::optional<std::int64_t> nextMoment(std::int64_t t) const;
    [[nodiscard]] std::optional<std::int64_t> previousMoment(std::int64_t t) const;

    std::shared_ptr<const trace::Trace> m_trace;
    trace::LoopRounds m_loops;
    Times m_steps;  // of the grid; empty if there are less than two
    Times m_goesOn; // without them: by what the program goes on
    Times m_rounds, m_copies, m_waits;
    std::int32_t m_agent = 0; // whose lines are gone through
    mutable Times m_events;   // made when they are first asked for, by the only thread that asks
};

} // namespace pallascope::navigation
