// Blocks of arrays that nobody writes, cut out once however often a grid comes back to them: what a
// slot gets then shares its memory. No state of a run: no result depends on it.
#pragma once

#include "core/machine/memory.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

namespace pallascope::machine {

struct OperandPlan;

class BlockCache
{
public:
    // The block of an operand's array, in buffer `array`; `cut` makes it. It is kept when it is
    // asked for again (a grid that sees each block once has no use for it), while there is room.
    template<class Cut>
    [[nodiscard]] Buffer block(const OperandPlan* operand, std::int32_t array, std::int64_t block,
                               Cut cut)
    {
        const auto [found, isNew] = m_blocks[{operand, array}].try_emplace(block);
        Buffer& kept = found->second;
        if (kept.data()) {
            return kept;
        }
        Buffer made = cut();
        if (!isNew) {
            keep(made, kept);
        }
        return made;
    }

private:
    [[nodiscard]] bool addPiece(std::int64_t least);
    void keep(const Buffer& made, Buffer& kept);

    std::map<std::pair<const OperandPlan*, std::int32_t>, std::unordered_map<std::int64_t, Buffer>>
        m_blocks;
    // Blocks lie in pieces of memory that get large, for which the system is asked for large pages:
    // to touch small ones for the first time takes longer than to fill them.
    SharedBytes m_piece;
    std::int64_t m_size = 0, m_free = 0; // bytes of it, and those at its end that are free
    std::int64_t m_sizes = 0;            // of all pieces
};

} // namespace pallascope::machine
