// Operands of later products, which small products fetch into the caches while they multiply: what
// a copy that runs beside a step is to the machine, this is to the computer that it runs on.
#pragma once

#include "core/machine/arith/kernels.h"

#include <array>
#include <cstddef>
#include <span>

namespace pallascope::arith {

// Says that a later product reads this memory: `rows` rows of `bytes` bytes, `pitch` bytes apart.
// The next small product of the calling thread fetches it. A hint: it changes no result, and the
// memory may be gone by then.
void fetchBeside(const void* data, std::int64_t rows, std::int64_t bytes, std::int64_t pitch);

class Later
{
public:
    static constexpr std::size_t kMost = 4;

    void add(const Ahead& ahead);

    // The part-th of `parts` of each one's columns, as products divide them.
    std::span<const Ahead> part(std::int64_t part, std::int64_t parts,
                                std::array<Ahead, kMost>& into) const;

private:
    std::array<Ahead, kMost> m_all{};
    std::size_t m_count = 0;
};

// What was said since the last time, on the calling thread.
[[nodiscard]] Later takeLater();

} // namespace pallascope::arith
