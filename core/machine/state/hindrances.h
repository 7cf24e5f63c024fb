// What makes the products of an SM's tensor core take longer: copies into its shared memory, and
// instructions of its agents.
#pragma once

#include "core/base/units.h"
#include "core/machine/state/queue.h"

namespace pallascope::machine {

// From `start` to `end` products lose `lost` of the time, which is no longer.
struct Hindrance
{
    Picoseconds start, end, lost;
};

class Hindrances
{
public:
    // Forgets what ended before `now`, at or after which products will begin.
    void add(const Hindrance& hindrance, Picoseconds now);

    // How long a product takes that begins at `start` and alone would take `length`. Forgets what
    // ends before `start`.
    [[nodiscard]] Picoseconds lengthOf(Picoseconds start, Picoseconds length);

private:
    void forget(Picoseconds before);
    [[nodiscard]] Picoseconds lostIn(Picoseconds start, Picoseconds end) const;

    friend class StateHasher;

    Queue<Hindrance> m_all;
};

} // namespace pallascope::machine
