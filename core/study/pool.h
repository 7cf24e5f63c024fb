// Does work on many things on several threads at once. The work can be stopped at any time.
#pragma once

#include <cstddef>
#include <functional>

namespace pallascope::study {

// If it returns false, the work should end as soon as it can.
using GoesOn = std::function<bool()>;

// Calls work(i, goesOn) for every i below `count`, on `threads` threads (0: one for each core),
// and then the function that it returned, which only one thread does at a time. Once the given
// goesOn (empty: always true) has returned false, no further work starts, and what interrupted
// work returned is not called. Several threads call goesOn at once. Returns when all threads are
// done.
void inParallel(std::size_t count, int threads, const GoesOn& goesOn,
                const std::function<std::function<void()>(std::size_t, const GoesOn&)>& work);

} // namespace pallascope::study
