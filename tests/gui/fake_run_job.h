// Stands in for app/run_job/run_job.cpp in the tests of the window: answers at once from synthetic
// traces, and does what a test asks for (slow, wrong, cancelled). Linked instead of it.
#pragma once

#include "app/run_job/run_job.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace pallascope::test {

class FakeMachine
{
public:
    static FakeMachine& instance();

    void reset();
    // The run takes this long, reporting progress, until it is cancelled.
    std::atomic<int> slowMs = 0;
    std::atomic<int> cancelled = 0;
    [[nodiscard]] std::vector<app::RunRequest> asked() const;
    void note(const app::RunRequest& request);

private:
    mutable std::mutex m_mutex;
    std::vector<app::RunRequest> m_asked;
};

// A finished run of the synthetic main job; the same data for the same block.
[[nodiscard]] app::FinishedRun finishedRun(int block = 512);

} // namespace pallascope::test
