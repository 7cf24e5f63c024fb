// The threads on which the arithmetic runs. They are started once and shared by all callers.
#pragma once

#include <cstdint>
#include <functional>

namespace pallascope::arith {

// Runs body(begin, end) for the parts [0, grain), [grain, 2 grain), ... of [0, count) on all
// threads, including the calling one, and returns when all parts are done. Where the parts begin
// depends only on count and grain. Which thread runs a part, and when, is not determined. All
// threads treat subnormals as the calling thread does (subnormals.h).
//
// It can be called from any thread; callers take turns. A call from within a body runs on the
// thread of that body. The first exception that a body throws is rethrown to the caller when no
// part runs any more; then some parts may not have run.
template<class Body> // called as body(std::int64_t begin, std::int64_t end)
void parallelFor(std::int64_t count, std::int64_t grain, const Body& body);

// The number of the calling thread: 0 for callers, from 1 upwards for threads of the pool.
[[nodiscard]] int threadNumber();

// By default the number of hardware threads. Must not be set from within a body.
[[nodiscard]] int threadCount();
void setThreadCount(int count);

void runParts(std::int64_t count, std::int64_t grain,
              const std::function<void(std::int64_t begin, std::int64_t end)>& body);

template<class Body>
void parallelFor(std::int64_t count, std::int64_t grain, const Body& body)
{
    if (0 < count && count <= grain) { // fast path: small arrays are frequent
        body(std::int64_t{0}, count);
    } else {
        runParts(count, grain, std::cref(body));
    }
}

} // namespace pallascope::arith
