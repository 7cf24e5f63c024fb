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
TEST(Tables, areOnTheirWayAsLongAsOneOfTheirBlocksIs)
{
    trace::TraceBuilder builder = genericBuilder(vectorSum());
    trace::Copies& copies = builder.copies;
    std::vector<std::size_t> ofX; // by block
    for (std::size_t copy = 0; copy < copies.size(); ++copy) {
        if (copies.operand[copy] == 0) {
            ofX.push_back(copy);
        }
    }
    // The copy of block 2 takes from the end of that of block 1 on, which waits for its step.
    copies.issue[ofX[2]] = copies.start[ofX[2]] = copies.end[ofX[1]];
    const RunView run = viewOf(std::move(builder));
    layout::GridMoment moment{run, Picoseconds(run.trace->copies().end[ofX[1]] + 1)};
    layout::ArrayPicture picture;
    PageTable table;
    picture.table = &table;
    const auto phaseOf = [&](std::int64_t block) {
        return run.index->blockStateAt({0}, block, moment.now).phase;
    };
    ASSERT_EQ(phaseOf(1), trace::BlockPhase::Ready);
    ASSERT_EQ(phaseOf(2), trace::BlockPhase::Arriving);
    EXPECT_EQ(stateOfEntry(moment, picture, {1, 2}).phase, trace::BlockPhase::Arriving);
    EXPECT_EQ(stateOfEntry(moment, picture, {2, 1}).phase, trace::BlockPhase::Arriving);
    EXPECT_EQ(stateOfEntry(moment, picture, {1, 4}).phase, trace::BlockPhase::Ready);
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
