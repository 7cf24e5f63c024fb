// The threads that the arithmetic runs on: started once, shared by all callers.
#pragma once

#include <cstdint>
#include <functional>

namespace pallascope::arith {

// Runs body(begin, end) for the parts [0, grain), [grain, 2 grain), ... of [0, count), on all
// threads, the calling one among them, and returns when all are done. Where the parts begin depends
// on count and grain alone. Which thread runs a part, and when, is open. All of them compute with
// subnormals as the calling one does (subnormals.h).
//
// Callable from any thread; callers take turns. Called from within a body it runs in place. What a
// body throws first is thrown to the caller once no part runs any more; other parts may be missing.
template<class Body> // called as body(std::int64_t begin, std::int64_t end)
void parallelFor(std::int64_t count, std::int64_t grain, const Body& body);

// Of the calling thread: 0 is a caller, the pool's own count from 1.
[[nodiscard]] int threadNumber();

// As many as the machine has hardware threads, until set. Not to be set from within a body.
[[nodiscard]] int threadCount();
void setThreadCount(int count);

void runParts(std::int64_t count, std::int64_t grain,
              const std::function<void(std::int64_t begin, std::int64_t end)>& body);

template<class Body>
void parallelFor(std::int64_t count, std::int64_t grain, const Body& body)
{
    if (0 < count && count <= grain) { // small arrays, which are many, without a detour
        body(std::int64_t{0}, count);
    } else {
        runParts(count, grain, std::cref(body));
    }
}

} // namespace pallascope::arith
