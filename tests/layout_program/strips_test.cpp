// The arrays in HBM as strips, for programs of several kernels and devices.
#include "core/trace/columns.h"
#include "core/trace/pipelines.h"
#include "tests/layout_program/runs.h"
#include "tests/layout_views/scene_probe.h"
#include "views/layout/memory/strip_blocks.h"
#include "views/layout/run/told_apart.h"
#include "views/layout/views.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

using namespace pallascope;
using namespace pallascope::layout;
using trace::at;

namespace {

// What a strip of each array says at the end of a run, by the array's name.
std::map<std::string, double> saidOf(const RunView& run)
{
    const Scene scene =
        findView("memory")->layout(run, test::at(run, 1), {600, 1200}); // all strips have room
    std::map<std::string, double> said;
    for (const Fact& fact : scene.facts) {
        if (fact.kind == FactKind::BytesMoved) {
            const trace::Operand& operand = run.trace->info().operands[at(fact.of)];
            EXPECT_TRUE(said.emplace(trace::arrayName(operand), fact.value).second) << operand.name;
        }
    }
    return said;
}

// The same from each copy: where it reads HBM and where it writes it.
std::map<std::string, double> movedOf(const trace::Trace& trace)
{
    std::map<std::string, double> moved;
    for (std::size_t row = 0; row < trace.copies().size(); ++row) {
        const trace::Operand& operand = trace.info().operands[at(trace.copies().operand[row])];
        const auto bytes = static_cast<double>(trace.copies().bytes[row]);
        moved[std::string(trace::arrayName(operand))] += bytes;
        if (operand.direction == trace::Direction::InOut) {
            const std::string arrow = " \u2192 ";
            moved[operand.name.substr(operand.name.find(arrow) + arrow.size())] += bytes;
        }
    }
    return moved;
}

trace::Operand cut(const Shape& array, const Shape& block)
{
    trace::Operand operand;
    operand.array = array;
    operand.block = block;
    for (std::size_t axis = 0; axis < array.rank(); ++axis) {
        operand.blockCounts.push_back(ceilDiv(array[axis], block[axis]));
    }
    return operand;
}

} // namespace

TEST(Strips, aCopyBetweenDevicesIsReadAtOneArrayAndWrittenAtAnother)
{
    const RunView& run = *test::runOf("a ring of devices").view;
    const std::map<std::string, double> said = saidOf(run);
    EXPECT_EQ(said.size(), 3U);
    EXPECT_EQ(said, movedOf(*run.trace));
}

TEST(Strips, showEachArrayOnce)
{
    for (const char* name : {"kernels and fusions", "kernels by hand around one with steps",
                             "pipelines one after the other"}) {
        SCOPED_TRACE(name);
        const RunView& run = *test::runOf(name).view;
        EXPECT_EQ(saidOf(run), movedOf(*run.trace));
    }
}

// Of two kernels that both call an array "x", or of a kernel and what is around it.
TEST(Strips, tellArraysOfOneNameApart)
{
    const RunView& run = *test::runOf("kernels and fusions").view;
    std::vector<std::int32_t> operands;
    std::vector<std::string> same;
    std::set<std::int32_t> arrays;
    const auto& all = run.trace->info().operands;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (arrays.insert(run.index->arrays().ofOperand[i]).second) {
            operands.push_back(static_cast<std::int32_t>(i));
            same.emplace_back("x");
        }
    }
    ASSERT_GT(operands.size(), 1U);
    for (const double most : {1000.0, 20.0}) {
        const std::vector<std::string> names =
            toldApart(run, operands, same, [most](const std::string& name) {
                return textWidth(name, 11, Weight::Mono) <= most;
            });
        EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
        for (const std::string& name : names) {
            EXPECT_TRUE(name.starts_with("x")) << name;
        }
    }
    const auto anyFits = [](const std::string&) { return true; };
    EXPECT_EQ(toldApart(run, {0, 0}, {"x", "x"}, anyFits),
              (std::vector<std::string>{"x #1", "x #2"}));
    EXPECT_EQ(toldApart(run, {0, 1}, {"x", "y"}, anyFits), (std::vector<std::string>{"x", "y"}));
}

// As of several kernels that all call what they read and write "x_ref".
TEST(Strips, haveNamesOfTheirOwn)
{
    RunView run = *test::runOf("kernels and fusions").view;
    const trace::Trace& trace = *run.trace;
    trace::TraceBuilder builder{trace.info(),       trace.steps(),        trace.segments(),
                                trace.copies(),     trace.copyEnds(),     trace.waits(),
                                trace.visits(),     trace.signals(),      trace.rounds(),
                                trace.gridBlocks(), trace.cacheChanges(), trace.end()};
    for (trace::Operand& operand : builder.info.operands.edit()) {
        operand.name = operand.pipeline == trace::kNone ? operand.name : "x_ref";
    }
    run.trace = std::move(builder).finish().value();
    run.index = std::make_shared<trace::Index>(run.trace);
    std::map<std::string, int> names;
    for (const TextItem& text :
         test::textsOf(findView("memory")->layout(run, test::at(run, 1), {600, 1200}))) {
        if (text.text == "x_ref" || text.text.starts_with("x_ref ")) {
            ++names[text.text];
        }
    }
    EXPECT_GT(names.size(), 1U);
    for (const auto& [name, count] : names) {
        EXPECT_EQ(count, 1) << name;
    }
}

TEST(Strips, knowWhichBlocksOfAnotherCutLieInAPlace)
{
    const trace::Operand wide = cut({8, 12}, {2, 12}), tall = cut({8, 12}, {8, 3}),
                         cells = cut({8, 12}, {4, 4});
    using Blocks = std::vector<std::int64_t>;
    EXPECT_EQ(blocksAt(wide, wide, 3), (Blocks{3}));
    EXPECT_EQ(blocksAt(tall, wide, 3), (Blocks{0, 1, 2, 3}));
    EXPECT_EQ(blocksAt(cells, wide, 1), (Blocks{0, 1, 2}));
    EXPECT_EQ(blocksAt(cells, wide, 2), (Blocks{3, 4, 5}));
    EXPECT_EQ(blocksAt(cells, tall, 1), (Blocks{0, 1, 3, 4}));
    EXPECT_EQ(blocksAt(wide, cells, 4), (Blocks{2, 3}));
    trace::Operand anywhere = cut({8, 12}, {1, 12});
    anywhere.elementAxes = {0};
    anywhere.elementPads = {0};
    EXPECT_EQ(blocksAt(anywhere, wide, 1), (Blocks{2, 3}));
    EXPECT_EQ(blocksAt(wide, anywhere, 7), (Blocks{3}));
}
