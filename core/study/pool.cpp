// Hands out the numbers of the work to the threads.
#include "core/study/pool.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace pallascope::study {

void inParallel(std::size_t count, int threads, const GoesOn& goesOn,
                const std::function<std::function<void()>(std::size_t, const GoesOn&)>& work)
{
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stopped{false};
    std::mutex mutex;
    const auto turn = [&] {
        bool isCutShort = false;
        const GoesOn asked = [&] {
            stopped = stopped || (goesOn && !goesOn());
            isCutShort = stopped;
            return !isCutShort;
        };
        for (std::size_t i = next++; i < count && asked(); i = next++) {
            const std::function<void()> keep = work(i, asked);
            if (isCutShort) {
                return;
            }
            const std::lock_guard lock(mutex);
            keep();
        }
    };
    const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const int most = threads > 0 ? threads : cores;
    std::vector<std::jthread> others;
    for (int i = 1; i < most && static_cast<std::size_t>(i) < count; ++i) {
        others.emplace_back(turn);
    }
    turn();
    others.clear(); // joins the threads
}

} // namespace pallascope::study
