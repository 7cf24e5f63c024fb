// A queue must behave like a std::deque, whatever is added and removed.
#include "core/machine/state/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>

namespace pallascope::machine {

TEST(Queue, isADequeWhateverComesAndGoes)
{
    using Item = std::shared_ptr<int>;
    std::mt19937_64 random(1);
    Queue<Item> queue;
    std::deque<Item> wanted;
    const Item counted = std::make_shared<int>(0);
    for (int round = 0; round < 20'000; ++round) {
        // It grows and shrinks in turns.
        const auto kind = random() % (round / 500 % 2 == 0 ? 6 : 12);
        if (kind == 0) {
            queue.emplace_back() = counted;
            wanted.push_back(counted);
        } else if (kind <= 2) {
            const auto place = static_cast<std::ptrdiff_t>(random() % (wanted.size() + 1));
            const Item item = std::make_shared<int>(round);
            queue.insert(queue.begin() + place, item);
            wanted.insert(wanted.begin() + place, item);
        } else if (kind == 3 && round % 50 == 0) {
            const auto isOdd = [](const Item& item) { return *item % 2 == 1; };
            queue.removeIf(isOdd);
            std::erase_if(wanted, isOdd);
        } else if (kind > 3 && !wanted.empty()) {
            queue.pop_front();
            wanted.pop_front();
        }
        ASSERT_EQ(queue.empty(), wanted.empty());
        ASSERT_EQ(queue.size(), wanted.size());
        ASSERT_TRUE(std::equal(queue.begin(), queue.end(), wanted.begin(), wanted.end()));
        if (!wanted.empty()) {
            ASSERT_EQ(queue.front(), wanted.front());
        }
        // Removed items must no longer hold anything.
        ASSERT_EQ(counted.use_count(), 1 + 2 * std::count(wanted.begin(), wanted.end(), counted));
    }
}

} // namespace pallascope::machine
