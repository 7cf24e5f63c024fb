#include "core/machine/arith/going_on.h"

#include <utility>

namespace pallascope::arith {

namespace {

constexpr std::chrono::milliseconds kBetween(10);

thread_local GoingOn* ofThread = nullptr;

} // namespace

GoingOn::GoingOn(const std::function<bool()>& wanted)
    : m_wanted(wanted)
    , m_before(std::exchange(ofThread, this))
{}

GoingOn::~GoingOn()
{
    ofThread = m_before;
}

GoingOn* GoingOn::ofThisThread()
{
    return ofThread;
}

bool GoingOn::isWanted()
{
    const auto now = std::chrono::steady_clock::now();
    if (now - m_asked < kBetween) {
        return true;
    }
    m_asked = now;
    return m_wanted();
}

} // namespace pallascope::arith
