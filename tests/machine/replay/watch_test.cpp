// What a replay tells of single elements must be what one sees who looks at every moment.
#include "core/machine/replay.h"
#include "tests/machine/replay/replay_cases.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <tuple>

namespace pallascope::machine_test {

namespace {

using machine::Cell;
using machine::Held;
using machine::Replay;
using machine::Touch;
using machine::Touches;
using machine::Watched;

std::unique_ptr<Replay> begun(const ReplayCase& one)
{
    Result<std::unique_ptr<Replay>> replay =
        Replay::start(one.program, one.inputs, *one.chip, one.options);
    if (!replay) {
        throw std::runtime_error(replay.error().message);
    }
    return std::move(*replay);
}

Touches watched(Replay& replay, const Watched& what)
{
    Result<std::optional<Touches>> found = replay.watch(what);
    if (!found || !*found) {
        throw std::runtime_error(found ? "cancelled" : found.error().message);
    }
    return std::move(**found);
}

bool isSame(const Held& a, const Held& b)
{
    return a.isDefined == b.isDefined
           && (!a.isDefined || a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)));
}

bool isWrite(const Touch& touch)
{
    return touch.kind != Touch::Kind::Read && touch.kind != Touch::Kind::CopyRead;
}

// The moment at which each copy has been started.
std::vector<std::int64_t> startsOf(Replay& replay)
{
    std::vector<std::int64_t> starts;
    (void)replay.seek(std::numeric_limits<std::int64_t>::max());
    for (std::int64_t copy = 0; copy < replay.known(Replay::Unit::Copy); ++copy) {
        (void)replay.seekTo(Replay::Unit::Copy, copy);
        starts.push_back(replay.sequence());
    }
    return starts;
}

// Whether it has happened at this moment. Copies that have been started land at their time,
// whenever that is noticed; with several agents the time of the last event may be later than
// others'.
bool hasHappened(const Touch& touch, const Replay& at, const std::vector<std::int64_t>& starts)
{
    return touch.copy ? touch.time <= at.time() && starts[touch.copy->index()] <= at.sequence()
                      : touch.event <= at.sequence();
}

// What each cell that the agent has holds at this moment, by what was told.
std::map<Cell, Held> toldAt(const std::vector<Touch>& all, const Replay& at, std::int32_t agent,
                            const std::vector<std::int64_t>& starts)
{
    std::map<Cell, Held> cells;
    for (const Touch& touch : all) {
        if (!isWrite(touch) || touch.owner != agent || !hasHappened(touch, at, starts)) {
            continue;
        }
        if (touch.kind == Touch::Kind::Released) {
            cells.erase(touch.cell);
        } else {
            cells[touch.cell] = touch.after;
        }
    }
    return cells;
}

Held seenAt(Replay& replay, std::size_t agent, ir::ValueId ref, std::int64_t position)
{
    const Replay::Contents contents = replay.contents(agent, ref);
    return {contents.elements.at(position),
            contents.defined[static_cast<std::size_t>(position)] != 0};
}

// Goes through all moments, and holds what the refs hold there to what was told of them.
void expectTruth(const std::string& name, std::int64_t position)
{
    const ReplayCase one = replayCase(name);
    const std::unique_ptr<Replay> replay = begun(one);
    std::map<std::int32_t, Touches> told; // by ref
    std::int64_t looks = 0;
    const std::vector<std::int64_t> starts = startsOf(*replay);
    (void)replay->seek(0);
    while (true) {
        const std::vector<Replay::AgentPlace> places = replay->places();
        const std::int64_t sequence = replay->sequence();
        for (std::size_t agent = 0; agent < places.size(); ++agent) {
            for (const ir::ValueId ref : places[agent].refs) {
                const std::int64_t elements = one.program.type(ref).shape.elements();
                const std::int64_t at = position % std::max<std::int64_t>(elements, 1);
                if (!told.contains(ref.index)) {
                    told[ref.index] = watched(*replay, {{}, {{ref, at}}, false});
                    ASSERT_TRUE(*replay->seek(sequence));
                }
                const Held seen = seenAt(*replay, agent, ref, at);
                const std::map<Cell, Held> cells =
                    toldAt(told[ref.index].all, *replay, static_cast<std::int32_t>(agent), starts);
                EXPECT_TRUE(
                    std::any_of(cells.begin(), cells.end(),
                                [&](const auto& cell) { return isSame(cell.second, seen); }))
                    << name << " at " << sequence << ": " << one.program.value(ref).name << " of "
                    << places[agent].agent << " holds " << seen.value << " (" << seen.isDefined
                    << ")";
                ++looks;
            }
        }
        if (replay->isAtEnd()) {
            break;
        }
        ASSERT_TRUE(*replay->step(Replay::Unit::Operation, true));
    }
    EXPECT_GT(looks, 10);
}

const Touch& before(const std::vector<Touch>& all, std::size_t index)
{
    for (std::size_t i = index; i-- > 0;) {
        if (all[i].cell == all[index].cell && isWrite(all[i])) {
            return all[i];
        }
    }
    throw std::runtime_error("nothing comes before");
}

} // namespace

TEST(Watch, tellsWhatOneSeesAtEveryMoment)
{
    for (const char* const name :
         {"matmul", "manual_dma", "turns", "nested", "indirect", "ring", "made_up", "fusions"}) {
        SCOPED_TRACE(name);
        for (const std::int64_t position : {0, 37, 1000}) {
            expectTruth(name, position);
        }
    }
}

// What an operation stores is there at the time of its touch, be it the last one of a fusion that
// still waits for its copies.
TEST(Watch, timesStoresByMomentsThatHaveThem)
{
    for (const char* const name : {"matmul", "nested", "indirect", "fusions"}) {
        SCOPED_TRACE(name);
        const ReplayCase one = replayCase(name);
        const std::unique_ptr<Replay> replay = begun(one);
        std::int64_t stores = 0;
        for (const ir::Argument& argument : one.program.arguments) {
            for (const Touch& touch : watched(*replay, {{}, {{argument.ref, 5}}, false}).all) {
                if (touch.kind == Touch::Kind::Written && touch.operation >= 0) {
                    ASSERT_TRUE(*replay->seekTime(touch.time));
                    EXPECT_GE(replay->sequence(), touch.event);
                    EXPECT_EQ(replay->time(), touch.time);
                    ++stores;
                }
            }
        }
        EXPECT_TRUE(stores > 0 || name != std::string("fusions"));
    }
}

TEST(Watch, leavesNoChangeOut)
{
    for (const char* const name : {"matmul", "manual_dma", "nested", "ring", "fusions"}) {
        SCOPED_TRACE(name);
        const ReplayCase one = replayCase(name);
        const std::unique_ptr<Replay> replay = begun(one);
        for (const ir::Argument& argument : one.program.arguments) {
            const std::vector<Touch> all = watched(*replay, {{}, {{argument.ref, 5}}, false}).all;
            ASSERT_FALSE(all.empty());
            EXPECT_EQ(all.front().kind, Touch::Kind::Given);
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (isWrite(all[i]) && all[i].kind != Touch::Kind::Given) {
                    EXPECT_TRUE(isSame(before(all, i).after, all[i].before));
                } else if (!isWrite(all[i])) {
                    EXPECT_TRUE(isSame(all[i].before, all[i].after));
                    EXPECT_TRUE(isSame(before(all, i).after, all[i].after));
                }
            }
        }
    }
}

TEST(Watch, namesEachCopyOfABlockAndWhereItGoes)
{
    const ReplayCase one = replayCase("matmul");
    const auto run = mustRun(one.program, one.inputs, machine::ValueMode::Full, *one.chip);
    const trace::Copies& copies = run.trace->copies();
    const std::unique_ptr<Replay> replay = begun(one);
    const ir::ValueId x = one.program.arguments[0].ref; // 64 × 128, in blocks of 32 × 32
    const std::vector<Touch> all = watched(*replay, {{}, {{x, 40 * 128 + 70}}, false}).all;
    std::vector<std::int32_t> told, wanted;
    for (const Touch& touch : all) {
        if (touch.kind == Touch::Kind::CopyRead) {
            told.push_back(touch.copy->number);
            EXPECT_EQ(touch.time, Picoseconds(copies.start[touch.copy->index()]));
            EXPECT_EQ(touch.otherSpot.index, (std::vector<std::int64_t>{40 - 32, 70 - 64}));
            EXPECT_EQ(one.program.value(touch.otherSpot.ref).name, "x");
        }
    }
    for (std::size_t row = 0; row < copies.size(); ++row) {
        if (copies.operand[row] == 0 && copies.block[row] == 1 * 4 + 2) {
            wanted.push_back(static_cast<std::int32_t>(row));
        }
    }
    EXPECT_EQ(told, wanted);
    EXPECT_EQ(told.size(), 2U); // one for each column of blocks of the output
}

TEST(Watch, namesTheStepsThatReadABlock)
{
    const ReplayCase one = replayCase("matmul");
    const std::unique_ptr<Replay> replay = begun(one);
    ASSERT_TRUE(*replay->seekTo(Replay::Unit::Step, 0));
    const std::vector<ir::ValueId> refs = replay->places()[0].refs;
    const auto block = std::find_if(refs.begin(), refs.end(), [&](ir::ValueId id) {
        return one.program.value(id).name == "x"
               && one.program.type(id).space == ir::MemorySpace::Vmem;
    });
    ASSERT_NE(block, refs.end());
    std::vector<std::int32_t> steps;
    for (const Touch& touch : watched(*replay, {{}, {{*block, 33}}, false}).all) {
        if (touch.kind == Touch::Kind::Read) {
            steps.push_back(touch.step->number);
        }
    }
    std::vector<std::int32_t> every(2 * 2 * 4);
    for (std::size_t step = 0; step < every.size(); ++step) {
        every[step] = static_cast<std::int32_t>(step);
    }
    EXPECT_EQ(steps, every); // both slots together: every step loads its block
}

TEST(Watch, changesNothingOfTheRun)
{
    for (const char* const name : {"matmul", "manual_dma", "nested", "ring", "made_up"}) {
        SCOPED_TRACE(name);
        const ReplayCase one = replayCase(name);
        const std::unique_ptr<Replay> plain = begun(one), told = begun(one);
        ASSERT_TRUE(*plain->seek(std::numeric_limits<std::int64_t>::max()));
        (void)watched(*told, {{}, {{one.program.arguments[0].ref, 0}}, true});
        EXPECT_TRUE(told->isAtEnd());
        EXPECT_EQ(told->sequence(), plain->sequence());
        EXPECT_EQ(told->hash(), plain->hash());
    }
}

TEST(Watch, isCancelled)
{
    const std::unique_ptr<Replay> replay = begun(replayCase("wide"));
    const Result<std::optional<Touches>> found = replay->watch(
        {{}, {{replay->program().arguments[0].ref, 0}}, false}, [](double) { return false; });
    ASSERT_TRUE(found.has_value());
    EXPECT_FALSE(found->has_value());
}

} // namespace pallascope::machine_test
