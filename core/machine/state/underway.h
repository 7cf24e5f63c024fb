// The accesses of one buffer that are under way: by copies that nobody has waited for, and by
// products that read their operands.
#pragma once

#include "core/machine/state/access.h"
#include "core/trace/row.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace pallascope::machine {

// Who makes an access that is under way: a copy, or else a product of a GPU's tensor core.
struct Mover
{
    trace::OptionalRow<trace::CopyRow> copy;
    std::int64_t product = -1; // its number among all products of the run

    bool operator==(const Mover&) const = default;
};

struct UnderwayAccess
{
    Mover mover;
    std::int32_t otherBuffer = -1; // the buffer at the copy's other end; -1: there is none
    std::int32_t agent = -1;       // the agent that started it
    Access access;
};

// They are few as a rule, and then looked through one by one. When they are many (stores that
// nobody waits for), they are found by where they lie: in grids of cells, one grid for each size of
// access.
class UnderwayAccesses
{
public:
    [[nodiscard]] bool empty() const { return m_alive == 0; }

    void add(UnderwayAccess access);

    // The first by this mover; null if there is none. Valid until the next change.
    [[nodiscard]] const UnderwayAccess* find(const Mover& mover) const;
    // Removes that one.
    void remove(const Mover& mover);

    // Of those that share elements with `access` and do not commute with it, the first that began.
    // Null if there is none.
    [[nodiscard]] const UnderwayAccess* conflict(const Access& access) const;

    // Calls visit(UnderwayAccess) for each, in the order in which they began.
    template<class F>
    void forEach(F visit) const
    {
        for (const Entry& entry : m_all) {
            if (entry.isAlive) {
                visit(entry.what);
            }
        }
    }

private:
    struct Entry
    {
        UnderwayAccess what;
        bool isAlive = true;
    };

    // Accesses that have the same size along each axis, up to the next power of two, and commute
    // with the same others.
    struct Kind
    {
        bool writes = false, adds = false;
        std::vector<std::uint8_t> shifts; // for each axis; a cell has 1 << shift elements

        auto operator<=>(const Kind&) const = default;
    };

    using Cell = std::vector<std::int32_t>; // entries that begin in it, in their order

    struct Grid
    {
        std::unordered_map<std::uint64_t, Cell> cells; // by a hash of their place
        std::int64_t count = 0;                        // of entries
    };

    static constexpr std::size_t kFew = 32;

    [[nodiscard]] static std::int64_t numberOf(const Mover& mover);
    [[nodiscard]] static Kind kindOf(const Access& access);
    [[nodiscard]] static std::uint64_t cellOf(const Kind& kind, const Access& access);

    [[nodiscard]] bool isIndexed() const { return m_all.size() > kFew; }

    [[nodiscard]] std::int32_t positionOf(const Mover& mover) const; // -1 if there is none
    [[nodiscard]] bool conflicts(const Entry& entry, const Access& access) const;
    [[nodiscard]] std::int32_t firstIn(const Kind& kind, const Grid& grid,
                                       const Access& access) const;
    void index(std::int32_t position);
    void reindex();

    std::vector<Entry> m_all; // in the order in which they began
    std::size_t m_alive = 0;
    // Only while there are many:
    std::unordered_multimap<std::int64_t, std::int32_t> m_byMover;
    std::map<Kind, Grid> m_grids;
    Cell m_unplaced; // those of the whole buffer
};

} // namespace pallascope::machine
