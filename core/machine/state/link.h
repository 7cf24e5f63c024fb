// A bandwidth server with one queue in issue order, for both directions:
// start = max(issue + latency, free), end = start + bytes / achieved bandwidth.
#pragma once

#include "core/base/units.h"
#include "core/chip/chip.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pallascope::machine {

inline constexpr Picoseconds kLongestRun{std::int64_t{1} << 62}; // what the clock holds: 53 days

class FifoLink
{
public:
    explicit FifoLink(const chip::Link& link)
        : m_latency(link.latency)
        , m_bytesPerSecond(std::max<std::int64_t>(1, std::llround(link.achieved().value())))
    {}

    struct Service
    {
        Picoseconds start, end;
    };

    // How long copies of so many bytes take. Rounded up to a picosecond.
    [[nodiscard]] Picoseconds lengthFor(Bytes bytes) const
    {
        return Picoseconds(
            static_cast<std::int64_t>(std::min<__int128>(lengthOf(bytes), kLongestRun.value())));
    }

    // Rounded up to a picosecond. Absent when the end does not fit the run's clock (2^62 ps, 53
    // days).
    [[nodiscard]] std::optional<Service> serve(Picoseconds issue, Bytes bytes)
    {
        const Picoseconds start = std::max(issue + m_latency, m_free);
        if (bytes != m_bytes) { // most copies are as long as the one before
            m_length = lengthOf(bytes);
            m_bytes = bytes;
        }
        if (m_length + start.value() > kLongestRun.value()) {
            return std::nullopt;
        }
        m_free = start + Picoseconds(static_cast<std::int64_t>(m_length));
        return Service{start, m_free};
    }

private:
    friend class StateHasher;

    [[nodiscard]] __int128 lengthOf(Bytes bytes) const // in picoseconds
    {
        constexpr std::int64_t kShort = 1'000'000; // bytes whose arithmetic fits 64 bits: faster
        if (bytes.value() <= kShort) {             // a chip's rates end at 1e18
            return (bytes.value() * kPicosecondsPerSecond + m_bytesPerSecond - 1)
                   / m_bytesPerSecond;
        }
        const __int128 exact = static_cast<__int128>(bytes.value()) * kPicosecondsPerSecond;
        return (exact + m_bytesPerSecond - 1) / m_bytesPerSecond;
    }

    Picoseconds m_latency;
    std::int64_t m_bytesPerSecond;
    Picoseconds m_free;
    Bytes m_bytes; // of the copy before, and its length
    __int128 m_length = 0;
};

} // namespace pallascope::machine
