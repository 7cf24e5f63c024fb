// Prefetching for matrix products: small products fetch the operands of later products into the
// caches while they multiply. It hides memory latency of the computer that runs the simulation,
// not of the simulated chip.
#pragma once

#include "core/machine/arith/kernels.h"

#include <array>
#include <cstddef>
#include <span>

namespace pallascope::arith {

// Announces that a later product reads this memory: `rows` rows of `bytes` bytes, `pitch` bytes
// apart. The next small product of the calling thread prefetches it. This is only a hint: it
// changes no result, and the memory may have been freed by then.
void fetchBeside(const void* data, std::int64_t rows, std::int64_t bytes, std::int64_t pitch);

class Later
{
public:
    static constexpr std::size_t kMost = 4;

    void add(const Ahead& ahead);

    // Of each announced memory, part number `part` of `parts` of its columns: the division that
    // products use.
    std::span<const Ahead> part(std::int64_t part, std::int64_t parts,
                                std::array<Ahead, kMost>& into) const;

private:
    std::array<Ahead, kMost> m_all{};
    std::size_t m_count = 0;
};

// What the calling thread has announced since the last call.
[[nodiscard]] Later takeLater();

} // namespace pallascope::arith
