// Loads and stores of listed elements: which elements they must not access, and which are
// undefined.
#include "core/machine/run.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

const Shape kFour{4};

pl::Value lanes()
{
    return pl::iota(kInt, kFour, 0);
}

// out = the elements of x at these indices, in a kernel of one step.
ir::Program gathering()
{
    return oneStepProgram(
        {.inputs = {counting(kInt, kFour), counting(kInt, kFour)}, .dtype = kInt, .shape = kFour},
        [](const std::vector<pl::Ref>& refs) {
            refs[2][pl::all] = pl::loadGather(refs[0], {refs[1][pl::all].load()});
        });
}

ir::Program scattering()
{
    return oneStepProgram(
        {.inputs = {counting(kInt, kFour), counting(kInt, kFour)}, .dtype = kInt, .shape = kFour},
        [](const std::vector<pl::Ref>& refs) {
            refs[2][pl::all] = pl::full(kFour, 7, kInt);
            pl::storeScatter(refs[2], {refs[1][pl::all].load()}, refs[0][pl::all].load());
        });
}

} // namespace

TEST(ListedElements, thatAreNotThereEndTheRunUnlessItMayGoOn)
{
    const std::vector<Array> inputs{counting(kInt, kFour), arrayOf(kInt, kFour, {3, 1, 4, 0})};
    for (const auto mode : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        for (const ir::Program& program : {gathering(), scattering()}) {
            const auto stopped = machine::run(program, inputs, v5e(), {.values = mode});
            ASSERT_TRUE(stopped);
            const auto found = findingsOf(*stopped, "out_of_bounds");
            ASSERT_EQ(found.size(), 1U);
            for (const char* const part :
                 {"reaches element 4 on axis 0",
                  "the run stops there; with out_of_bounds_reads=uninitialized it goes on."}) {
                EXPECT_NE(found[0].message.find(part), std::string::npos) << found[0].message;
            }
        }
    }
    const machine::Options goesOn{
        .settings = {.outOfBoundsReads = machine::OutOfBoundsReads::Uninitialized}};
    const auto gathered = machine::run(gathering(), inputs, v5e(), goesOn);
    ASSERT_TRUE(gathered);
    EXPECT_EQ(findingsOf(*gathered, "out_of_bounds").size(), 1U);
    EXPECT_EQ(findingsOf(*gathered, "undefined_written_back").size(), 1U);
    EXPECT_EQ(gathered->outputs[0].at(0), 3);
    const auto scattered = machine::run(scattering(), inputs, v5e(), goesOn);
    ASSERT_TRUE(scattered);
    EXPECT_EQ(elementsOf(scattered->outputs[0]), (std::vector<double>{3, 1, 7, 0}));
}

// Only half of the memory has been written; listed elements of that half are defined.
TEST(ListedElements, areUndefinedWhereNothingWasStored)
{
    for (const bool written : {true, false}) {
        const machine::RunResult run =
            runOneStep({.inputs = {counting(kInt, kFour)},
                        .dtype = kInt,
                        .shape = kFour,
                        .scratch = {{"half", kInt, {8}}}},
                       [&](const std::vector<pl::Ref>& refs) {
                           const pl::Ref half = refs[2];
                           half.at({pl::ds(4, 4)})[pl::all] = refs[0][pl::all].load();
                           refs[1][pl::all] =
                               pl::loadGather(half, {written ? 7 - lanes() : 5 - lanes()});
                       });
        const auto found = findingsOf(run, "undefined_written_back");
        ASSERT_EQ(found.size(), written ? 0U : 1U) << findingsText(run);
        if (!written) {
            EXPECT_NE(found[0].message.find("with 2 of 4 elements undefined"), std::string::npos);
        }
    }
}

// The index of a lane that the mask leaves out decides nothing, so it may be undefined.
TEST(ListedElements, byUndefinedIndicesAreFoundWhereTheyCount)
{
    for (const bool counts : {false, true}) {
        const machine::RunResult run =
            runOneStep({.inputs = {counting(kInt, kFour)},
                        .dtype = kInt,
                        .shape = kFour,
                        .scratch = {{"indices", kInt, kFour}}},
                       [&](const std::vector<pl::Ref>& refs) {
                           refs[2].at({pl::ds(0, 2)})[pl::all] = pl::iota(kInt, Shape{2}, 0);
                           refs[1][pl::all] = pl::full(kFour, 7, kInt);
                           pl::storeScatter(refs[1], {refs[2][pl::all].load()},
                                            refs[0][pl::all].load(), lanes() < (counts ? 3 : 2));
                       });
        EXPECT_EQ(findingsOf(run, "undefined_index").size(), counts ? 1U : 0U);
    }
}

TEST(ListedElements, haveAListForEachAxis)
{
    const auto traced = pl::kernel("lists", {pl::out("out", kInt, Shape{8, 128})}, [](pl::Ref) {
        pl::runScoped({{"near", kInt, {8, 128}}}, [](const std::vector<pl::Ref>& refs) {
            (void)pl::loadGather(refs[0], {lanes()});
            return std::vector<pl::Value>{};
        });
    });
    ASSERT_FALSE(traced);
    EXPECT_NE(traced.error().message.find("one int32 list for each of its axes"), std::string::npos)
        << traced.error().message;
}

} // namespace pallascope::machine_test
