// Which agents take part in a run, and to which agent each unit belongs.
#include "core/trace/agents.h"
#include "tests/support/many_agents.h"
#include "tests/support/synthetic_trace.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace pallascope;
using namespace pallascope::trace;

namespace {

using Numbers = std::vector<std::int32_t>;

std::shared_ptr<const Trace> finished(TraceBuilder builder)
{
    Result<std::shared_ptr<const Trace>> trace = std::move(builder).finish();
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
    return *trace;
}

} // namespace

TEST(Agents, areOfOneKindWhenOnlyNumbersDiffer)
{
    EXPECT_EQ(kindOfAgent("TensorCore 0"), "TensorCore");
    EXPECT_EQ(kindOfAgent("device 12 SparseCore 1 vector subcore 13"),
              "device SparseCore vector subcore");
    EXPECT_EQ(kindOfAgent("core2"), "core2");
    EXPECT_EQ(kindOfAgent(""), "");
}

TEST(Agents, shareOnlyTheUnitsThatTheirKindUses)
{
    const Agents agents = agentsOf(*test::manyAgents(1, 32));
    ASSERT_EQ(agents.kinds.size(), 2U);
    EXPECT_EQ(agents.kinds[0].name, "TensorCore");
    EXPECT_EQ(agents.kinds[0].agents, (Numbers{0}));
    EXPECT_EQ(agents.kinds[1].name, "SparseCore vector subcore");
    Numbers subcores(32);
    std::iota(subcores.begin(), subcores.end(), 1);
    EXPECT_EQ(agents.kinds[1].agents, subcores);
    EXPECT_EQ(agents.size(), 33U);
    EXPECT_TRUE(agents.ofUnit[0].empty());
    EXPECT_EQ(agents.ofUnit[1], subcores);
    EXPECT_EQ(agents.ofUnit[2], subcores);
}

// A chip may list a second core that the program does not use.
TEST(Agents, thatDoNothingTakeNoPart)
{
    TraceBuilder builder = test::mainJobBuilder();
    builder.info.agents = {"TensorCore 0", "TensorCore 1"};
    EXPECT_EQ(agentsOf(*finished(builder)).size(), 1U);
    // An agent with a semaphore takes part, although it waits for nothing.
    builder.info.semaphores = {{"sem", "semaphore", 1}};
    builder.waits.semaphore.assign(builder.waits.size(), kNone);
    EXPECT_EQ(agentsOf(*finished(std::move(builder))).size(), 2U);
}

// "TensorCore 1 MXU 0" is the unit as TensorCore 1 commands it; all cores share the name "MXU 0".
TEST(Agents, instancesOfAUnitBelongToTheirCore)
{
    TraceBuilder builder = test::mainJobBuilder();
    builder.info.agents = {"TensorCore 0", "TensorCore 0 MXU 0", "TensorCore 1",
                           "TensorCore 1 MXU 0"};
    for (std::size_t i = 0; i < builder.segments.size(); ++i) {
        builder.segments.agent[i] = 3;
    }
    const Agents own = agentsOf(*finished(builder));
    EXPECT_EQ(own.ownerOf, (Numbers{0, 0, 2, 2}));
    EXPECT_EQ(own.size(), 2U);
    EXPECT_EQ(own.ofUnit[0], (Numbers{0, 2}));
    builder.info.agents = {"device 0 TensorCore 0", "device 0 MXU 0", "device 1 TensorCore 0",
                           "device 1 MXU 0"};
    EXPECT_EQ(agentsOf(*finished(builder)).ownerOf, (Numbers{0, 0, 2, 2}));
    builder.info.agents = {"TensorCore 0", "TensorCore 1", "MXU 0", "MXU 1"};
    EXPECT_EQ(agentsOf(*finished(std::move(builder))).ownerOf, (Numbers{0, 1, 0, 0}));
}

TEST(Agents, haveAShortNameWhereAnSmHasSeveralPlaces)
{
    EXPECT_EQ(nameOfPlace("SM 3 place 1 Warpgroup 0"), "SM 3.1.0");
    EXPECT_EQ(nameOfPlace("device 2 SM 131 place 15 Warpgroup 2"), "device 2 SM 131.15.2");
    EXPECT_EQ(nameOfPlace("SM 3 Warpgroup 0"), std::nullopt);
    EXPECT_EQ(nameOfPlace("TensorCore 1"), std::nullopt);
}

// The tensor core of an SM belongs to its first place.
TEST(Agents, unitsOfAnSmBelongToAnAgentOfTheSm)
{
    TraceBuilder builder = test::mainJobBuilder();
    builder.info.agents = {"SM 0 place 0 Warpgroup 0", "SM 0 place 1 Warpgroup 0",
                           "SM 1 place 0 Warpgroup 0", "SM 0 MXU 0", "SM 1 MXU 0"};
    for (std::size_t i = 0; i < builder.segments.size(); ++i) {
        builder.segments.agent[i] = 4;
    }
    EXPECT_EQ(agentsOf(*finished(builder)).ownerOf, (Numbers{0, 1, 2, 0, 2}));
}

// SMs of the same number on several devices are several SMs, each with its own tensor core.
TEST(Agents, smsAreThoseOfEachDevice)
{
    TraceBuilder builder = test::mainJobBuilder();
    Info& info = builder.info;
    info.blockGrids.resize(1);
    info.agents.clear();
    for (Link& link : info.links) {
        link.kind = "HBM";
    }
    const std::vector<Link> links = info.links;
    for (const std::string device : {"device 0 ", "device 1 "}) {
        for (const std::string agent : {"SM 0 Warpgroup 0", "SM 0 Warpgroup 1", "SM 1 Warpgroup 0",
                                        "SM 1 Warpgroup 1", "SM 0 MXU 0", "SM 1 MXU 0"}) {
            info.agents.push_back(device + agent);
        }
    }
    info.links.insert(info.links.end(), links.begin(), links.end());
    info.semaphores = {{"done", "barrier", 11}}; // so that all take part
    builder.waits.semaphore.assign(builder.waits.size(), kNone);
    const Agents agents = agentsOf(*finished(builder));
    EXPECT_EQ(agents.ownerOf, (Numbers{0, 1, 2, 3, 0, 2, 6, 7, 8, 9, 6, 8}));
    EXPECT_EQ(agents.smOf, (Numbers{0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3}));
    ASSERT_EQ(agents.sms.size(), 4U);
    EXPECT_EQ(agents.sms[3].name, "SM 1");
    EXPECT_EQ(agents.sms[3].device, 1);
    EXPECT_EQ(agents.sms[3].agents, (Numbers{8, 9}));
    EXPECT_EQ(agents.smsOf(0), std::pair(0, 2));
    EXPECT_EQ(agents.smsOf(1), std::pair(2, 4));
    EXPECT_EQ(agents.smsOf(2), std::pair(4, 4));
}

TEST(Agents, areNamedInRanges)
{
    const std::shared_ptr<const Trace> trace = test::manyAgents(1, 32);
    EXPECT_EQ(
        agentNames(trace->info(), {0, 1, 2, 3, 8, 17, 18}),
        "TensorCore 0 · SparseCore 0 vector subcore 0–2, 7 · SparseCore 1 vector subcore 0–1");
    EXPECT_EQ(agentNames(trace->info(), {16}), "SparseCore 0 vector subcore 15");
    EXPECT_EQ(agentNames(trace->info(), {}), "");
}
