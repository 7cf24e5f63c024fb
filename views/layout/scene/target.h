// What a place in a picture stands for: a copy, a block, a line and so on. The same thing has the
// same target in every view. Rows and indices are those of the trace and of RunView; whoever reads
// a target that comes from a file or a click checks them.
#pragma once

#include "core/base/units.h"

#include <cstdint>
#include <optional>
#include <variant>

namespace pallascope::layout {

// The lanes of a time line.
namespace lane {

struct CopyIn
{
    bool operator==(const CopyIn&) const = default;
};

struct CopyOut
{
    bool operator==(const CopyOut&) const = default;
};

struct Unit
{
    std::int32_t unit = 0;
    bool operator==(const Unit&) const = default;
};

struct Waits // of a run's only agent
{
    bool operator==(const Waits&) const = default;
};

struct AgentWaits // of one of several agents
{
    std::int32_t agent = 0;
    bool operator==(const AgentWaits&) const = default;
};

struct KindWaits // of all agents of one kind
{
    std::int32_t firstAgent = 0;
    bool operator==(const KindWaits&) const = default;
};

struct Device // all that it does, in a strip
{
    std::int32_t device = 0;
    bool operator==(const Device&) const = default;
};

struct DeviceCopies // over one of its links, or over one that leads to it
{
    std::int32_t device = 0, link = 0;
    bool operator==(const DeviceCopies&) const = default;
};

struct DeviceUnit
{
    std::int32_t device = 0, unit = 0;
    bool operator==(const DeviceUnit&) const = default;
};

struct DeviceWaits
{
    std::int32_t device = 0;
    bool operator==(const DeviceWaits&) const = default;
};

struct Sms // how busy each SM of a device is
{
    std::int32_t device = 0;
    bool operator==(const Sms&) const = default;
};

struct Sm // a number of trace::Agents::sms
{
    std::int32_t sm = 0;
    bool operator==(const Sm&) const = default;
};

struct SmCopies // between an SM and the memory that all share
{
    std::int32_t sm = 0;
    bool operator==(const SmCopies&) const = default;
};

struct SmUnit
{
    std::int32_t sm = 0, unit = 0;
    bool operator==(const SmUnit&) const = default;
};

struct Agent // all that one of several agents does
{
    std::int32_t agent = 0;
    bool operator==(const Agent&) const = default;
};

} // namespace lane

using LaneId =
    std::variant<lane::CopyIn, lane::CopyOut, lane::Unit, lane::Waits, lane::AgentWaits,
                 lane::KindWaits, lane::Device, lane::DeviceCopies, lane::DeviceUnit,
                 lane::DeviceWaits, lane::Sms, lane::Sm, lane::SmCopies, lane::SmUnit, lane::Agent>;

namespace target {

struct Copy
{
    std::int64_t row = 0;
    bool operator==(const Copy&) const = default;
};

struct Steps // rows of Steps; `last` is included
{
    std::int64_t first = 0, last = 0;
    bool operator==(const Steps&) const = default;
};

struct Round // a row of Rounds
{
    std::int64_t row = 0;
    bool operator==(const Round&) const = default;
};

struct Segment
{
    std::int64_t row = 0;
    bool operator==(const Segment&) const = default;
};

struct Operation
{
    std::int64_t operation = 0;
    std::optional<std::int64_t> segment; // the row in which it runs; without it, wherever it runs
    bool operator==(const Operation&) const = default;
};

struct Block
{
    std::int64_t operand = 0, block = 0;
    bool operator==(const Block&) const = default;
};

struct Buffer
{
    std::int64_t buffer = 0;
    bool operator==(const Buffer&) const = default;
};

struct Wait
{
    std::int64_t row = 0;
    bool operator==(const Wait&) const = default;
};

struct SourceLine
{
    std::int64_t file = 0, line = 0;
    bool operator==(const SourceLine&) const = default;
};

struct ListingLine
{
    std::int64_t line = 0;
    bool operator==(const ListingLine&) const = default;
};

struct Alternative
{
    std::int64_t index = 0;
    bool operator==(const Alternative&) const = default;
};

struct Finding
{
    std::optional<std::int64_t> index; // without it: the statement that there are no findings
    bool operator==(const Finding&) const = default;
};

struct Print
{
    std::int64_t index = 0;
    bool operator==(const Print&) const = default;
};

struct Lane
{
    LaneId lane;
    bool operator==(const Lane&) const = default;
};

struct Moment // a moment of a lane that several agents share
{
    LaneId lane;
    Picoseconds time;
    bool operator==(const Moment&) const = default;
};

struct Time
{
    std::optional<Picoseconds> time; // without it, the pointer's place says the time
    bool operator==(const Time&) const = default;
};

struct Piece // of what a device runs: a row of trace::Pieces
{
    std::int32_t device = 0;
    std::int64_t row = 0;
    Picoseconds begin;
    bool operator==(const Piece&) const = default;
};

struct Device
{
    std::int32_t device = 0;
    bool operator==(const Device&) const = default;
};

struct Sm // a number of trace::Agents::sms
{
    std::int32_t sm = 0;
    bool operator==(const Sm&) const = default;
};

struct GridBlock // of a GPU: a row of Trace::gridBlocks
{
    std::int64_t row = 0;
    bool operator==(const GridBlock&) const = default;
};

struct Semaphore // a row of Info::semaphores
{
    std::int64_t row = 0;
    bool operator==(const Semaphore&) const = default;
};

struct Cached // what the L2 of a device holds of an array; an operand stands for the array
{
    std::int32_t device = 0;
    std::int64_t operand = 0;
    bool operator==(const Cached&) const = default;
};

struct Ceiling // of the roofline: a row of analysis::Roofline::ceilings
{
    std::int64_t row = 0;
    bool operator==(const Ceiling&) const = default;
};

struct SweepRow // of a sweep, which is no part of a run
{
    std::int64_t row = 0;
    bool operator==(const SweepRow&) const = default;
};

// Something in the lanes of a kept run: a target of that run.
struct Kept
{
    std::variant<std::monostate, Copy, Steps, Round, Segment, Operation, Wait, Finding, Print, Lane,
                 Moment, Piece, Device, Sm>
        what;
    bool operator==(const Kept&) const = default;
};

} // namespace target

using Target =
    std::variant<std::monostate, target::Copy, target::Steps, target::Round, target::Segment,
                 target::Operation, target::Block, target::Buffer, target::Wait, target::SourceLine,
                 target::ListingLine, target::Alternative, target::Finding, target::Print,
                 target::Lane, target::Moment, target::Time, target::Piece, target::Device,
                 target::Sm, target::GridBlock, target::Semaphore, target::Cached, target::Ceiling,
                 target::SweepRow, target::Kept>;

template<class Kind>
[[nodiscard]] constexpr bool is(const Target& target)
{
    return std::holds_alternative<Kind>(target);
}

// Whether the place stands for nothing.
[[nodiscard]] constexpr bool isNothing(const Target& target)
{
    return is<std::monostate>(target);
}

// A target of the kept run as one of the present run, and back. Nothing if the lanes of a kept run
// have no such thing.
[[nodiscard]] Target asKept(const Target& target);
[[nodiscard]] Target ofKept(const target::Kept& kept);

} // namespace pallascope::layout
