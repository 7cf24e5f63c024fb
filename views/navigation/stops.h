// The times at which a playhead stops: grid steps, operations, copies and waits. It is pure and
// without Qt. It is built once per run; each question then takes O(log n).
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace pallascope::navigation {

enum class StepUnit
{
    Step, // of the leading agents; without several steps, what the program goes on by
    Operation,
    Copy,
    Wait
};

class Stops
{
public:
    explicit Stops(std::shared_ptr<const trace::Trace> trace);

    // The first stop after t, and the last one before t. After the last stop comes the end of the
    // run and before the first one its beginning, except for waits: these have neither.
    [[nodiscard]] std::optional<Picoseconds> next(StepUnit unit, Picoseconds t) const;
    [[nodiscard]] std::optional<Picoseconds> previous(StepUnit unit, Picoseconds t) const;

private:
    [[nodiscard]] const std::vector<std::int64_t>& column(StepUnit unit) const;
    [[nodiscard]] std::optional<std::int64_t> nextOperation(std::int64_t t) const;
    [[nodiscard]] std::optional<std::int64_t> previousOperation(std::int64_t t) const;
    [[nodiscard]] std::vector<std::int64_t> operationStops(std::size_t segment) const;

    std::shared_ptr<const trace::Trace> m_trace;
    std::vector<std::int64_t> m_steps, m_copies, m_waits; // sorted, without repetition
};

} // namespace pallascope::navigation
