// The history of one element of a ref: which operations and copies of a run read and wrote it, and
// where a NaN in it comes from.
#pragma once

#include "core/machine/replay.h"

#include <optional>
#include <string>
#include <vector>

namespace pallascope::study {

struct ElementChoice
{
    std::string ref;                 // its name in the program
    std::vector<std::int64_t> index; // of the element
    std::string space;               // the memory that the ref is in; empty for any
    // Of several refs of that name these alone; none: all of them.
    std::vector<ir::ValueId> only = {};
};

// Reads "out[3,5]"; "total" or "total[]" is the only element of a scalar. Of a name with brackets
// the last ones are the index.
[[nodiscard]] Result<ElementChoice> parseElement(const std::string& text);

// Everything that touches the element in all memory that the ref has during the run, the newest
// first. Returns nothing if it is cancelled. The error says which refs and elements there are.
[[nodiscard]] Result<std::optional<std::vector<machine::Touch>>>
elementHistory(machine::Replay& replay, const ElementChoice& choice,
               const machine::Replay::Proceed& proceed = {});

// One link of the way of a NaN, from where it was found back to where it was born.
struct NanLink
{
    enum class Kind : std::uint8_t
    {
        Stored,    // an operation stores it
        Copied,    // a copy brings it
        Loaded,    // an operation loads it, from which the value that is stored is computed
        Born,      // an operation makes it of operands without NaN
        Given,     // it is in an input
        Undefined, // nothing was written, and undefined memory reads as NaN
        Edge, // a copy of a block that reaches behind the edge of its array leaves it undefined
        Lost  // it comes from values of another step or core, which cannot be followed
    };

    Kind kind = Kind::Stored;
    std::int64_t event = 0;
    Picoseconds time;
    // Of a birth or a load the agent that does it, else as Touch::on; -1: none.
    std::int32_t agent = -1;
    std::int32_t operation = -1; // -1: none
    trace::OptionalRow<trace::StepRow> step;
    trace::OptionalRow<trace::CopyRow> copy;
    // The element that holds it after the link, and that where it was before: for a copy the other
    // end, for a load the element that is loaded. For a birth they are empty.
    machine::Spot spot, from;
    bool isOfInf = false;     // of a birth: Infs are among the operands
    bool isUndefined = false; // what is followed is undefined, and no NaN that was computed
};

// Follows the last NaN that the element held or, if it held none, the last time that something
// undefined was written there. Of several that a load brings, it follows the one in the same place,
// else the first. Where no memory is named, what the function takes and returns goes before blocks
// and scratch of the same name. Returns nothing if it is cancelled; no links if the element never
// held either. Each hop from one memory to another is a run of its own.
[[nodiscard]] Result<std::optional<std::vector<NanLink>>>
nanOrigin(machine::Replay& replay, const ElementChoice& choice,
          const machine::Replay::Proceed& proceed = {});

} // namespace pallascope::study
