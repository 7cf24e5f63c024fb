// Which other blocks are tried, and what of them is found.
#include "app/run_job/alternatives.h"
#include "app/run_job/chips.h"
#include "app/run_job/kernel_choice.h"
#include "kernels/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace pallascope::app {

namespace {

using Given = std::map<std::string, std::string>;

std::vector<analysis::Alternative> triedFor(const char* kernel, const Given& given)
{
    const KernelChoice choice = chooseKernel(kernel, given).value();
    return alternatives(*choice.builtIn, *choice.arguments, chipOf(choice.program).value());
}

const analysis::Alternative* bestOf(const std::vector<analysis::Alternative>& all)
{
    const analysis::Alternative* best = nullptr;
    for (const analysis::Alternative& one : all) {
        const bool isBetter = one.keepsLimits() && (best == nullptr || one.time < best->time);
        best = isBetter ? &one : best;
    }
    return best;
}

std::string bestName(const char* kernel, const Given& given)
{
    const std::vector<analysis::Alternative> all = triedFor(kernel, given);
    const analysis::Alternative* best = bestOf(all);
    return best == nullptr ? "" : best->name;
}

Picoseconds timeWith(const char* kernel, Given given, const Given& changes)
{
    for (const auto& [name, value] : changes) {
        given[name] = value;
    }
    const Result<FinishedRun> run =
        runKernel({.kernel = kernel, .parameters = given, .fullValues = false});
    return run.value().view->report.time;
}

} // namespace

// A trial of each takes much longer than the run itself.
TEST(OtherBlocks, withManyRoundsInAllBlocksOfAGridAreNotTried)
{
    const auto tried = [](const char* size) {
        const KernelChoice choice =
            chooseKernel("blackwell_matmul",
                         {{"m", size}, {"n", size}, {"bm", "128"}, {"bn", "128"}, {"bk", "64"}})
                .value();
        return alternatives(*choice.builtIn, *choice.arguments, chipOf(choice.program).value())
            .size();
    };
    EXPECT_EQ(tried("512"), 3U); // half of all, all as the largest, and what single ones lead to
    EXPECT_EQ(tried("8192"), 0U);
}

// The kernel takes neither half nor twice of all its blocks.
TEST(OtherBlocks, areOfOneParameterWhereNotAllCanChange)
{
    const KernelChoice choice =
        chooseKernel("hopper_matmul", {{"m", "512"}, {"n", "512"}, {"k", "512"}}).value();
    const std::vector<analysis::Alternative> all =
        alternatives(*choice.builtIn, *choice.arguments, chipOf(choice.program).value());
    ASSERT_FALSE(all.empty());
    for (const analysis::Alternative& one : all) {
        const auto isChanged = [&](const auto& change) {
            return choice.arguments->all().at(change.first) != change.second;
        };
        EXPECT_EQ(std::count_if(one.changed.begin(), one.changed.end(), isChanged), 1) << one.name;
    }
}

// Trials compute no values, so they would not see that a sum takes in what lies past an array.
TEST(OtherBlocks, doNotAddUpWhatLiesPastAnArray)
{
    const auto namesOfTried = [](const char* k) {
        const KernelChoice choice =
            chooseKernel(
                "matmul",
                {{"m", "512"}, {"n", "512"}, {"k", k}, {"bm", "256"}, {"bn", "256"}, {"bk", "256"}})
                .value();
        std::set<std::string> names;
        for (const analysis::Alternative& one :
             alternatives(*choice.builtIn, *choice.arguments, chipOf(choice.program).value())) {
            names.insert(one.name);
        }
        return names;
    };
    EXPECT_TRUE(namesOfTried("1024").contains("512-blocks"));
    EXPECT_FALSE(namesOfTried("1280").contains("512-blocks"));
    EXPECT_TRUE(namesOfTried("1280").contains("128-blocks"));
}

// Where other sizes of all blocks help less than one of another size.
TEST(OtherBlocks, includeOneOfAnotherSizeIfItIsTheFastest)
{
    const auto fastest = [](const char* n) {
        const KernelChoice choice =
            chooseKernel("matmul", {{"m", "2048"}, {"n", n}, {"k", "2048"}}).value();
        const std::vector<analysis::Alternative> all =
            alternatives(*choice.builtIn, *choice.arguments, chipOf(choice.program).value());
        return std::ranges::min(all, {}, &analysis::Alternative::time).name;
    };
    EXPECT_EQ(fastest("128"), "2048\u00d7128\u00d7128 blocks");
    EXPECT_EQ(fastest("2048"), "1024-blocks");
}

// A block larger than its array is all of it, and copies no more.
TEST(OtherBlocks, areNoLargerThanWhatTheyCut)
{
    const Given flat{{"m", "16"},  {"n", "8192"}, {"k", "8192"},
                     {"bm", "16"}, {"bn", "256"}, {"bk", "256"}};
    for (const analysis::Alternative& one : triedFor("matmul", flat)) {
        const auto bm = one.changed.find("bm");
        EXPECT_TRUE(bm == one.changed.end() || std::stoi(bm->second) <= 16) << one.name;
    }
    EXPECT_EQ(bestName("add_vectors", {{"shape", "7,5,3"}, {"block", "2"}}), "7-blocks");
}

// 1009 is a prime, so that only all of the depth is summed up without what lies past it.
TEST(OtherBlocks, ofOddExtentsAreTriedToo)
{
    const Given odd{{"m", "1009"}, {"n", "1009"}, {"k", "1009"},
                    {"bm", "256"}, {"bn", "256"}, {"bk", "256"}};
    const std::vector<analysis::Alternative> all = triedFor("matmul", odd);
    ASSERT_FALSE(all.empty());
    for (const analysis::Alternative& one : all) {
        EXPECT_EQ(one.changed.at("bk"), "1009") << one.name;
    }
    // 384 of 1920 is the largest block of whole lanes up to 512 that divides it.
    const std::vector<analysis::Alternative> divided = triedFor(
        "matmul",
        {{"m", "2048"}, {"n", "2048"}, {"k", "1920"}, {"bm", "256"}, {"bn", "256"}, {"bk", "256"}});
    EXPECT_TRUE(std::ranges::any_of(divided, [](const analysis::Alternative& one) {
        return one.name == "512\u00d7512\u00d7384 blocks";
    }));
}

// What is proposed is the fastest of its neighbours, too, and takes the time that is said.
TEST(OtherBlocks, leadToBlocksThatNoNeighbourBeats)
{
    EXPECT_EQ(bestName("matmul", {{"bm", "1024"}}), "1024-blocks");
    for (const Given& given :
         {Given{{"bm", "1024"}}, Given{{"bm", "128"}, {"bn", "128"}, {"bk", "128"}},
          Given{{"m", "16"}, {"n", "8192"}, {"k", "8192"}, {"bm", "16"}}}) {
        const std::vector<analysis::Alternative> all = triedFor("matmul", given);
        const analysis::Alternative* best = bestOf(all);
        ASSERT_NE(best, nullptr);
        EXPECT_EQ(best->time, timeWith("matmul", given, best->changed)) << best->name;
    }
}

// Asking for more than an array has is no reason to propose it.
TEST(OtherBlocks, thatFitAreNoLargerThanWhatTheyCut)
{
    const KernelChoice choice = chooseKernel("matmul", {{"m", "512"},
                                                        {"n", "16384"},
                                                        {"k", "16384"},
                                                        {"bm", "4096"},
                                                        {"bn", "8192"},
                                                        {"bk", "8192"}})
                                    .value();
    const auto nearest =
        nearestThatFit(*choice.builtIn, *choice.arguments, chipOf(choice.program).value(), 3);
    ASSERT_FALSE(nearest.empty());
    for (const analysis::Alternative& one : nearest) {
        EXPECT_LE(std::stoi(one.changed.at("bm")), 512) << one.name;
    }
}

} // namespace pallascope::app
