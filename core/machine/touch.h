// What happens to single elements of memory during a run. A replay tells it of elements that it
// was asked to watch.
#pragma once

#include "core/base/units.h"
#include "core/ir/type.h"
#include "core/trace/row.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::machine {

// An element of a memory of the run. Numbers of memories are reused after Touch::Kind::Released.
struct Cell
{
    std::int32_t memory = -1;
    std::int64_t element = 0; // row-major

    auto operator<=>(const Cell&) const = default;
};

// What people call a cell: the ref that owns the memory, and an index.
struct Spot
{
    ir::ValueId ref;
    std::vector<std::int64_t> index;

    bool operator==(const Spot&) const = default;
};

struct Held
{
    double value = 0;
    bool isDefined = false;
};

struct Touch
{
    enum class Kind : std::uint8_t
    {
        Given,       // it holds this when the run begins
        Created,     // its memory begins, undefined
        Read,        // by an operation
        Written,     // by an operation
        CopyRead,    // by a copy that starts
        CopyWritten, // by a copy that lands
        Cleared,     // another block of an output takes the slot, and it becomes undefined; or an
                     // operation copies what is beyond an array, or left out by a mask
        Released,    // its memory ends
        Shown        // the ref, which has no memory of its own, shows this element from here on
    };

    Kind kind = Kind::Read;
    Cell cell;
    Spot spot;
    std::int64_t event = 0; // the sequence number of the moment after it
    Picoseconds time;
    std::int32_t owner = -1; // the agent that has the memory
    std::int32_t slot = -1;  // of a pipeline's operand; -1: it has no slots
    std::int32_t agent = -1; // that does it, or started the copy
    std::int32_t on = -1; // the owner; of memory that its device shares, `agent` if that is there
    trace::OptionalRow<trace::StepRow> step;
    std::int32_t operation = -1; // Operation::id; -1: none
    trace::OptionalRow<trace::CopyRow> copy;
    Held before, after; // equal for what does not write
    // Of an operation: which of the elements that it accesses this one is, row-major, and how many
    // they are.
    std::int64_t position = 0, of = 0;
    // Of a copy: the element at its other end.
    std::optional<Cell> other;
    Spot otherSpot;
};

// A NaN that an operation makes of operands without any.
struct NanBirth
{
    std::int64_t event = 0;
    Picoseconds time;
    std::int32_t agent = -1;
    trace::OptionalRow<trace::StepRow> step;
    std::int32_t operation = -1;
    bool isOfInf = false;
};

// A load of a value with NaNs or undefined elements in it.
struct NanLoad
{
    std::int64_t event = 0;
    Picoseconds time;
    std::int32_t agent = -1;
    trace::OptionalRow<trace::StepRow> step;
    std::int32_t operation = -1;

    struct Element
    {
        std::int64_t position = 0; // in the value, row-major
        Cell cell;
        bool isDefined = true;
    };

    std::vector<Element> nans; // the first ones, undefined elements among them
    std::int64_t of = 0;       // elements of the value
    ir::ValueId ref;           // that owns the memory
};

// What to watch: cells by number, wherever they belong, and elements of refs, by their row-major
// positions. These are watched in all memory that the ref has during the run: the array of an
// argument, all slots of a pipeline's operand, all entries of a scope, on all agents.
struct Watched
{
    struct Element
    {
        ir::ValueId ref;
        std::int64_t position = 0;
    };

    std::vector<Cell> cells;
    std::vector<Element> elements;
    bool nans = false; // births and loads of NaN, and loads of undefined elements, too
};

// All in the order in which it happened.
struct Touches
{
    std::vector<Touch> all;
    std::vector<NanBirth> births; // these two only if they were asked for
    std::vector<NanLoad> loads;
};

} // namespace pallascope::machine
