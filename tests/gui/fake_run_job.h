// Replaces app/run_job/run_job.cpp in the tests of the window, which link it instead. It answers at
// once from synthetic traces, and is slow, wrong or cancelled if a test asks for that.
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
    // A run takes this many milliseconds and reports its progress, unless it is cancelled.
    std::atomic<int> slowMs = 0;
    std::atomic<int> cancelled = 0;
    [[nodiscard]] std::vector<app::RunRequest> asked() const;
    void note(const app::RunRequest& request);

private:
    mutable std::mutex m_mutex;
    std::vector<app::RunRequest> m_asked;
};

// A finished run of the synthetic main job. The same block always gives the same data.
[[nodiscard]] app::FinishedRun finishedRun(int block = 512);

} // namespace pallascope::test
