// A replay that is moved to a moment must be like a run from the start that stops there.
#include "core/machine/replay.h"
#include "tests/machine/replay/replay_cases.h"
#include "tests/machine/support.h"
#include "tests/machine/table_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>

namespace pallascope::machine_test {

namespace {

using machine::Replay;
using Refs = std::vector<pl::Ref>;
constexpr Replay::Spacing kNever{Seconds(1e9), Bytes(std::int64_t{1} << 40), 0}; // nor pauses
constexpr Replay::Spacing kOften{Seconds(0), Bytes(std::int64_t{1} << 40)};

std::unique_ptr<Replay> mustStart(const ReplayCase& one, Replay::Spacing spacing = kOften)
{
    Result<std::unique_ptr<Replay>> replay =
        Replay::start(one.program, one.inputs, *one.chip, one.options, spacing);
    if (!replay) {
        throw std::runtime_error(replay.error().message);
    }
    return std::move(*replay);
}

void mustSeek(Replay& replay, std::int64_t sequence)
{
    const Result<bool> moved = replay.seek(sequence);
    ASSERT_TRUE(moved.has_value());
    ASSERT_TRUE(*moved);
}

struct Moment
{
    std::int64_t sequence = 0;
    std::uint64_t hash = 0;
    bool operator==(const Moment&) const = default;
};

// The moment of a run from the start that stops once, there.
Moment fromStart(const ReplayCase& one, std::int64_t sequence)
{
    const std::unique_ptr<Replay> replay = mustStart(one, kNever);
    mustSeek(*replay, sequence);
    return {replay->sequence(), replay->hash()};
}

std::int64_t eventsOf(const ReplayCase& one)
{
    return mustRun(one.program, one.inputs, machine::ValueMode::Full, *one.chip)
        .trace->info()
        .events;
}

// Every moment of the run, one after another.
std::vector<Moment> walk(Replay& replay)
{
    std::vector<Moment> moments{{replay.sequence(), replay.hash()}};
    while (!replay.isAtEnd()) {
        EXPECT_TRUE(replay.step(Replay::Unit::Operation, true));
        if (replay.sequence() > moments.back().sequence) {
            moments.push_back({replay.sequence(), replay.hash()});
        }
    }
    return moments;
}

void expectMoments(const ReplayCase& one, int seeks, bool fromTheStart)
{
    const std::unique_ptr<Replay> replay = mustStart(one);
    const std::vector<Moment> moments = walk(*replay);
    EXPECT_EQ(moments.back().sequence, eventsOf(one) + 1); // and one more for the end
    EXPECT_GT(replay->checkpointCount(), 10U);
    std::mt19937_64 random(1);
    std::vector<std::int64_t> numbers;
    for (int i = 0; i < seeks; ++i) {
        numbers.push_back(static_cast<std::int64_t>(
            random() % static_cast<std::uint64_t>(moments.back().sequence + 1)));
    }
    const auto seekAll = [&](const char* order) {
        for (const std::int64_t number : numbers) {
            mustSeek(*replay, number);
            const auto expected =
                std::partition_point(moments.begin(), moments.end(), [&](const Moment& moment) {
                    return moment.sequence < number;
                });
            ASSERT_EQ(replay->sequence(), expected->sequence) << order << " to " << number;
            ASSERT_EQ(replay->hash(), expected->hash) << order << " to " << number;
            if (fromTheStart) {
                ASSERT_TRUE(*expected == fromStart(one, number)) << number;
            }
        }
        fromTheStart = false; // the moments are known by now
    };
    seekAll("shuffled");
    std::sort(numbers.begin(), numbers.end());
    seekAll("forwards");
    std::reverse(numbers.begin(), numbers.end());
    seekAll("backwards");
}

} // namespace

class Moments : public testing::TestWithParam<std::string>
{};

TEST_P(Moments, areThoseOfARunFromTheStart)
{
    expectMoments(replayCase(GetParam()), 350, true);
}

INSTANTIATE_TEST_SUITE_P(Replay, Moments,
                         testing::Values("matmul", "manual_dma", "turns", "nested", "indirect",
                                         "ring", "made_up", "fusions"),
                         [](const auto& moments) { return moments.param; });

TEST(Replay, ofRandomPipelinesComesToTheMomentsOfARunFromTheStart)
{
    std::mt19937_64 random(7);
    for (int i = 0; i < 40; ++i) {
        SCOPED_TRACE(i);
        const int release = 9 + i % 4;
        const TablePipeline pipeline = randomPipeline(random, {.release = release});
        ReplayCase one{tableProgram(pipeline), {}, &v5e(), {}};
        one.inputs = inputsOfCase(one.program);
        if (const auto run = machine::run(one.program, one.inputs, *one.chip, {}); !run) {
            continue; // a deadlock in the schedule of JAX 0.11
        }
        expectMoments(one, 8, true);
    }
}

// Some of the moments above must be difficult ones.
TEST(Replay, hasMomentsWithCopiesInFlightAndSemaphoresHeld)
{
    const std::unique_ptr<Replay> replay = mustStart(replayCase("turns"));
    std::int64_t flying = 0, held = 0, both = 0;
    while (!replay->isAtEnd()) {
        ASSERT_TRUE(replay->step(Replay::Unit::Operation, true));
        const auto counts = replay->semaphores();
        const bool holds = std::any_of(counts.begin(), counts.end(),
                                       [](const auto& one) { return one.count != 0; });
        const bool flies = !replay->inFlight().empty();
        flying += flies ? 1 : 0;
        held += holds ? 1 : 0;
        both += flies && holds ? 1 : 0;
    }
    EXPECT_GT(flying, 20);
    EXPECT_GT(held, 20);
    EXPECT_GT(both, 10);
}

// Arrays of several pages, which checkpoints share. They are written in blocks of columns, so that
// most pages change between any two checkpoints.
TEST(Replay, ofLargeArraysComesToTheMomentsOfARunFromTheStart)
{
    ReplayCase one = replayCase("wide");
    const std::unique_ptr<Replay> replay = mustStart(one);
    std::vector<Moment> moments;
    for (std::int64_t number = 0; !replay->isAtEnd(); number += 37) {
        mustSeek(*replay, number);
        moments.push_back({replay->sequence(), replay->hash()});
    }
    std::mt19937_64 random(3);
    for (int i = 0; i < 40; ++i) {
        const Moment& moment = moments[random() % moments.size()];
        mustSeek(*replay, moment.sequence);
        ASSERT_EQ(replay->hash(), moment.hash) << moment.sequence;
        if (i < 8) {
            ASSERT_TRUE(fromStart(one, moment.sequence) == moment) << moment.sequence;
        }
    }
}

TEST(Replay, keepsToItsMemoryWithFewerCheckpoints)
{
    ReplayCase one = replayCase("wide");
    const std::unique_ptr<Replay> large = mustStart(one);
    const std::unique_ptr<Replay> small =
        mustStart(one, {Seconds(0), Bytes(std::int64_t{6} << 20)});
    for (std::int64_t number = 0; !small->isAtEnd(); number += 13) {
        mustSeek(*large, number);
        mustSeek(*small, number);
    }
    EXPECT_LT(2 * small->checkpointCount(), large->checkpointCount());
    EXPECT_LE(small->checkpointBytes(), Bytes(std::int64_t{6} << 20));
    for (const std::int64_t number : {700, 30, 444, 0, 701}) {
        mustSeek(*large, number);
        mustSeek(*small, number);
        EXPECT_EQ(small->hash(), large->hash()) << number;
    }
}

TEST(Replay, stepsByCopyAndByGridStepAsTheTraceHasThem)
{
    const ReplayCase one = replayCase("matmul");
    const auto trace = mustRun(one.program, one.inputs).trace;
    const auto count = [&](Replay::Unit unit, std::size_t expected) {
        const std::unique_ptr<Replay> replay = mustStart(one);
        std::vector<std::int64_t> forwards, backwards;
        while (true) {
            ASSERT_TRUE(replay->step(unit, true));
            if (replay->isAtEnd()) {
                break;
            }
            forwards.push_back(replay->sequence());
        }
        ASSERT_EQ(forwards.size(), expected);
        while (replay->sequence() > 0) {
            ASSERT_TRUE(replay->step(unit, false));
            backwards.push_back(replay->sequence());
        }
        ASSERT_EQ(backwards.back(), 0);
        backwards.pop_back();
        std::reverse(backwards.begin(), backwards.end());
        EXPECT_EQ(forwards, backwards);
    };
    count(Replay::Unit::Copy, trace->copies().size());
    count(Replay::Unit::Step, trace->steps().size());
}

TEST(Replay, stepsBackOverEveryMomentThatItSteppedOver)
{
    for (const char* name : {"turns", "nested", "fusions"}) {
        const std::unique_ptr<Replay> replay = mustStart(replayCase(name));
        std::vector<Moment> moments = walk(*replay);
        while (replay->sequence() > 0) {
            ASSERT_EQ(replay->hash(), moments.back().hash) << replay->sequence();
            moments.pop_back();
            ASSERT_TRUE(replay->step(Replay::Unit::Operation, false));
            ASSERT_EQ(replay->sequence(), moments.back().sequence);
        }
    }
}

// Finds the last moment at or before a time: the next moment must be later.
TEST(Replay, findsTheLastMomentBeforeATime)
{
    for (const char* name : {"matmul", "turns", "fusions"}) {
        const ReplayCase one = replayCase(name);
        const std::unique_ptr<Replay> replay = mustStart(one);
        mustSeek(*replay, 1 << 20);
        const Picoseconds end = replay->time();
        std::mt19937_64 random(5);
        for (int i = 0; i < 60; ++i) {
            const Picoseconds time(
                static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end.value())));
            ASSERT_TRUE(replay->seekTime(time));
            EXPECT_LE(replay->time(), time);
            const Moment here{replay->sequence(), replay->hash()};
            ASSERT_TRUE(replay->step(Replay::Unit::Operation, true));
            EXPECT_TRUE(replay->time() > time || replay->isAtEnd())
                << name << " " << time.value() << " " << replay->time().value();
            mustSeek(*replay, here.sequence);
            EXPECT_EQ(replay->hash(), here.hash);
        }
        ASSERT_TRUE(replay->seekTime(end));
        EXPECT_TRUE(replay->isAtEnd());
    }
}

// The first event that is later than a time counts, also where another core is behind: against a
// walk over all moments, and whether many, few or no times of moments are kept.
TEST(Replay, findsTheMomentBeforeTheFirstEventThatIsLater)
{
    for (const char* name : {"matmul", "turns", "manual_dma", "ring", "nested"}) {
        const ReplayCase one = replayCase(name);
        const std::unique_ptr<Replay> walked = mustStart(one);
        std::vector<std::pair<Picoseconds, Moment>> moments{
            {walked->time(), {walked->sequence(), walked->hash()}}};
        while (!walked->isAtEnd()) {
            ASSERT_TRUE(walked->step(Replay::Unit::Operation, true));
            moments.push_back({walked->time(), {walked->sequence(), walked->hash()}});
        }
        for (const std::size_t times : {std::size_t{1} << 20, std::size_t{40}, std::size_t{0}}) {
            const std::unique_ptr<Replay> replay =
                mustStart(one, {kOften.between, kOften.memory, times});
            std::mt19937_64 random(3);
            for (int i = 0; i < 30; ++i) {
                const Picoseconds time(static_cast<std::int64_t>(
                    random() % static_cast<std::uint64_t>(walked->time().value() + 1)));
                const auto later =
                    std::find_if(moments.begin(), moments.end(),
                                 [&](const auto& moment) { return moment.first > time; });
                ASSERT_TRUE(replay->seekTime(time));
                const Moment& expected = (later - 1)->second;
                if (times > moments.size()) {
                    EXPECT_EQ(replay->sequence(), expected.sequence) << name << time.value();
                    EXPECT_EQ(replay->hash(), expected.hash) << name << " " << time.value();
                }
                EXPECT_LE(replay->time(), time) << name << " " << times;
            }
        }
    }
}

// At the body of each step, the refs must hold the blocks on which the step works.
TEST(Replay, showsWhatRefsHold)
{
    const ReplayCase one = replayCase("matmul"); // blocks of 32: a grid of (2, 2, 4)
    const std::unique_ptr<Replay> replay = mustStart(one);
    const Array& x = one.inputs[0];
    for (std::int64_t step = 0; step < 16; ++step) {
        ASSERT_TRUE(replay->step(Replay::Unit::Step, true));
        const Replay::AgentPlace place = replay->places().at(0);
        ASSERT_EQ(place.step, trace::StepRow{static_cast<std::int32_t>(step)});
        ASSERT_EQ(place.refs.size(), 6U); // three arrays and a block of each
        const Replay::Contents block = replay->contents(0, place.refs[3]);
        ASSERT_EQ(block.elements.shape, (Shape{32, 32}));
        const std::int64_t i = step / 8, k = step % 4;
        for (std::int64_t e = 0; e < 32 * 32; ++e) {
            const std::int64_t row = i * 32 + e / 32, column = k * 32 + e % 32;
            ASSERT_EQ(block.elements.at(e), x.at(row * 128 + column));
            ASSERT_EQ(block.defined[static_cast<std::size_t>(e)], 1);
        }
        const Replay::Contents out = replay->contents(0, place.refs[5]);
        EXPECT_EQ(out.defined[0], k == 0 ? 0 : 1); // a new block starts undefined
    }
    mustSeek(*replay, 1 << 20);
    const Replay::Contents out = replay->contents(0, one.program.arguments[2].ref);
    EXPECT_EQ(elementsOf(out.elements), elementsOf(mustRun(one.program, one.inputs).outputs[0]));
}

// Looking changes nothing, although copies that have ended land for it.
TEST(Replay, isNotMovedByALook)
{
    const ReplayCase one = replayCase("turns");
    const std::unique_ptr<Replay> replay = mustStart(one);
    while (!replay->isAtEnd()) {
        const std::uint64_t before = replay->hash();
        (void)replay->contents(0, one.program.arguments[1].ref);
        ASSERT_EQ(replay->hash(), before);
        ASSERT_TRUE(replay->step(Replay::Unit::Operation, true));
    }
    const auto run = mustRun(one.program, one.inputs, machine::ValueMode::Full, v5p());
    EXPECT_EQ(elementsOf(replay->contents(0, one.program.arguments[1].ref).elements),
              elementsOf(run.outputs[0]));
}

TEST(Replay, hasTheSameMomentsWithNeededValues)
{
    for (const char* name :
         {"matmul", "manual_dma", "turns", "nested", "indirect", "ring", "made_up", "fusions"}) {
        ReplayCase one = replayCase(name);
        const std::vector<Moment> full = walk(*mustStart(one));
        one.options.values = machine::ValueMode::Needed;
        const std::vector<Moment> needed = walk(*mustStart(one));
        ASSERT_EQ(full.size(), needed.size()) << name;
        for (std::size_t i = 0; i < full.size(); ++i) {
            ASSERT_EQ(full[i].sequence, needed[i].sequence) << name;
        }
    }
}

TEST(Replay, isCancelledOnTheWayAndGoesOnFromThere)
{
    const ReplayCase one = builtInCase("add_by_hand", {{"rows", "4096"}, {"block", "8"}});
    const std::unique_ptr<Replay> replay = mustStart(one);
    int asked = 0;
    const Result<bool> moved = replay->seek(1 << 20, [&](double share) {
        EXPECT_GE(share, 0);
        EXPECT_LE(share, 1);
        return ++asked < 2;
    });
    ASSERT_TRUE(moved.has_value());
    EXPECT_FALSE(*moved);
    EXPECT_FALSE(replay->isAtEnd());
    EXPECT_GT(replay->sequence(), 0);
    EXPECT_TRUE((Moment{replay->sequence(), replay->hash()}) == fromStart(one, replay->sequence()));
    mustSeek(*replay, 1 << 20);
    EXPECT_TRUE(replay->isAtEnd());
}

// A run that a finding stops ends at the same moment in its replay.
TEST(Replay, endsWhereAStoppedRunEnds)
{
    ReplayCase one{
        mustTrace(pl::kernel(
            "stuck", {pl::in("x", DType::F32, {8, 128}), pl::out("out", DType::F32, {8, 128})},
            [](pl::Ref x, pl::Ref out) {
                pl::runScoped({pl::dmaSemaphores("sem"), pl::semaphores("never")},
                              [&](const Refs& refs) {
                                  pl::dmaStart(x, out, refs[0]);
                                  pl::dmaWait(out, refs[0]);
                                  pl::semaphoreWait(refs[1], 1);
                                  return std::vector<pl::Value>{};
                              });
            })),
        {},
        &v5e(),
        {}};
    one.inputs = inputsOfCase(one.program);
    const std::unique_ptr<Replay> replay = mustStart(one);
    const std::vector<Moment> moments = walk(*replay);
    EXPECT_TRUE(replay->isAtEnd());
    EXPECT_EQ(replay->places()[0].waits, "never");
    ASSERT_TRUE(replay->step(Replay::Unit::Operation, false));
    EXPECT_FALSE(replay->isAtEnd());
    EXPECT_EQ(replay->hash(), moments[moments.size() - 2].hash);
}

// A jump is given up in the middle of a product, and the next one finds the same run.
TEST(Replay, isGivenUpWithinALongProduct)
{
    const std::string side = "2048";
    ReplayCase one = builtInCase(
        "matmul", {{"m", side}, {"n", side}, {"k", side}, {"bm", side}, {"bn", side}, {"bk", side}},
        v5e());
    const std::unique_ptr<Replay> replay = mustStart(one, kNever);
    std::chrono::steady_clock::time_point unwanted;
    const Result<bool> moved = replay->seek(std::numeric_limits<std::int64_t>::max(), [&](double) {
        unwanted = std::chrono::steady_clock::now();
        return false;
    });
    const auto took = std::chrono::steady_clock::now() - unwanted;
    ASSERT_TRUE(moved.has_value());
    EXPECT_FALSE(*moved);
    EXPECT_FALSE(replay->isAtEnd());
    EXPECT_LT(took, std::chrono::milliseconds(300));
    mustSeek(*replay, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ((Moment{replay->sequence(), replay->hash()}),
              fromStart(one, std::numeric_limits<std::int64_t>::max()));
}

} // namespace pallascope::machine_test
