// Where a run is to stop when somebody goes through it, and how people write that. The text is the
// same on the command line, in the window and in its settings:
//
//   line:kernel.py:42    a line of the source begins to run; line:42 if one file has lines that run
//   grid:3,0,1           the body of the grid step with this index begins
//   block:x(2,0)         a block is copied, or a body begins to use it; also written x[2,0]
//   first:stall          the first wait after something was computed
//   first:finding        the first place of a finding
//   first:nan            the first NaN that an operation makes or loads
//   when:count[0]>=3     an element of a ref gets such a value; the last two need values
#pragma once

#include "core/base/comparison.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace pallascope::trace {

namespace breaks {

struct Line
{
    std::string file; // its path or the end of it; empty: the only one
    std::int32_t line = 0;
    bool operator==(const Line&) const = default;
};

struct Grid
{
    std::vector<std::int64_t> index;
    bool operator==(const Grid&) const = default;
};

struct Block
{
    std::string array; // arrayName of its operands
    std::vector<std::int64_t> index;
    bool operator==(const Block&) const = default;
};

enum class Event : std::uint8_t
{
    Stall,
    Finding,
    Nan
};

struct First
{
    Event event = Event::Stall;
    bool operator==(const First&) const = default;
};

struct When
{
    std::string ref; // its name in the program
    std::vector<std::int64_t> index;
    Comparator comparator = Comparator::Equal;
    double value = 0;
    bool operator==(const When&) const = default;
};

} // namespace breaks

using Breakpoint =
    std::variant<breaks::Line, breaks::Grid, breaks::Block, breaks::First, breaks::When>;

// The error says what is wrong with the text, and what is expected.
[[nodiscard]] Result<Breakpoint> parseBreakpoint(const std::string& text);

// Parsing it gives the same breakpoint.
[[nodiscard]] std::string textOf(const Breakpoint& breakpoint);

// Whether the trace does not tell where it stops: a replay does.
[[nodiscard]] bool needsValues(const Breakpoint& breakpoint);

} // namespace pallascope::trace
