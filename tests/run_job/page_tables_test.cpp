// The tables in SMEM by which a run chooses what it copies.
#include "app/run_job/chips.h"
#include "app/run_job/page_tables.h"
#include "core/ir/builder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::app {

namespace {

constexpr DType kNumber = DType::Int32, kElement = DType::F32;

// out[i] = x[pages[i]], block by block, by an index map or, with `byHand`, by copies of the body.
ir::Program paged(bool byHand, bool isWritten = false)
{
    const auto rows = [](auto i) { return pl::at(i, 0); };
    return pl::kernel(
               "paged",
               {pl::scalarPrefetch("pages", kNumber, {4}), pl::in("x", kElement, {6, 8, 128}),
                pl::out("out", kElement, {32, 128})},
               [&](pl::Ref pages, pl::Ref x, pl::Ref out) {
                   if (byHand) {
                       pl::runScoped({{"page", kElement, {8, 128}}, pl::dmaSemaphores("sem")},
                                     [&](const std::vector<pl::Ref>& refs) {
                                         const pl::Value number = pages[2].load();
                                         const pl::Ref part = x.at({number, pl::all, pl::all});
                                         pl::dmaStart(part, refs[0], refs[1]);
                                         pl::dmaWait(refs[0], refs[1]);
                                         return std::vector<pl::Value>{};
                                     });
                       return;
                   }
                   pl::pallasCall(
                       {.grid = {4},
                        .in = {pl::block({pl::squeezed(), 8, 128},
                                         [&](auto i) { return pl::at(pages[i].load(), 0, 0); })},
                        .out = {pl::block({8, 128}, rows)}},
                       [&](pl::Ref from, pl::Ref to) {
                           to[pl::all] = from[pl::all];
                           if (isWritten) {
                               pages[0] = pl::full({}, 3, kNumber);
                           }
                       })(x, out);
               })
        .value();
}

Array arrayOf(DType dtype, const Shape& shape, const std::vector<std::int32_t>& numbers = {})
{
    Array array = makeArray(dtype, shape);
    std::fill_n(array.data.get(), array.byteCount(), std::byte{0});
    std::copy(numbers.begin(), numbers.end(), array.as<std::int32_t>());
    return array;
}

std::vector<layout::PageTable> tablesOf(const ir::Program& program)
{
    const std::vector<Array> inputs{arrayOf(kNumber, Shape({4}), {5, 0, 2, 2}),
                                    arrayOf(kElement, Shape({6, 8, 128}))};
    const chip::Chip chip = loadChip("tpu_v5e").value();
    const machine::RunResult run = machine::run(program, inputs, chip, {}).value();
    return pageTables(program, inputs, chip, {}, *run.trace);
}

} // namespace

TEST(PageTables, ofAnIndexMapHaveTheirEntries)
{
    const std::vector<layout::PageTable> tables = tablesOf(paged(false));
    ASSERT_EQ(tables.size(), 1U);
    EXPECT_EQ(tables[0].name, "pages");
    EXPECT_EQ(tables[0].entries, (std::vector<std::int64_t>{5, 0, 2, 2}));
    EXPECT_EQ(tables[0].operand, 0);
    EXPECT_EQ(tables[0].axis, 0);
    EXPECT_EQ(tables[0].unit, 1);
}

TEST(PageTables, ofACopyByHandHaveTheirEntries)
{
    const std::vector<layout::PageTable> tables = tablesOf(paged(true));
    ASSERT_EQ(tables.size(), 1U);
    EXPECT_EQ(tables[0].entries, (std::vector<std::int64_t>{5, 0, 2, 2}));
    EXPECT_EQ(tables[0].unit, 1);
}

TEST(PageTables, intoWhichTheKernelStoresAreNotKnown)
{
    const std::vector<layout::PageTable> tables = tablesOf(paged(false, true));
    ASSERT_EQ(tables.size(), 1U);
    EXPECT_TRUE(tables[0].entries.empty());
    EXPECT_EQ(tables[0].why, "the kernel stores into this table");
}

} // namespace pallascope::app
