// The threads that share loops: they run every part once, and survive exceptions.
#include "core/machine/arith/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace pallascope::arith {

namespace {

class Threads : public testing::TestWithParam<int>
{
protected:
    void SetUp() override { setThreadCount(GetParam()); }

    void TearDown() override { setThreadCount(m_before); }

private:
    int m_before = threadCount();
};

std::set<std::pair<std::int64_t, std::int64_t>> partsOf(std::int64_t count, std::int64_t grain)
{
    std::set<std::pair<std::int64_t, std::int64_t>> parts;
    std::mutex mutex;
    parallelFor(count, grain, [&](std::int64_t begin, std::int64_t end) {
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(parts.emplace(begin, end).second) << begin << " to " << end << " ran twice";
    });
    return parts;
}

TEST_P(Threads, runEveryIndexOnce)
{
    for (const std::int64_t count : {0, 1, 2, 7, 64, 1000, 4097}) {
        for (const std::int64_t grain : {1, 3, 64, 5000}) {
            std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
            parallelFor(count, grain, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) {
                    ++visits[static_cast<std::size_t>(i)];
                }
            });
            for (std::size_t i = 0; i < visits.size(); ++i) {
                ASSERT_EQ(visits[i], 1) << "index " << i << " of " << count << " by " << grain;
            }
        }
    }
}

TEST_P(Threads, doNotMoveTheBoundariesOfParts)
{
    const std::set<std::pair<std::int64_t, std::int64_t>> expected = {
        {0, 30}, {30, 60}, {60, 90}, {90, 100}};
    EXPECT_EQ(partsOf(100, 30), expected);
}

TEST_P(Threads, takeManyShortJobsInARow)
{
    // The jobs are so short that late threads already meet the next one; pauses let threads fall
    // asleep.
    std::int64_t expected = 0;
    std::atomic<std::int64_t> sum{0};
    for (std::int64_t job = 0; job < 20000; ++job) {
        parallelFor(5, 1, [&](std::int64_t begin, std::int64_t) { sum += begin + job; });
        expected += 10 + 5 * job;
        ASSERT_EQ(sum, expected) << "after job " << job;
        if (job % 1000 == 0) { // threads that found nothing to do go to sleep meanwhile
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
}

TEST_P(Threads, runANestedJobInPlace)
{
    std::atomic<int> inner{0};
    std::atomic<int> elsewhere{0};
    parallelFor(8, 1, [&](std::int64_t, std::int64_t) {
        const std::thread::id here = std::this_thread::get_id();
        parallelFor(10, 1, [&](std::int64_t, std::int64_t) {
            ++inner;
            elsewhere += std::this_thread::get_id() == here ? 0 : 1;
        });
    });
    EXPECT_EQ(inner, 80);
    EXPECT_EQ(elsewhere, 0);
}

TEST_P(Threads, serveSeveralCallersAtOnce)
{
    std::vector<std::int64_t> sums(4, 0);
    std::vector<std::thread> callers;
    callers.reserve(sums.size());
    for (std::int64_t& sum : sums) {
        callers.emplace_back([&sum] {
            for (int job = 0; job < 500; ++job) {
                std::atomic<std::int64_t> mine{0};
                parallelFor(100, 9,
                            [&](std::int64_t begin, std::int64_t end) { mine += end - begin; });
                sum += mine;
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    EXPECT_EQ(sums, std::vector<std::int64_t>(4, 50000));
}

TEST_P(Threads, handAnExceptionToTheCallerAndStayUsable)
{
    const auto body = [&](std::int64_t begin, std::int64_t) {
        if (begin % 2 == 1) {
            throw std::logic_error("an odd part");
        }
    };
    EXPECT_THROW(parallelFor(10, 1, body), std::logic_error);
    EXPECT_EQ(partsOf(10, 5).size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Counts, Threads, testing::Values(1, 2, 3, 8),
                         testing::PrintToStringParamName());

TEST(ThreadCount, followsWhatWasSet)
{
    const int before = threadCount();
    EXPECT_GE(before, 1);
    setThreadCount(3);
    EXPECT_EQ(threadCount(), 3);
    // Three parts that wait for each other end only if three threads run them.
    std::atomic<int> arrived{0};
    parallelFor(3, 1, [&](std::int64_t, std::int64_t) {
        ++arrived;
        while (arrived < 3) {
            std::this_thread::yield();
        }
    });
    EXPECT_EQ(arrived, 3);
    setThreadCount(before);
}

} // namespace

} // namespace pallascope::arith
