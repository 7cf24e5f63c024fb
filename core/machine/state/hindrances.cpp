#include "core/machine/state/hindrances.h"

#include <algorithm>
#include <cmath>

namespace pallascope::machine {

void Hindrances::add(const Hindrance& hindrance, Picoseconds now)
{
    forget(now); // else they would pile up where there are no products
    if (hindrance.start < hindrance.end && hindrance.lost > Picoseconds(0)) {
        Hindrance& one = m_all.emplace_back();
        one = hindrance;
        one.lost = std::min(one.lost, one.end - one.start);
    }
}

Picoseconds Hindrances::lengthOf(Picoseconds start, Picoseconds length)
{
    forget(start);
    // A longer product meets more of them. What they take is only a part of the time, or ends, so
    // this comes to an end.
    constexpr int kRounds = 64;
    Picoseconds longer = length;
    for (int round = 0; round < kRounds; ++round) {
        const Picoseconds needed = length + lostIn(start, start + longer);
        if (needed <= longer) {
            break;
        }
        longer = needed;
    }
    return longer;
}

void Hindrances::forget(Picoseconds before)
{
    m_all.removeIf([&](const Hindrance& one) { return one.end <= before; });
}

Picoseconds Hindrances::lostIn(Picoseconds start, Picoseconds end) const
{
    double lost = 0;
    for (const Hindrance& one : m_all) {
        const Picoseconds from = std::max(start, one.start), to = std::min(end, one.end);
        if (from < to) {
            lost += static_cast<double>(one.lost.value()) * ratio(to - from, one.end - one.start);
        }
    }
    return Picoseconds(static_cast<std::int64_t>(std::ceil(lost)));
}

} // namespace pallascope::machine
