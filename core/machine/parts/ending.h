// Why a run ends before its program does: an error, or a finding after which nothing can go on.
#pragma once

#include "core/base/result.h"

#include <optional>
#include <utility>

namespace pallascope::machine {

class Ending
{
public:
    // `stopped` is of the run's state, and outlives this.
    explicit Ending(bool& stopped)
        : m_stopped(stopped)
    {}

    // Of several errors the first counts.
    void fail(Error error)
    {
        if (!m_error) {
            m_error = std::move(error);
        }
    }

    // A finding says why.
    void stop() { m_stopped = true; }

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

    [[nodiscard]] bool hasStopped() const { return m_stopped; }

    [[nodiscard]] bool isReached() const { return m_error || m_stopped; }

    // The run is put back to a moment before.
    void forgetError() { m_error.reset(); }

private:
    bool& m_stopped;
    std::optional<Error> m_error;
};

// The run's clock does not hold when it would end.
[[nodiscard]] inline Error tooLong()
{
    return limitError(
        "The run takes longer than 53 days on this chip; use less work or more bandwidth.");
}

} // namespace pallascope::machine
