// A cache of a GPU, L2 or the L1 of an SM: which parts of the arrays in GMEM it holds. It keeps
// what was used last, up to a capacity. Only addresses count; values are in memory.
#pragma once

#include "core/base/shape.h"
#include "core/base/units.h"
#include "core/machine/state/slab.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace pallascope::machine {

// Both move sectors of this many bytes (CUDA C++ Best Practices Guide, coalesced access).
inline constexpr Bytes kSector{32};

// How many elements of so many bits a sector has; at least 1.
[[nodiscard]] constexpr Extent elementsOfSector(std::int64_t elementBits)
{
    return std::max<Extent>(1, kSector.value() * 8 / elementBits);
}

class SectorCache
{
public:
    explicit SectorCache(Bytes capacity);

    // The elements [start, stop) of an array that lies in `buffer` row by row.
    struct Part
    {
        std::int32_t buffer = 0;
        const Shape& array;
        Extents start, stop;
        std::int64_t elementBits = 32;
        std::int32_t operand = 0; // of the copy that asks for it: a row of Info::operands
    };

    // What moves if `asked` bytes of elements in this part are: whole sectors, each once.
    [[nodiscard]] static Bytes inSectors(const Part& part, Bytes asked);

    // When the last byte of a part has come or will come, and what copy brings it: a row of the
    // trace, or -1 if it was not said.
    struct Held
    {
        Picoseconds ready;
        std::int32_t copy = -1;
    };

    // If all of the part is held or on its way. It then counts as used now. Otherwise empty, and
    // nothing changes.
    [[nodiscard]] std::optional<Held> use(const Part& part);

    // Holds the part from then on, and drops what was used longest ago if there is no room.
    void hold(const Part& part, Held since);

    // About how much memory this takes, not what it stands for.
    [[nodiscard]] std::int64_t bytesOfMemory() const;

    // Whether anything of these buffers was ever asked for.
    [[nodiscard]] bool knows(SlabRange buffers) const;
    // These buffers exist no more. Returns whether anything of them was held.
    bool drop(SlabRange buffers);

    // What it holds of an array, with what is on its way to it; and what copies that read the array
    // took from it, and had to take from HBM.
    struct Share
    {
        std::int32_t operand = 0; // of the copy that came first to the array
        Bytes held, hit, missed;
    };

    void countRead(const Part& part, Bytes bytes, bool isHit);

    // Something takes so long at each sector of a part that is held, no earlier than this, and one
    // after another. Returns when it has ended; until then, the part is on its way.
    [[nodiscard]] Picoseconds occupy(const Part& part, Picoseconds from, Picoseconds length);

    [[nodiscard]] const std::vector<Share>& shares() const { return m_shares; }

    [[nodiscard]] Bytes held() const { return m_held; }

    [[nodiscard]] Bytes capacity() const { return m_capacity; }

private:
    friend class StateHasher;

    // Each array is cut into tiles, the coarsest for which every part so far is made of whole
    // tiles: what is held is then exactly what was used. Along its last axis, a tile is made of
    // whole sectors.
    struct Cut
    {
        Extents array, tile;
        std::vector<std::int64_t> counts; // tiles along each axis
        std::int64_t elementBits = 32;
        std::size_t share = 0; // its array's, an index into m_shares
    };

    struct Range // of tiles along each axis
    {
        Extents first, last;
    };

    struct Entry
    {
        std::int32_t buffer = 0;
        std::int64_t tile = 0;
        Bytes bytes;
        Held since;
        std::int32_t newer = -1, older = -1; // neighbours in the order of their last use
    };

    using Key = std::uint64_t;

    static Key keyOf(std::int32_t buffer, std::int64_t tile);
    Cut& cutFor(const Part& part);

    Share& shareOf(std::int32_t buffer) { return m_shares[m_cuts.at(buffer).share]; }

    void refine(std::int32_t buffer, Cut& cut, Extents tile);
    static void count(Cut& cut);
    static Range rangeOf(const Cut& cut, const Part& part);
    static Range rangeOf(const Cut& cut, std::int64_t tile, const Cut& finer);
    static Bytes bytesOf(const Cut& cut, std::int64_t tile);
    template<class F>
    static bool forEachTile(const Cut& cut, const Range& range, F visit);
    void insert(std::int32_t buffer, std::int64_t tile, Bytes bytes, Held since);
    void remove(std::int32_t entry);
    void touch(std::int32_t entry); // it is the one used last
    void link(std::int32_t entry);  // as the one used last
    void unlink(std::int32_t entry);

    Bytes m_capacity, m_held;
    std::map<std::int32_t, Cut> m_cuts; // by buffer
    std::vector<Share> m_shares;        // in the order in which their arrays were first asked for
    std::vector<Entry> m_entries;
    std::vector<std::int32_t> m_free; // entries that are not used
    std::unordered_map<Key, std::int32_t> m_found;
    std::int32_t m_newest = -1, m_oldest = -1;
};

} // namespace pallascope::machine
