// Work on many things at once, on several threads, that can be stopped in its midst.
#pragma once

#include <cstddef>
#include <functional>

namespace pallascope::study {

// False asks the work to end as soon as it can.
using GoesOn = std::function<bool()>;

// Calls work(i, goesOn) for every i below `count`, on `threads` threads (0: one for each core), and
// then what it returned, from one thread at a time. Neither what is left nor that of work which was
// told to end is called once the given goesOn (empty: always true) has answered false; it is asked
// from several threads at once. Returns when all threads are done.
void inParallel(std::size_t count, int threads, const GoesOn& goesOn,
                const std::function<std::function<void()>(std::size_t, const GoesOn&)>& work);

} // namespace pallascope::study
