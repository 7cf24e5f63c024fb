// Lets the caller of long operations give them up, products in the middle.
#pragma once

#include "core/machine/arith/threads.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace pallascope::arith {

// Thrown out of what was given up. Its result is unfinished.
struct GivenUp
{};

// While one exists, long operations of this thread ask it every few milliseconds whether to go on,
// on this thread.
class GoingOn
{
public:
    // `wanted` must outlive it.
    explicit GoingOn(const std::function<bool()>& wanted);
    ~GoingOn();
    GoingOn(const GoingOn&) = delete;
    GoingOn& operator=(const GoingOn&) = delete;
    GoingOn(GoingOn&&) = delete;
    GoingOn& operator=(GoingOn&&) = delete;

    [[nodiscard]] static GoingOn* ofThisThread(); // null: nobody can give up

    [[nodiscard]] bool isWanted();

private:
    const std::function<bool()>& m_wanted;
    GoingOn* m_before;
    std::chrono::steady_clock::time_point m_asked = std::chrono::steady_clock::now();
};

// Between two operations: throws GivenUp if this thread's caller gives up.
inline void goOnOrGiveUp()
{
    if (GoingOn* const going = GoingOn::ofThisThread(); going != nullptr && !going->isWanted()) {
        throw GivenUp();
    }
}

// As parallelFor. If the caller gives up, the parts that have not begun are left out, and GivenUp
// is thrown.
template<class Body>
void parallelForUnlessGivenUp(std::int64_t count, std::int64_t grain, const Body& body)
{
    GoingOn* const going = GoingOn::ofThisThread();
    if (going == nullptr) {
        parallelFor(count, grain, body);
        return;
    }
    std::atomic<bool> isGivenUp = false;
    parallelFor(count, grain, [&](std::int64_t begin, std::int64_t end) {
        if (GoingOn::ofThisThread() == going && !going->isWanted()) {
            isGivenUp.store(true, std::memory_order_relaxed);
        }
        if (!isGivenUp.load(std::memory_order_relaxed)) {
            body(begin, end);
        }
    });
    if (isGivenUp) {
        throw GivenUp();
    }
}

} // namespace pallascope::arith
