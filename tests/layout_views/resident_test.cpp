// Which parts of an array the picture of its values frames, because they are in VMEM, and what its
// caption says of a kept run.
#include "core/trace/copy_ends.h"
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/scratch_trace.h"
#include "views/layout/values/values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

using namespace pallascope;
using namespace pallascope::layout;
using layout::values::Residence;
using layout::values::Resident;

namespace {

std::optional<Residence> expectedOf(const trace::BlockState& state)
{
    switch (state.phase) {
    case trace::BlockPhase::Never:
    case trace::BlockPhase::Before:
    case trace::BlockPhase::Written:
        return std::nullopt;
    case trace::BlockPhase::Queued:
        return Residence::Queued;
    case trace::BlockPhase::Arriving:
        return Residence::Moving;
    case trace::BlockPhase::Ready:
        return Residence::Here;
    case trace::BlockPhase::InUse:
        return Residence::InUse;
    case trace::BlockPhase::Leaving:
        return state.fraction > 0 ? Residence::Moving : Residence::Here;
    }
    return std::nullopt;
}

ValuesSight sightOfOnes(const Shape& shape, const Shape& block)
{
    ValuesView view{.name = "out", .memory = "HBM", .elements = makeArray(DType::F32, shape)};
    view.block = block;
    view.color = Role::Operand3;
    std::fill_n(view.elements.as<float>(), shape.elements(), 1.0F);
    return sightOf(view, {}, {640, 520});
}

// Whether some fill of the scene is the upper edge of a frame of this rectangle.
bool hasFrame(const Scene& scene, Role role, double x, double y, double w)
{
    return std::any_of(scene.items.begin(), scene.items.end(), [&](const Item& item) {
        const auto* fill = std::get_if<FillItem>(&item);
        return fill != nullptr && fill->color.role == role && std::abs(fill->rect.x - x) <= 1
               && std::abs(fill->rect.y - y) <= 1 && std::abs(fill->rect.w - w) <= 1
               && fill->rect.h <= 2;
    });
}

} // namespace

// The blocks that are resident are those that the grid shows on the chip, with the same state.
TEST(Residents, areTheBlocksThatTheGridShowsOnTheChip)
{
    const RunView& run = test::sharedMainJob();
    std::map<Residence, int> seen;
    for (int moment = 0; moment < 60; ++moment) {
        const Picoseconds now(run.trace->end().value() * moment / 60 + 12'345);
        for (std::size_t i = 0; i < run.trace->info().operands.size(); ++i) {
            const trace::Operand& operand = run.trace->info().operands[i];
            const values::Plane plane = values::planeOf(operand.array, 0);
            std::vector<Resident> expected;
            const std::int64_t blocks = operand.blockCounts[0] * operand.blockCounts[1];
            for (std::int64_t block = 0; block < blocks; ++block) {
                const auto how =
                    expectedOf(run.index->blockStateAt(trace::OperandRow::at(i), block, now));
                if (how) {
                    const auto rows = trace::rangeOf(operand, block, 0);
                    const auto columns = trace::rangeOf(operand, block, 1);
                    expected.push_back(
                        {{rows.from, columns.from, rows.to - rows.from, columns.to - columns.from},
                         *how});
                    ++seen[*how];
                }
            }
            std::vector<Resident> found =
                values::residentsOf(run, now, trace::OperandRow::at(i), 0, plane);
            const auto before = [](const Resident& a, const Resident& b) {
                return std::pair(a.region.row, a.region.column)
                       < std::pair(b.region.row, b.region.column);
            };
            std::sort(found.begin(), found.end(), before);
            std::sort(expected.begin(), expected.end(), before);
            EXPECT_EQ(found, expected) << operand.name << " at " << now.value();
        }
    }
    EXPECT_GE(seen.size(), 3U);
}

// What manual DMA has brought is a part of the array from where its copies read.
TEST(Residents, areThePartsThatManualDmaReads)
{
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const RunView run = test::viewOf(test::scratchBuilder(seed));
        const trace::Trace& trace = *run.trace;
        for (int moment = 1; moment < 20; ++moment) {
            const Picoseconds now(trace.end().value() * moment / 20);
            for (std::size_t i = 0; i < trace.info().operands.size(); ++i) {
                const Shape& array = trace.info().operands[i].array;
                const values::Plane plane = values::planeOf(array, 0);
                for (const Resident& one :
                     values::residentsOf(run, now, trace::OperandRow::at(i), 0, plane)) {
                    ++found;
                    const bool isCopied = [&] {
                        for (std::size_t end = 0; end < trace.copyEnds().size(); ++end) {
                            const auto row = trace::EndRow::at(end);
                            const std::size_t copy = trace::copyOf(trace, row).index();
                            const auto ranges = trace::rangesOfEnd(trace, row);
                            if (trace.copyEnds().buffer[end] == trace::kNone
                                && trace.copies().issue[copy] <= now.value()
                                && ranges.size() == array.rank() && array.rank() >= 2
                                && ranges[array.rank() - 2].from == one.region.row
                                && ranges[array.rank() - 1].from == one.region.column) {
                                return true;
                            }
                        }
                        return false;
                    }();
                    EXPECT_TRUE(isCopied || array.rank() < 2) << seed << " " << now.value();
                }
            }
        }
    }
    EXPECT_GT(found, 20);
}

TEST(Residents, areFramedInTheMapAndInTheWholeArray)
{
    ValuesSight sight = sightOfOnes({64, 64}, {16, 16});
    EXPECT_FALSE(test::hasText(layoutSight(sight, ValuesScale::Range), "in VMEM"));
    sight.resident = {{{16, 32, 16, 16}, Residence::Here}, {{32, 0, 16, 16}, Residence::InUse}};
    const Scene scene = layoutSight(sight, ValuesScale::Range);
    EXPECT_TRUE(test::hasText(scene, "in VMEM"));
    const values::Frame& frame = sight.frame;
    const double px = frame.px / static_cast<double>(frame.side);
    EXPECT_TRUE(
        hasFrame(scene, Role::Operand3, frame.map.x + 32 * px, frame.map.y + 16 * px, 16 * px));
    EXPECT_TRUE(hasFrame(scene, Role::Text, frame.map.x, frame.map.y + 32 * px, 16 * px));
    EXPECT_TRUE(test::textsOutside(scene).empty());
}

TEST(KeptValues, theCaptionSaysWhatTheKeptRunHasInTheSameRegion)
{
    ValuesSight sight = sightOfOnes({64, 64}, {});
    EXPECT_EQ(layoutSight(sight, ValuesScale::Range).caption.find("kept"), std::string::npos);
    sight.kept = sight.inSight;
    EXPECT_NE(layoutSight(sight, ValuesScale::Range)
                  .caption.find("in sight the min, max, mean and NaN count of the kept run"),
              std::string::npos);
    sight.kept->least = -3;
    sight.kept->mean = 0.5;
    sight.kept->nan = 2;
    EXPECT_NE(layoutSight(sight, ValuesScale::Range)
                  .caption.find("kept, in sight: |−3 to 1|, mean |0.5|, |2| NaN"),
              std::string::npos)
        << layoutSight(sight, ValuesScale::Range).caption;
    sight.kept->values = 0;
    EXPECT_NE(layoutSight(sight, ValuesScale::Range).caption.find("no numbers, |2| NaN"),
              std::string::npos);
}
