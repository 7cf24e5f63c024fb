// What steps find in scratch and in output blocks along parallel grid axes, beside what a loop over
// the grid says of the same stores and loads.
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace pallascope::machine_test {

namespace {

constexpr Extent kOuter = 2, kInner = 3;
constexpr std::size_t kSteps = kOuter * kInner;

// What each step does to the accumulator, in this order.
struct Step
{
    bool clears = false, adds = false, reads = false;
};

using Steps = std::array<Step, kSteps>;
using Axes = std::vector<std::int32_t>;

// The accumulator is scratch, or the block of an output that all steps share.
ir::Program accumulates(bool inScratch, const Axes& parallel)
{
    const auto one = [](auto, auto) { return pl::at(0, 0); };
    return mustTrace(pl::kernel(
        "accumulates",
        {pl::scalarPrefetch("does", kInt, Shape{3 * kSteps}), pl::in("x", kF32, Shape{8, 128}),
         pl::out("out", kF32, Shape{8, 128}), pl::out("sum", kF32, Shape{8, 128})},
        [&](pl::Ref does, pl::Ref xHbm, pl::Ref outHbm, pl::Ref sumHbm) {
            const auto body = [&](pl::Ref x, pl::Ref out, pl::Ref sum, pl::Ref scratch) {
                const pl::Ref& acc = inScratch ? scratch : sum;
                const pl::Value step =
                    pl::programId(0) * static_cast<int>(kInner) + pl::programId(1);
                const auto when = [&](int what, const auto& then) {
                    pl::when(does[step * 3 + what] != 0, then);
                };
                when(0, [&] { acc[pl::all] = pl::zerosLike(acc); });
                when(1, [&] { acc[pl::all] = acc[pl::all] + x[pl::all]; });
                when(2, [&] { out[pl::all] = acc[pl::all] * 2; });
            };
            const pl::BlockSpec block = pl::block({8, 128}, one);
            pl::pallasCall({.grid = {kOuter, kInner},
                            .in = {block},
                            .out = {block, block},
                            .scratch = {{"acc", kF32, {8, 128}}},
                            .parallel = parallel},
                           body)(xHbm, outHbm, sumHbm);
        }));
}

// Whether a step has another index along one of the axes than the step before it.
bool changes(std::size_t step, const Axes& parallel)
{
    return step % kInner == 0 ? step > 0 && !parallel.empty()
                              : std::find(parallel.begin(), parallel.end(), 1) != parallel.end();
}

bool isCarried(const Steps& steps, const Axes& parallel)
{
    bool isStored = false, isOld = false, isFound = false;
    const auto store = [&] {
        isStored = true;
        isOld = false;
    };
    for (std::size_t step = 0; step < kSteps; ++step) {
        isOld = isOld || (isStored && changes(step, parallel));
        if (steps[step].clears) {
            store();
        }
        isFound = isFound || (isOld && (steps[step].adds || steps[step].reads));
        if (steps[step].adds) {
            store();
        }
    }
    return isFound;
}

Array tableOf(const Steps& steps)
{
    std::vector<double> does;
    for (const Step& step : steps) {
        does.insert(does.end(), {step.clears ? 1.0 : 0, step.adds ? 1.0 : 0, step.reads ? 1.0 : 0});
    }
    return arrayOf(kInt, {static_cast<Extent>(does.size())}, does);
}

} // namespace

TEST(CarriedInParallel, isFoundWhereAStepReadsWhatAnotherIndexLeft)
{
    std::mt19937_64 random(1);
    std::array<int, 2> seen{};
    for (const bool inScratch : {true, false}) {
        for (const Axes& parallel : {Axes{}, Axes{0}, Axes{1}, Axes{0, 1}}) {
            const ir::Program program = accumulates(inScratch, parallel);
            for (int i = 0; i < 60; ++i) {
                Steps steps;
                for (Step& step : steps) {
                    step = {random() % 2 == 0, random() % 4 == 0, random() % 4 == 0};
                }
                const bool wanted = isCarried(steps, parallel);
                for (const auto values : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
                    const machine::RunResult run =
                        mustRun(program, {tableOf(steps), counting(kF32, {8, 128})}, values);
                    const auto found = findingsOf(run, "carried_in_parallel");
                    ASSERT_EQ(found.size(), wanted ? 1U : 0U) << i << findingsText(run);
                    if (wanted) {
                        EXPECT_EQ(found[0].operand, inScratch ? "acc" : "sum");
                    }
                }
                ++seen[wanted ? 1 : 0];
            }
        }
    }
    EXPECT_GT(seen[0], 50);
    EXPECT_GT(seen[1], 50);
}

// "Start from zeros or go on", as where() says it: nothing of what is read there is used.
TEST(CarriedInParallel, isNotFoundWhereWhatIsReadIsOnlyOneChoice)
{
    for (const bool isChosen : {true, false}) {
        const ir::Program program = mustTrace(pl::kernel(
            "chooses", {pl::in("x", kF32, Shape{32, 128}), pl::out("out", kF32, Shape{32, 128})},
            [&](pl::Ref xHbm, pl::Ref outHbm) {
                const auto body = [&](pl::Ref x, pl::Ref out, pl::Ref acc) {
                    const pl::Value before = acc[pl::all].load();
                    const pl::Value taken =
                        isChosen ? pl::select(pl::programId(0) >= 0, pl::zerosLike(acc), before)
                                 : before;
                    acc[pl::all] = taken + x[pl::all];
                    out[pl::all] = x[pl::all];
                };
                pl::pallasCall({.grid = {4},
                                .in = {pl::block({8, 128}, kRow)},
                                .out = {pl::block({8, 128}, kRow)},
                                .scratch = {{"acc", kF32, {8, 128}}},
                                .parallel = {0}},
                               body)(xHbm, outHbm);
            }));
        const machine::RunResult run = mustRun(program, {counting(kF32, {32, 128})});
        EXPECT_EQ(findingsOf(run, "carried_in_parallel").size(), isChosen ? 0U : 1U)
            << findingsText(run);
    }
}

} // namespace pallascope::machine_test
