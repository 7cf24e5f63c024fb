// The pool of threads. Threads spin briefly before they sleep, because most jobs take only
// microseconds.
#include "core/machine/arith/threads.h"

#include "core/base/check.h"
#include "core/machine/arith/subnormals.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace pallascope::arith {

namespace {

using Body = std::function<void(std::int64_t, std::int64_t)>;

// How long a thread waits for work, or for the last part of its job, before it sleeps. Waking up
// takes longer than most jobs do. The machine's jobs follow each other within microseconds;
// between those of attention there is work for one thread that takes up to some hundred
// microseconds.
constexpr std::chrono::microseconds kSpin{150};

// True in the pool's threads, and in a caller whose job runs. A job that is started there runs on
// that thread.
thread_local bool insideJob = false;

thread_local int numberInPool = 0; // 0 for threads outside the pool

void pauseCpu()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

// Returns true as soon as ready() does, or false if it has not done so within kSpin.
template<class Ready>
bool spinUntil(const Ready& ready)
{
    const auto end = std::chrono::steady_clock::now() + kSpin;
    do {
        for (int i = 0; i < 16; ++i) {
            if (ready()) {
                return true;
            }
            pauseCpu();
        }
    } while (std::chrono::steady_clock::now() < end);
    return ready();
}

struct Job
{
    std::int64_t count = 0;
    std::int64_t grain = 1;
    const Body* body = nullptr;
    bool flushesSubnormals = subnormalsAreFlushed(); // in the calling thread

    [[nodiscard]] std::int64_t parts() const { return (count + grain - 1) / grain; }

    void run(std::int64_t part) const
    {
        const std::int64_t begin = part * grain;
        (*body)(begin, std::min(count, begin + grain));
    }
};

// Runs one job at a time. The upper half of m_ticket holds the job's number, the lower half how
// many of its parts are not yet taken. A thread takes a part by one compare-and-swap, which fails
// if the job is over, so that a late thread does no harm and nobody waits for it. A thread that
// has taken a part may read m_job, because the job's caller waits until every part is finished.
class Pool
{
public:
    Pool() { start(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))); }

    ~Pool() { stop(); }

    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    Pool(Pool&&) = delete;
    Pool& operator=(Pool&&) = delete;

    [[nodiscard]] int threadCount() const { return m_threadCount.load(std::memory_order_relaxed); }

    void setThreadCount(int count)
    {
        const std::lock_guard caller(m_caller);
        if (count != threadCount()) {
            stop();
            start(count);
        }
    }

    void run(const Job& job)
    {
        const std::lock_guard caller(m_caller);
        insideJob = true;
        m_job = job;
        m_unfinished.store(job.parts(), std::memory_order_relaxed);
        const std::uint64_t number = (m_ticket.load(std::memory_order_relaxed) >> 32U) + 1U;
        m_ticket.store((number << 32U) | static_cast<std::uint64_t>(job.parts()));
        if (m_sleeping.load() > 0) {
            const std::lock_guard lock(m_mutex);
            m_wake.notify_all();
        }
        takeParts();
        const auto finished = [this] { return m_unfinished.load() == 0; };
        if (!spinUntil(finished)) {
            std::unique_lock lock(m_mutex);
            m_callerSleeps.store(true);
            m_finished.wait(lock, finished);
            m_callerSleeps.store(false);
        }
        insideJob = false;
        if (m_failure != nullptr) {
            std::rethrow_exception(std::exchange(m_failure, nullptr));
        }
    }

private:
    static constexpr std::uint64_t kPartsMask = 0xffff'ffffU;

    [[nodiscard]] bool hasParts() const { return (m_ticket.load() & kPartsMask) != 0; }

    // Takes and runs parts until none are left.
    void takeParts()
    {
        std::uint64_t ticket = m_ticket.load();
        while ((ticket & kPartsMask) != 0) {
            if (!m_ticket.compare_exchange_weak(ticket, ticket - 1)) {
                continue;
            }
            runPart(m_job.parts() - static_cast<std::int64_t>(ticket & kPartsMask));
            ticket = m_ticket.load();
        }
    }

    void runPart(std::int64_t part)
    {
        try {
            const Subnormals subnormals(m_job.flushesSubnormals);
            m_job.run(part);
        } catch (...) {
            const std::lock_guard lock(m_mutex);
            if (m_failure == nullptr) {
                m_failure = std::current_exception();
            }
        }
        // Once the last part is counted, the caller may start the next job, so m_job must not be
        // read any more.
        if (m_unfinished.fetch_sub(1) == 1 && m_callerSleeps.load()) {
            const std::lock_guard lock(m_mutex);
            m_finished.notify_one();
        }
    }

    void work(int thread)
    {
        insideJob = true;
        numberInPool = thread;
        while (!m_stopping.load()) {
            if (!spinUntil([this] { return hasParts() || m_stopping.load(); })) {
                std::unique_lock lock(m_mutex);
                ++m_sleeping; // before hasParts(): run() stores the ticket, then reads this
                m_wake.wait(lock, [this] { return hasParts() || m_stopping.load(); });
                --m_sleeping;
            }
            takeParts();
        }
    }

    void start(int count)
    {
        m_stopping.store(false);
        m_threadCount.store(count, std::memory_order_relaxed);
        for (int i = 1; i < count; ++i) {
            m_threads.emplace_back([this, i] { work(i); });
        }
    }

    void stop()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_stopping.store(true);
            m_wake.notify_all();
        }
        for (std::thread& thread : m_threads) {
            thread.join();
        }
        m_threads.clear();
    }

    std::mutex m_caller; // held for the whole of a job
    Job m_job;
    alignas(64) std::atomic<std::uint64_t> m_ticket{0};
    alignas(64) std::atomic<std::int64_t> m_unfinished{0};
    alignas(64) std::atomic<int> m_sleeping{0};
    std::atomic<bool> m_callerSleeps{false};
    std::atomic<bool> m_stopping{false};
    std::atomic<int> m_threadCount{1};
    std::mutex m_mutex; // guards both conditions and m_failure
    std::condition_variable m_wake;
    std::condition_variable m_finished;
    std::exception_ptr m_failure;
    std::vector<std::thread> m_threads;
};

Pool& pool()
{
    static Pool instance;
    return instance;
}

} // namespace

void runParts(std::int64_t count, std::int64_t grain, const Body& body)
{
    PALLASCOPE_CHECK(count >= 0 && grain >= 1);
    const Job job{count, grain, &body};
    // A ticket has only 32 bits for the number of parts.
    PALLASCOPE_CHECK(job.parts() < (std::int64_t{1} << 32));
    if (job.parts() <= 1 || insideJob || pool().threadCount() == 1) {
        for (std::int64_t part = 0; part < job.parts(); ++part) {
            job.run(part);
        }
        return;
    }
    pool().run(job);
}

int threadNumber()
{
    return numberInPool;
}

int threadCount()
{
    return pool().threadCount();
}

void setThreadCount(int count)
{
    PALLASCOPE_CHECK(count >= 1 && !insideJob);
    pool().setThreadCount(count);
}

} // namespace pallascope::arith
