// Tables in SMEM whose entries choose what is copied, in the grid view.
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "views/layout/grid/block_cells.h"
#include "views/layout/grid/grid.h"
#include "views/layout/grid/parts.h"
#include "views/layout/grid/tables.h"
#include "views/layout/run/operand_color.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace pallascope::test {

namespace {

using layout::PageTable;
using layout::RunView;
using layout::Scene;
namespace target = layout::target;

constexpr layout::Size kTablesSize{495, 680};

// The sum of two vectors, of whose first input a table says which blocks come.
RunView withTable(std::vector<std::int64_t> entries)
{
    RunView run = genericRun(vectorSum());
    const trace::Operand& x = run.trace->info().operands[0];
    run.tables = {PageTable{"pages", DType::Int32,
                            Shape({2, static_cast<Extent>(entries.size()) / 2}), entries,
                            "the kernel stores into it", 0, 0, x.block[0]}};
    return run;
}

// The cell of the table in which an entry is written; entries stand above the arrays.
layout::TextItem entryText(const Scene& scene, const std::string& text)
{
    layout::TextItem found;
    double top = 1e9;
    for (const layout::TextItem& item : textsOf(scene)) {
        if (item.text == text && item.size == 10 && item.rect.y < top && item.rect.y > 40) {
            found = item;
            top = item.rect.y;
        }
    }
    return found;
}

} // namespace

TEST(Tables, showTheirEntriesInTheStateOfTheBlocksToWhichTheyLead)
{
    const RunView run = withTable({5, 0, 2, layout::kNoEntry, 7, 99});
    for (const double share : {0.0, 0.2, 0.45, 0.8, 1.0}) {
        const Scene scene = layoutGrid(run, at(run, share), kTablesSize);
        EXPECT_TRUE(hasText(scene, "pages"));
        EXPECT_TRUE(hasText(scene, "2×3 int32"));
        EXPECT_TRUE(hasText(scene, "in SMEM · its entries choose parts of "));
        EXPECT_TRUE(hasText(scene, "–")); // undefined
        EXPECT_TRUE(textsOutside(scene).empty());
        const layout::Role role = layout::operandRole(run, {0});
        for (const std::int64_t block : {5, 0, 2, 7}) {
            const auto text = entryText(scene, std::to_string(block));
            ASSERT_FALSE(text.text.empty()) << block;
            const auto state = run.index->blockStateAt({0}, block, at(run, share).now);
            const layout::FillItem* fill =
                fillAt(scene, text.rect.x + 1, text.rect.y + text.rect.h - 2);
            ASSERT_NE(fill, nullptr);
            if (state.phase == trace::BlockPhase::Before
                || state.phase == trace::BlockPhase::Never) {
                EXPECT_EQ(fill->color, layout::blockFill(state, role, false)) << block;
            }
        }
    }
}

// An entry may lead to several blocks. It is not ready while one of them is still on its way.
TEST(Tables, areWhatTheLiveliestOfTheirBlocksIs)
{
    using enum trace::BlockPhase;
    constexpr std::array kFromRestToUse{Never,  Before,  Written,  Ready,
                                        Queued, Leaving, Arriving, InUse};
    for (std::size_t i = 1; i < kFromRestToUse.size(); ++i) {
        EXPECT_LT(trace::livelinessOf(kFromRestToUse[i - 1]),
                  trace::livelinessOf(kFromRestToUse[i]));
    }
    const RunView run = genericRun(vectorSum());
    const PageTable table;
    layout::ArrayPicture picture;
    picture.table = &table;
    std::set<trace::BlockPhase> seen;
    for (double share = 0; share <= 1; share += 0.01) {
        const layout::GridMoment moment{run, at(run, share).now};
        trace::BlockPhase liveliest = Never;
        for (std::int64_t block = 0; block < 8; ++block) {
            const trace::BlockPhase phase = run.index->blockStateAt({0}, block, moment.now).phase;
            const bool isLivelier = trace::livelinessOf(phase) > trace::livelinessOf(liveliest);
            liveliest = isLivelier ? phase : liveliest;
        }
        seen.insert(liveliest);
        EXPECT_EQ(stateOfEntry(moment, picture, {0, 1, 2, 3, 4, 5, 6, 7}).phase, liveliest);
    }
    EXPECT_GT(seen.size(), 1U);
}

TEST(Tables, areThePartnersOfTheBlocksToWhichTheyLead)
{
    const RunView run = withTable({5, 0, 2, layout::kNoEntry, 7, 99});
    const Scene scene = layoutGrid(run, at(run, 0.3), kTablesSize);
    const auto places = [&](std::int64_t block) {
        return std::ranges::count_if(scene.hits, [&](const layout::Hit& hit) {
            return hit.target == layout::Target(target::Block{0, block});
        });
    };
    EXPECT_EQ(places(5), 2); // the entry, and the block
    EXPECT_EQ(places(1), 1); // which no entry names
}

TEST(Tables, sayWhyTheirNumbersAreNotKnown)
{
    RunView run = withTable({1, 2});
    run.tables[0].entries.clear();
    const Scene scene = layoutGrid(run, at(run, 0.3), kTablesSize);
    EXPECT_TRUE(hasText(scene, "not known · the kernel stores into it"));
    EXPECT_TRUE(hasText(layoutGrid(run, at(run, 0.3), {260, 400}), "not known"));
}

} // namespace pallascope::test
