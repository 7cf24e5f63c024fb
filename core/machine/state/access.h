// An access of memory, as far as its order with others matters.
#pragma once

#include "core/ir/program.h"
#include "core/machine/state/place.h"
#include "core/trace/row.h"

#include <cstdint>

namespace pallascope::machine {

// The way by which an access comes to a GPU's SMEM. Loads and stores are of the generic proxy;
// copies of the TMA and operands of products are of the async proxy, which knows of the former only
// after commit_smem (a fence; PTX ISA, async proxy). None: of other memory, or of memory that only
// one of the two uses.
enum class Proxy : std::uint8_t
{
    None,
    Generic,
    Async
};

struct Access
{
    std::int32_t buffer = -1;   // -1: nobody writes to it, so nothing can conflict
    bool isUncontested = false; // no other agent accesses it, or nobody writes to it
    bool writes = false;
    trace::OptionalRow<trace::StepRow> step;
    ir::LocationId location;
    Place place;
    bool adds = false;       // adds element by element; such accesses may be in any order
    bool byPipeline = false; // a copy for which the author need not wait
    Proxy proxy = Proxy::None;
    // It is under way until its agent waits for it (loads and stores of TMEM); then complete().
    bool isLate = false;
};

// Whether two accesses of one buffer may be in any order, wherever they lie.
[[nodiscard]] inline bool commute(const Access& a, const Access& b)
{
    return !(a.writes || b.writes) || (a.adds && b.adds);
}

} // namespace pallascope::machine
