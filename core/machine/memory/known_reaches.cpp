#include "core/machine/memory/known_reaches.h"

#include <cstddef>
#include <cstdint>

namespace pallascope::machine {

const std::shared_ptr<const Reach>& KnownReaches::of(const RefBinding& ref, const Shape& memory)
{
    constexpr int kPlaceBits = 6;
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15ULL;
    std::uint64_t hash = 0;
    if (!ref.whole) {
        hash = static_cast<std::uint64_t>(ref.view.offset);
        for (const Extent extent : ref.view.shape) {
            hash = hash * kMix + static_cast<std::uint64_t>(extent);
        }
    }
    Known& known = m_known[static_cast<std::size_t>(hash * kMix >> (64 - kPlaceBits))];
    const bool isKnown =
        known.reach && known.whole == ref.whole && known.memory == memory
        && (ref.whole
            || (known.view.offset == ref.view.offset && known.view.shape == ref.view.shape
                && known.view.strides == ref.view.strides));
    if (!isKnown) {
        known = {ref.whole, ref.whole ? StridedView() : ref.view, memory,
                 std::make_shared<const Reach>(reachOf(ref, memory))};
    }
    return known.reach;
}

} // namespace pallascope::machine
