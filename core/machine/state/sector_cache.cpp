#include "core/machine/state/sector_cache.h"

#include "core/base/check.h"
#include "core/machine/state/link.h"

#include <algorithm>
#include <numeric>

namespace pallascope::machine {

namespace {

// A place along an axis, cut to a multiple of the granule; the end of the axis stays what it is.
Extent upTo(Extent place, Extent granule, Extent extent)
{
    return std::min(extent, (place + granule - 1) / granule * granule);
}

Extent granuleOf(const SectorCache::Part& part, std::size_t axis)
{
    const bool isLast = axis + 1 == part.start.size();
    return isLast ? elementsOfSector(part.elementBits) : 1;
}

} // namespace

SectorCache::SectorCache(Bytes capacity)
    : m_capacity(capacity)
{}

Bytes SectorCache::inSectors(const Part& part, Bytes asked)
{
    std::int64_t bits = part.elementBits; // of the sectors from the first to the last, in each row
    for (std::size_t axis = 0; axis < part.start.size(); ++axis) {
        const Extent granule = granuleOf(part, axis);
        bits *=
            upTo(part.stop[axis], granule, part.array[axis]) - part.start[axis] / granule * granule;
    }
    const std::int64_t elements = asked.value() * 8 / part.elementBits; // elements may be far apart
    return std::max(asked, std::min(Bytes(ceilDiv(bits, 8)), elements * kSector));
}

SectorCache::Key SectorCache::keyOf(std::int32_t buffer, std::int64_t tile)
{
    constexpr int kTileBits = 40; // 2^40 sectors are 32 TiB
    PALLASCOPE_CHECK(tile >> kTileBits == 0);
    return static_cast<Key>(buffer) << kTileBits | static_cast<Key>(tile);
}

void SectorCache::count(Cut& cut)
{
    cut.counts.resize(cut.tile.size());
    for (std::size_t axis = 0; axis < cut.tile.size(); ++axis) {
        const Extent extent = std::max<Extent>(1, cut.array[axis]);
        cut.counts[axis] = (extent + cut.tile[axis] - 1) / cut.tile[axis];
    }
}

// The cut of the part's array, made finer if the part is not made of whole tiles.
SectorCache::Cut& SectorCache::cutFor(const Part& part)
{
    auto [place, isNew] = m_cuts.try_emplace(part.buffer);
    Cut& cut = place->second;
    if (isNew) {
        cut.array = part.array.extents();
        cut.elementBits = part.elementBits;
        const auto share = std::find_if(m_shares.begin(), m_shares.end(), [&](const Share& one) {
            return one.operand == part.operand;
        });
        cut.share = static_cast<std::size_t>(share - m_shares.begin());
        if (share == m_shares.end()) {
            m_shares.push_back({part.operand, {}, {}, {}});
        }
        for (const Extent extent : cut.array) {
            cut.tile.push_back(std::max<Extent>(1, extent));
        }
        count(cut);
    }
    Extents tile = cut.tile;
    for (std::size_t axis = 0; axis < tile.size(); ++axis) {
        const Extent granule = granuleOf(part, axis), extent = cut.array[axis];
        for (const Extent edge :
             {part.start[axis] / granule * granule, upTo(part.stop[axis], granule, extent)}) {
            if (edge > 0 && edge < extent) {
                tile[axis] = tile[axis] >= extent ? edge : std::gcd(tile[axis], edge);
            }
        }
    }
    if (tile != cut.tile) {
        refine(part.buffer, cut, tile);
    }
    return cut;
}

// What is held of the buffer is held in finer tiles from now on, in the same order of use.
void SectorCache::refine(std::int32_t buffer, Cut& cut, Extents tile)
{
    const Cut before = cut;
    cut.tile = std::move(tile);
    count(cut);
    std::vector<Entry> held;
    for (std::int32_t entry = m_oldest; entry >= 0; entry = held.back().newer) {
        held.push_back(m_entries[static_cast<std::size_t>(entry)]);
    }
    const auto isHere = [&](const Entry& one) { return one.buffer == buffer; };
    if (std::none_of(held.begin(), held.end(), isHere)) {
        return;
    }
    m_entries.clear();
    m_free.clear();
    m_found.clear();
    m_held = Bytes(0);
    for (Share& share : m_shares) {
        share.held = Bytes(0);
    }
    m_newest = m_oldest = -1;
    for (const Entry& one : held) {
        if (!isHere(one)) {
            insert(one.buffer, one.tile, one.bytes, one.since);
            continue;
        }
        forEachTile(cut, rangeOf(before, one.tile, cut), [&](std::int64_t part) {
            insert(buffer, part, bytesOf(cut, part), one.since);
            return true;
        });
    }
}

// The tiles of a finer cut that make up a tile.
SectorCache::Range SectorCache::rangeOf(const Cut& cut, std::int64_t tile, const Cut& finer)
{
    Range range{Extents(cut.tile.size()), Extents(cut.tile.size())};
    for (std::size_t axis = cut.tile.size(); axis-- > 0;) {
        const Extent start = tile % cut.counts[axis] * cut.tile[axis];
        const Extent stop = std::min(std::max<Extent>(1, cut.array[axis]), start + cut.tile[axis]);
        range.first[axis] = start / finer.tile[axis];
        range.last[axis] = (stop - 1) / finer.tile[axis];
        tile /= cut.counts[axis];
    }
    return range;
}

SectorCache::Range SectorCache::rangeOf(const Cut& cut, const Part& part)
{
    Range range;
    for (std::size_t axis = 0; axis < cut.tile.size(); ++axis) {
        range.first.push_back(part.start[axis] / cut.tile[axis]);
        range.last.push_back((part.stop[axis] - 1) / cut.tile[axis]);
    }
    return range;
}

Bytes SectorCache::bytesOf(const Cut& cut, std::int64_t tile)
{
    std::int64_t elements = 1;
    for (std::size_t axis = cut.tile.size(); axis-- > 0;) {
        const Extent start = tile % cut.counts[axis] * cut.tile[axis];
        elements *= std::min(cut.tile[axis], std::max<Extent>(1, cut.array[axis]) - start);
        tile /= cut.counts[axis];
    }
    return Bytes((elements * cut.elementBits + 7) / 8);
}

// Calls `visit` with the number of each tile until it returns false; returns whether it never did.
template<class F>
bool SectorCache::forEachTile(const Cut& cut, const Range& range, F visit)
{
    Extents at = range.first;
    while (true) {
        std::int64_t tile = 0;
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
            tile = tile * cut.counts[axis] + at[axis];
        }
        if (!visit(tile)) {
            return false;
        }
        std::size_t axis = at.size();
        while (axis > 0 && at[axis - 1] == range.last[axis - 1]) {
            --axis;
            at[axis] = range.first[axis];
        }
        if (axis == 0) {
            return true;
        }
        ++at[axis - 1];
    }
}

std::optional<SectorCache::Held> SectorCache::use(const Part& part)
{
    const Cut& cut = cutFor(part);
    const Range range = rangeOf(cut, part);
    Held last;
    const bool holdsAll = forEachTile(cut, range, [&](std::int64_t tile) {
        const auto found = m_found.find(keyOf(part.buffer, tile));
        if (found == m_found.end()) {
            return false;
        }
        const Held& since = m_entries[static_cast<std::size_t>(found->second)].since;
        last = since.ready >= last.ready ? since : last;
        return true;
    });
    if (!holdsAll) {
        return std::nullopt;
    }
    forEachTile(cut, range, [&](std::int64_t tile) {
        touch(m_found.at(keyOf(part.buffer, tile)));
        return true;
    });
    return last;
}

void SectorCache::hold(const Part& part, Held since)
{
    const Cut& cut = cutFor(part);
    forEachTile(cut, rangeOf(cut, part), [&](std::int64_t tile) {
        if (const auto found = m_found.find(keyOf(part.buffer, tile)); found != m_found.end()) {
            touch(found->second);
            return true;
        }
        insert(part.buffer, tile, bytesOf(cut, tile), since);
        return true;
    });
    while (m_held > m_capacity) {
        remove(m_oldest);
    }
}

Picoseconds SectorCache::occupy(const Part& part, Picoseconds from, Picoseconds length)
{
    const Cut& cut = cutFor(part);
    Picoseconds last = from;
    forEachTile(cut, rangeOf(cut, part), [&](std::int64_t tile) {
        if (const auto found = m_found.find(keyOf(part.buffer, tile)); found != m_found.end()) {
            Picoseconds& ready = m_entries[static_cast<std::size_t>(found->second)].since.ready;
            ready = std::max(ready, from);
            ready += std::min(length, kLongestRun - ready);
            last = std::max(last, ready);
        }
        return true;
    });
    return last;
}

bool SectorCache::knows(SlabRange buffers) const
{
    const auto first = m_cuts.lower_bound(buffers.first);
    return first != m_cuts.end() && first->first < buffers.first + buffers.count;
}

bool SectorCache::drop(SlabRange buffers)
{
    if (!knows(buffers)) {
        return false;
    }
    const auto first = m_cuts.lower_bound(buffers.first),
               last = m_cuts.lower_bound(buffers.first + buffers.count);
    const Bytes before = m_held;
    for (std::int32_t entry = m_oldest; entry >= 0;) {
        const Entry& one = m_entries[static_cast<std::size_t>(entry)];
        const std::int32_t at = entry, from = one.buffer - buffers.first;
        entry = one.newer;
        if (from >= 0 && from < buffers.count) {
            remove(at);
        }
    }
    m_cuts.erase(first, last);
    return m_held != before;
}

std::int64_t SectorCache::bytesOfMemory() const
{
    // The nodes of a hash table have a pointer beside the entry.
    constexpr std::size_t kFound = sizeof(std::pair<Key, std::int32_t>) + 2 * sizeof(void*);
    return static_cast<std::int64_t>(m_entries.size() * sizeof(Entry) + m_found.size() * kFound);
}

void SectorCache::countRead(const Part& part, Bytes bytes, bool isHit)
{
    Share& share = shareOf(part.buffer);
    (isHit ? share.hit : share.missed) += bytes;
}

void SectorCache::insert(std::int32_t buffer, std::int64_t tile, Bytes bytes, Held since)
{
    std::int32_t entry = static_cast<std::int32_t>(m_entries.size());
    if (m_free.empty()) {
        m_entries.emplace_back();
    } else {
        entry = m_free.back();
        m_free.pop_back();
    }
    m_entries[static_cast<std::size_t>(entry)] = {buffer, tile, bytes, since, -1, -1};
    m_found[keyOf(buffer, tile)] = entry;
    m_held += bytes;
    shareOf(buffer).held += bytes;
    link(entry);
}

void SectorCache::remove(std::int32_t entry)
{
    unlink(entry);
    const Entry& one = m_entries[static_cast<std::size_t>(entry)];
    m_held -= one.bytes;
    shareOf(one.buffer).held -= one.bytes;
    m_found.erase(keyOf(one.buffer, one.tile));
    m_free.push_back(entry);
}

void SectorCache::touch(std::int32_t entry)
{
    unlink(entry);
    link(entry);
}

void SectorCache::link(std::int32_t entry)
{
    Entry& one = m_entries[static_cast<std::size_t>(entry)];
    one.older = m_newest;
    one.newer = -1;
    (m_newest < 0 ? m_oldest : m_entries[static_cast<std::size_t>(m_newest)].newer) = entry;
    m_newest = entry;
}

void SectorCache::unlink(std::int32_t entry)
{
    const Entry& one = m_entries[static_cast<std::size_t>(entry)];
    (one.older < 0 ? m_oldest : m_entries[static_cast<std::size_t>(one.older)].newer) = one.newer;
    (one.newer < 0 ? m_newest : m_entries[static_cast<std::size_t>(one.newer)].older) = one.older;
}

} // namespace pallascope::machine
