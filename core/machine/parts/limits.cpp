#include "core/machine/parts/limits.h"

#include "core/base/format.h"
#include "core/machine/arith/going_on.h"

namespace pallascope::machine {

bool Limits::mayGoOn(std::int64_t turns)
{
    arith::goOnOrGiveUp();
    const std::int64_t most = m_options.rows ? kMostRecordedTurns : kMostTurns;
    if (turns > most) {
        m_ending.fail(limitError(m_program + " takes more than " + countText(most)
                                 + " loop rounds and steps, the most that a run records; end the "
                                   "loop, or use larger blocks."));
    } else if (turns % 1024 == 0 && m_recorder.recordedBytes() > kMostRecorded) {
        m_ending.fail(limitError(m_program + " takes more steps, copies and waits than the "
                                 + bytesText(kMostRecorded)
                                 + " that a run records; end the loop, or use larger blocks."));
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
