// Tests how a core_map gives cores to its region and takes them back, without an engine.
#include "core/machine/parts/core_maps.h"
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace pallascope::machine_test {

namespace {

ir::Program onCores(std::int32_t cores)
{
    Result<ir::Program> program =
        pl::kernel("on_cores", {pl::out("out", DType::F32, {8, 128})},
                   [cores](pl::Ref) { pl::coreMap("core", cores, [&] { pl::delay(100); }); });
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    return *std::move(program);
}

struct CoreMapRun
{
    explicit CoreMapRun(std::int32_t cores, const std::string& chip)
        : run({}, onCores(cores), chip)
    {
        run.turn().endAt(machine::kLongestRun);
        run.agent().time = Picoseconds(7);
        maps.enter(run.itemOf(ir::OpCode::CoreMap));
    }

    BareRun run;
    std::vector<std::int32_t> dispatched{0};
    std::int64_t turns = 0;
    machine::CoreMaps maps{run.context(), dispatched,     turns,
                           run.agents,    run.semaphores, run.accesses};
};

} // namespace

TEST(CoreMaps, beginsTheRegionOnEveryCoreAtTheSameTime)
{
    CoreMapRun of(2, "tpu_v4");
    ASSERT_FALSE(of.run.ending.isReached());
    for (const std::int32_t core : {0, 1}) {
        const machine::Agent& agent = of.run.agents.at(core);
        EXPECT_EQ(agent.core, core);
        EXPECT_EQ(agent.cores, 2);
        EXPECT_EQ(agent.time, Picoseconds(7));
        ASSERT_FALSE(agent.frames.empty());
        EXPECT_TRUE(std::holds_alternative<machine::BlockFrame>(agent.frames.back()));
    }
    EXPECT_TRUE(of.run.turn().isOvertaken()) << "the other core begins now too";
}

TEST(CoreMaps, theFirstCoreWaitsForTheOthersAndGoesOnWhenTheLastEnds)
{
    CoreMapRun of(2, "tpu_v4");
    machine::Agent &first = of.run.agents.at(0), &second = of.run.agents.at(1);
    of.run.turn().endAt(machine::kLongestRun);
    first.frames.pop_back(); // its region has ended
    const auto cores = std::get<machine::CoresFrame>(first.frames.back());
    of.maps.joinCores(cores);
    ASSERT_TRUE(first.waiting);
    EXPECT_FALSE(first.waiting->semaphore);

    second.time = Picoseconds(100);
    second.frames.clear();
    of.run.turn().give(second);
    of.maps.wakeJoining();
    EXPECT_FALSE(first.waiting);

    of.run.turn().give(first);
    of.maps.joinCores(cores);
    EXPECT_EQ(first.time, Picoseconds(100));
    EXPECT_EQ(first.cores, 1);
    EXPECT_TRUE(first.isDone()) << "nothing follows the core_map";
}

TEST(CoreMaps, moreCoresThanTheChipHasEndTheRun)
{
    CoreMapRun of(2, "tpu_v5e");
    ASSERT_TRUE(of.run.ending.error());
    EXPECT_NE(of.run.ending.error()->message.find("core_map asks for 2 cores"), std::string::npos);
    EXPECT_TRUE(of.run.agent().isDone());
}

} // namespace pallascope::machine_test
