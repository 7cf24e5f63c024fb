// Why a run ends before its program does: an error, or a finding that makes it impossible to go on.
#pragma once

#include "core/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pallascope::machine {

class Ending
{
public:
    // `stopped` belongs to the run's state and outlives this.
    explicit Ending(bool& stopped)
        : m_stopped(stopped)
    {}

    // The first error counts.
    void fail(Error error)
    {
        if (!m_error) {
            m_error = std::move(error);
        }
    }

    // Ends the run with a finding of this kind, which says why.
    void stop(std::string_view finding)
    {
        m_stopped = true;
        m_stoppedBy = finding;
    }

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

    [[nodiscard]] bool hasStopped() const { return m_stopped; }

    // The kind of the finding that ended the run; empty if none did.
    [[nodiscard]] const std::string& stoppedBy() const { return m_stoppedBy; }

    [[nodiscard]] bool isReached() const { return m_error || m_stopped; }

    // Called when the run is restored to an earlier moment.
    void forgetError() { m_error.reset(); }

private:
    bool& m_stopped;
    std::string m_stoppedBy;
    std::optional<Error> m_error;
};

// The error for a run whose end does not fit its clock.
[[nodiscard]] inline Error tooLong()
{
    return limitError(
        "The run takes longer than 53 days on this chip; use less work or more bandwidth.");
}

} // namespace pallascope::machine
