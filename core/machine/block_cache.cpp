#include "core/machine/block_cache.h"

#include "core/base/shape.h"

#include <algorithm>
#include <cstring>

namespace pallascope::machine {

namespace {

// Bytes. Pieces grow, so that a small run does not pay for a large one.
constexpr std::int64_t kFirstPiece = std::int64_t{1} << 18, kLargestPiece = std::int64_t{1} << 24;
constexpr std::int64_t kMost = std::int64_t{1} << 28; // of all pieces
constexpr std::int64_t kLine = 64;

} // namespace

bool BlockCache::addPiece(std::int64_t least)
{
    const std::int64_t size =
        std::max(alignTo(least, kFirstPiece), std::clamp(2 * m_size, kFirstPiece, kLargestPiece));
    if (m_sizes + size > kMost) {
        return false;
    }
    try {
        m_piece = allocateBytes(size);
    } catch (const MemoryLimitReached&) { // what the run itself needs goes first
        m_sizes = kMost;
        return false;
    }
    m_size = m_free = size;
    m_sizes += size;
    return true;
}

void BlockCache::keep(const Buffer& made, Buffer& kept)
{
    const std::int64_t bytes = made.shape().elements() * dtypeBytes(made.dtype());
    const std::int64_t taken = alignTo(bytes, kLine);
    if (!made.data() || !made.shadow().all() || (taken > m_free && !addPiece(taken))) {
        return;
    }
    const SharedBytes bytesOfBlock(m_piece, m_piece.get() + (m_size - m_free));
    std::memcpy(bytesOfBlock.get(), made.data().get(), static_cast<std::size_t>(bytes));
    kept = Buffer(made.dtype(), made.shape(), made.fill(), bytesOfBlock);
    m_free -= taken;
}

} // namespace pallascope::machine
