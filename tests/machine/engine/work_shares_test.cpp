// How pieces of work are dealt to the blocks of a GPU: which block does which, in what order.
#include "core/ir/builder.h"
#include "core/ir/builder_schedule.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;

// What a kernel of so many blocks writes into an array of int32.
std::vector<double> written(Extent blocks, const Shape& shape,
                            const std::function<void(pl::Ref out)>& body,
                            const chip::Chip& chip = h100())
{
    const machine::RunResult run = mustRun(
        mustTrace(pl::kernel(
            "writes", {pl::out("out", kInt, shape)},
            [&](pl::Ref out) {
                gpu::launch({{{"block", static_cast<std::int32_t>(blocks)}}}, [&] { body(out); });
            })),
        {}, machine::ValueMode::Full, chip);
    EXPECT_EQ(findingsText(run), "");
    return elementsOf(run.outputs[0]);
}

// The places of a plane in the order in which planarSnake goes through them, walked strip by strip.
std::vector<double> walked(Extent rows, Extent columns, std::size_t minorAxis, Extent width)
{
    const Extent major = minorAxis == 0 ? columns : rows, minor = minorAxis == 0 ? rows : columns;
    std::vector<double> places;
    for (Extent strip = 0; strip * width < minor; ++strip) {
        for (Extent line = 0; line < major; ++line) {
            const Extent along = strip % 2 == 0 ? line : major - 1 - line;
            for (Extent across = strip * width; across < std::min(minor, (strip + 1) * width);
                 ++across) {
                places.push_back(static_cast<double>(minorAxis == 0 ? across * columns + along
                                                                    : along * columns + across));
            }
        }
    }
    return places;
}

} // namespace

TEST(WorkShares, aSnakeGoesThroughAPlaneStripByStrip)
{
    constexpr Extent kRows = 5, kColumns = 7;
    for (const std::size_t minorAxis : {std::size_t{0}, std::size_t{1}}) {
        for (const Extent width : {1, 2, 3, 5, 7, 100}) {
            const auto places = written(kRows * kColumns, {kRows * kColumns}, [&](pl::Ref out) {
                const pl::Value number = pl::axisIndex("block");
                const auto [row, column] =
                    gpu::planarSnake(number, {kRows, kColumns}, minorAxis, width);
                out[number] = row * static_cast<int>(kColumns) + column;
            });
            EXPECT_EQ(places, walked(kRows, kColumns, minorAxis, width))
                << minorAxis << " " << width;
        }
    }
}

TEST(WorkShares, sharesAreEveryPieceOnce)
{
    constexpr Extent kPieces = 12;
    for (const Extent blocks : {1, 4, 5, 7, 11, 12}) {
        const auto owners = written(blocks, {kPieces}, [&](pl::Ref out) {
            const pl::Value block = pl::axisIndex("block");
            const gpu::Share share(kPieces, blocks, block);
            share.forEachRound(
                [&](pl::Value round) { out[share.piece(round)] = round * 100 + block; });
        });
        for (Extent piece = 0; piece < kPieces; ++piece) {
            EXPECT_EQ(owners[static_cast<std::size_t>(piece)],
                      static_cast<double>(piece / blocks * 100 + piece % blocks))
                << blocks << " " << piece;
        }
    }
}

} // namespace pallascope::machine_test
