#include "core/machine/parts/limits.h"

#include "core/base/format.h"
#include "core/machine/arith/going_on.h"

namespace pallascope::machine {

bool Limits::mayGoOn(std::int64_t turns)
{
    arith::goOnOrGiveUp();
    const std::int64_t most = m_options.rows ? kMostRecordedTurns : kMostTurns;
    if (turns > most) {
        m_ending.fail(tooLong("than " + countText(most)
                              + " loop rounds and steps, the most that a run records"));
    } else if (turns % 1024 == 0 && m_recorder.recordedBytes() > kMostRecorded) {
        m_ending.fail(tooLong("steps, copies and waits than the " + bytesText(kMostRecorded)
                              + " that a run records"));
    } else if (m_options.progress && (m_options.values == ValueMode::Full || turns % 1024 == 0)) {
        constexpr auto kBetween = std::chrono::milliseconds(50);
        const auto now = std::chrono::steady_clock::now();
        if (now - m_lastAsked > kBetween && !m_options.progress(m_share)) {
            m_ending.fail(cancelled());
        }
        m_lastAsked = now - m_lastAsked > kBetween ? now : m_lastAsked;
    }
    return !m_ending.error();
}

Error Limits::tooLong(const std::string& what) const
{
    const std::string ways = m_options.rows
                                 ? "use larger blocks, or ask `pallascope sweep` for its time, "
                                   "which keeps no trace."
                                 : "or use larger blocks.";
    return limitError(m_program + " takes more " + what + "; end the loop, " + ways);
}

bool Limits::tell(std::int64_t step, std::int64_t steps)
{
    m_share = static_cast<double>(step) / static_cast<double>(steps);
    if ((m_options.values == ValueMode::Full || step % 1024 == 0) && !m_options.progress(m_share)) {
        m_ending.fail(cancelled());
        return false;
    }
    return true;
}

} // namespace pallascope::machine
