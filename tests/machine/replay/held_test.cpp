// What a replay says of the elements of a ref while copies are under way.
#include "core/ir/builder_gpu.h"
#include "core/machine/replay.h"
#include "tests/machine/replay/replay_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace pallascope::machine_test {

namespace {

using machine::Replay;

bool flag(const SharedBytes& flags, std::int64_t element)
{
    return flags && flags[element] != std::byte{0};
}

bool isDefined(const Replay::Held& held, std::int64_t element)
{
    return held.elements.data && (!held.defined || flag(held.defined, element));
}

bool isEqual(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

// When the last copy that is under way lands.
Picoseconds allLanded(const Replay& replay)
{
    Picoseconds landed = replay.time();
    for (const Replay::InFlight& copy : replay.inFlight()) {
        landed = std::max(landed, copy.end);
    }
    return landed;
}

struct Seen
{
    std::int64_t arriving = 0, becameDefined = 0;
};

// Compares one ref now, as contents() has it, and as it will be once all copies have landed.
void compare(Replay& replay, std::size_t agent, ir::ValueId ref, Seen& seen)
{
    const Replay::Contents contents = replay.contents(agent, ref);
    const Replay::Held now = replay.held(agent, ref, replay.time());
    const Replay::Held later = replay.held(agent, ref, allLanded(replay));
    ASSERT_EQ(now.elements.shape, contents.elements.shape);
    ASSERT_EQ(now.elements.dtype, contents.elements.dtype);
    for (std::int64_t i = 0; i < contents.elements.shape.elements(); ++i) {
        const bool arriving = flag(now.arriving, i);
        ASSERT_EQ(isDefined(now, i), contents.defined[static_cast<std::size_t>(i)] != 0);
        ASSERT_FALSE(flag(later.arriving, i)) << "nothing is under way any more";
        if (isDefined(now, i)) {
            ASSERT_TRUE(isEqual(now.elements.at(i), contents.elements.at(i)));
        }
        if (!arriving) { // landing does not touch it
            ASSERT_EQ(isDefined(now, i), isDefined(later, i));
            ASSERT_TRUE(!isDefined(now, i) || isEqual(now.elements.at(i), later.elements.at(i)));
        }
        seen.arriving += arriving ? 1 : 0;
        seen.becameDefined += arriving && !isDefined(now, i) && isDefined(later, i) ? 1 : 0;
    }
}

// Each block of a GPU starts a copy, computes for longer than that takes, and waits for it then.
ir::Program computesMeanwhile()
{
    namespace gpu = pl::gpu;
    return mustTrace(pl::kernel(
        "meanwhile", {pl::in("x", kF32, {8, 128}), pl::out("out", kF32, {64, 128})},
        [](pl::Ref x, pl::Ref out) {
            gpu::launch({{{"block", 2}}}, [&] {
                gpu::runScoped({gpu::smem("tile", kF32, {8, 128}), gpu::barrier("ready")}, true,
                               [&](const std::vector<pl::Ref>& refs) {
                                   gpu::copyGmemToSmem(x, refs[0], refs[1]);
                                   pl::Value value = pl::full({64, 128}, 1, kF32);
                                   for (int i = 0; i < 40; ++i) {
                                       value = pl::elementwise(ir::OpCode::Log, {value + 2});
                                   }
                                   pl::when(pl::axisIndex("block") == 0,
                                            [&] { out[pl::all] = value; });
                                   gpu::barrierWait(refs[1]);
                               });
            });
        }));
}

} // namespace

// An agent that has run ahead has landed copies whose arrivals the engine has yet to deliver.
TEST(Replay, countsTheArrivalsOfCopiesThatHaveLanded)
{
    const ir::Program program = computesMeanwhile();
    const Array x = arrayOf(kF32, {8, 128}, std::vector<double>(8 * 128, 1));
    const machine::RunResult run = mustRun(program, {x}, machine::ValueMode::Full, h100());
    const trace::Info& info = run.trace->info();
    std::map<std::string, Picoseconds> arrivals; // by agent
    const trace::Signals& signals = run.trace->signals();
    for (std::size_t i = 0; i < signals.size(); ++i) {
        const auto& barrier = info.semaphores[static_cast<std::size_t>(signals.semaphore[i])];
        arrivals[info.agents[static_cast<std::size_t>(barrier.agent)]] =
            Picoseconds(signals.time[i]);
    }
    const Result<std::unique_ptr<Replay>> started = Replay::start(program, {x}, h100(), {});
    ASSERT_TRUE(started);
    Replay& replay = **started;
    std::int64_t arrived = 0;
    for (std::int64_t at = 0; !replay.isAtEnd(); ++at) {
        ASSERT_TRUE(*replay.seek(at));
        const std::vector<Replay::AgentPlace> places = replay.places();
        for (const Replay::SemaphoreCount& count : replay.semaphores()) {
            const auto place = std::find_if(places.begin(), places.end(), [&](const auto& one) {
                return one.agent == count.agent;
            });
            ASSERT_NE(place, places.end());
            const auto agent = static_cast<std::size_t>(place - places.begin());
            const auto tile =
                std::find_if(place->refs.begin(), place->refs.end(),
                             [&](ir::ValueId ref) { return program.value(ref).name == "tile"; });
            if (tile != place->refs.end() && arrivals.at(count.agent) <= replay.time()
                && isDefined(replay.held(agent, *tile, replay.time()), 0)) {
                EXPECT_EQ(count.phases, 1) << count.agent << " at " << at;
                EXPECT_EQ(count.count, 0);
                ++arrived;
            }
        }
    }
    EXPECT_GT(arrived, 2);
}

class Held : public testing::TestWithParam<std::string>
{};

TEST_P(Held, saysWhichElementsACopyUnderWayWillChange)
{
    const ReplayCase one = replayCase(GetParam());
    Result<std::unique_ptr<Replay>> replay =
        Replay::start(one.program, one.inputs, *one.chip, one.options);
    ASSERT_TRUE(replay);
    Seen seen;
    for (int i = 0; i < 60 && !(*replay)->isAtEnd(); ++i) {
        ASSERT_TRUE((*replay)->step(Replay::Unit::Copy, true));
        const std::uint64_t before = (*replay)->hash();
        const std::vector<Replay::AgentPlace> places = (*replay)->places();
        for (std::size_t agent = 0; agent < places.size(); ++agent) {
            for (const ir::ValueId ref : places[agent].refs) {
                ASSERT_NO_FATAL_FAILURE(compare(**replay, agent, ref, seen));
            }
        }
        ASSERT_EQ((*replay)->hash(), before) << "a look changes nothing";
    }
    EXPECT_GT(seen.arriving, 0);
    if (GetParam() == "matmul") { // whose output is undefined at first
        EXPECT_GT(seen.becameDefined, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Replay, Held,
                         testing::Values("matmul", "manual_dma", "nested", "indirect", "ring",
                                         "fusions"),
                         [](const auto& cases) { return cases.param; });

} // namespace pallascope::machine_test
