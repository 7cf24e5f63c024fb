// Collects, for each thread, the memory that later products read, and divides it among the parts
// of the product that prefetches it.
#include "core/machine/arith/ahead.h"

#include <utility>

namespace pallascope::arith {

namespace {

constexpr std::int64_t kMostBytes = 1 << 18; // for each one, so that it stays in a core's own cache

thread_local Later t_later;

} // namespace

void fetchBeside(const void* data, std::int64_t rows, std::int64_t bytes, std::int64_t pitch)
{
    t_later.add({static_cast<const char*>(data), rows, bytes, pitch});
}

void Later::add(const Ahead& ahead)
{
    if (m_count < kMost && ahead.rows * ahead.bytes <= kMostBytes) {
        m_all[m_count++] = ahead;
    }
}

std::span<const Ahead> Later::part(std::int64_t part, std::int64_t parts,
                                   std::array<Ahead, kMost>& into) const
{
    for (std::size_t i = 0; i < m_count; ++i) {
        const std::int64_t begin = m_all[i].bytes * part / parts;
        into[i] = m_all[i];
        into[i].data += begin;
        into[i].bytes = m_all[i].bytes * (part + 1) / parts - begin;
    }
    return {into.data(), m_count};
}

Later takeLater()
{
    return std::exchange(t_later, {});
}

} // namespace pallascope::arith
