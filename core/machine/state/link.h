// A bandwidth server with one queue in issue order, shared by both directions:
// start = max(issue + latency, free), end = start + bytes / achieved bandwidth.
#pragma once

#include "core/base/units.h"
#include "core/chip/chip.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pallascope::machine {

// As long as the clock can count: 53 days.
inline constexpr Picoseconds kLongestRun{std::int64_t{1} << 62};

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

    // How long copies of this many bytes take, rounded up to a picosecond.
    [[nodiscard]] Picoseconds lengthFor(Bytes bytes) const
    {
        return Picoseconds(
            static_cast<std::int64_t>(std::min<__int128>(lengthOf(bytes), kLongestRun.value())));
    }

    // Start and end of the next copy, rounded up to a picosecond. Empty if the end does not fit the
    // run's clock (2^62 ps, 53 days).
    [[nodiscard]] std::optional<Service> serve(Picoseconds issue, Bytes bytes)
    {
        const Picoseconds start = std::max(issue + m_latency, m_free);
        if (bytes != m_bytes) { // most copies have the size of the previous one
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
        // Bytes up to which 64-bit arithmetic is enough, which is faster.
        constexpr std::int64_t kShort = 1'000'000;
        if (bytes.value() <= kShort) { // rates in chip files are at most 1e18
            return (bytes.value() * kPicosecondsPerSecond + m_bytesPerSecond - 1)
                   / m_bytesPerSecond;
        }
        const __int128 exact = static_cast<__int128>(bytes.value()) * kPicosecondsPerSecond;
        return (exact + m_bytesPerSecond - 1) / m_bytesPerSecond;
    }

    Picoseconds m_latency;
    std::int64_t m_bytesPerSecond;
    Picoseconds m_free;
    Bytes m_bytes; // size and duration of the previous copy
    __int128 m_length = 0;
};

} // namespace pallascope::machine
