// Arrays of one index map, which share a picture where there is little room.
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "views/layout/grid/grid.h"
#include "views/layout/grid/picture.h"
#include "views/layout/tooltip/tooltip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace pallascope::test {

namespace {

using layout::RunView;
using layout::Scene;
using trace::BlockPhase;
namespace target = layout::target;

constexpr trace::Direction kIn = trace::Direction::In, kOut = trace::Direction::Out;

// Three inputs of rank 3 with one index map, and two of others.
GenericKernel attention()
{
    return {.grid = {4, 16, 16},
            .operands = {{"q", kIn, {4, 2048, 128}, {1, 128, 128}, {0, 1, -1}},
                         {"k", kIn, {4, 2048, 128}, {1, 128, 128}, {0, 2, -1}},
                         {"l", kIn, {4, 2048, 128}, {1, 128, 128}, {0, 1, -1}},
                         {"m", kIn, {4, 2048, 128}, {1, 128, 128}, {0, 1, -1}},
                         {"dq", kOut, {4, 2048, 128}, {1, 128, 128}, {0, 1, -1}}},
            .scratch = {}};
}

std::set<std::int64_t> operandsHit(const Scene& scene)
{
    std::set<std::int64_t> operands;
    for (const layout::Hit& hit : scene.hits) {
        if (const auto* block = std::get_if<target::Block>(&hit.target)) {
            operands.insert(block->operand);
        }
    }
    return operands;
}

} // namespace

TEST(SharedPictures, areOfArraysWithOneIndexMap)
{
    const RunView run = genericRun(attention());
    const auto alike = [&](std::int32_t operand) {
        const auto found = run.index->alike({operand});
        return std::vector<std::int32_t>(found.begin(), found.end());
    };
    EXPECT_EQ(alike(0), (std::vector<std::int32_t>{0, 2, 3}));
    EXPECT_EQ(alike(3), (std::vector<std::int32_t>{0, 2, 3}));
    EXPECT_EQ(alike(1), (std::vector<std::int32_t>{1})); // another axis of the grid
    EXPECT_EQ(alike(4), (std::vector<std::int32_t>{4})); // an output
}

TEST(SharedPictures, standWhereThereIsLittleRoomAndNameAllArrays)
{
    const RunView run = genericRun(attention());
    const Scene large = layoutGrid(run, at(run, 0.4), {1200, 1400});
    EXPECT_FALSE(hasText(large, "q, l, m"));
    const Scene small = layoutGrid(run, at(run, 0.4), {333, 300});
    EXPECT_TRUE(hasText(small, "q, l, m"));
    for (const Scene& scene : {large, small}) {
        EXPECT_EQ(operandsHit(scene), (std::set<std::int64_t>{0, 1, 2, 3, 4}));
        EXPECT_TRUE(textsOutside(scene).empty());
    }
}

// While their blocks come one after the other, the share is that of the bytes of all.
TEST(SharedPictures, showWhatTheirArraysDoTogether)
{
    const RunView run = genericRun(attention());
    const std::vector<std::int32_t> all{0, 2, 3};
    std::map<BlockPhase, int> seen;
    const std::int64_t end = run.trace->end().value();
    for (std::int64_t t = 0; t < end; t += end / 3001) {
        for (const std::int64_t block : {0, 1, 17, 40}) {
            double done = 0;
            std::set<BlockPhase> phases;
            for (const std::int32_t operand : all) {
                const auto state = run.index->blockStateAt({operand}, block, Picoseconds(t));
                phases.insert(state.phase);
                done += state.phase == BlockPhase::Arriving ? state.fraction
                        : state.phase == BlockPhase::Ready || state.phase == BlockPhase::InUse ? 1
                                                                                               : 0;
            }
            const auto whole = layout::stateOfAll(run, all, block, Picoseconds(t));
            ++seen[whole.phase];
            if (phases.size() == 1) {
                EXPECT_EQ(whole.phase, *phases.begin());
            } else if (whole.phase == BlockPhase::Arriving) {
                EXPECT_NEAR(whole.fraction, done / 3, 1e-9);
            }
            if (whole.phase == BlockPhase::InUse || whole.phase == BlockPhase::Ready) {
                EXPECT_DOUBLE_EQ(done, 3) << "one of them is not there yet";
            }
        }
    }
    EXPECT_GT(seen[BlockPhase::Arriving], 0);
    EXPECT_GT(seen[BlockPhase::InUse], 0);
}

TEST(SharedPictures, areSaidByTheTooltipOfEachBlock)
{
    const RunView run = genericRun(attention());
    const auto lines = layout::tooltip(run, at(run, 0.4), target::Block{2, 5});
    EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& line) {
        return line == "one index map with q(0,5,0), m(0,5,0)";
    }));
}

} // namespace pallascope::test
