// Which pipelines are one of the program, whose buffers are whose, and which operands go over the
// same array.
#include "core/trace/pipelines.h"

#include <gtest/gtest.h>

using namespace pallascope;
using namespace pallascope::trace;

namespace {

void addOperand(Info& info, const std::string& name, std::int32_t pipeline, Extent rows,
                std::int32_t firstBuffer)
{
    Operand operand;
    operand.name = name;
    operand.array = operand.block = Shape{rows};
    operand.pipeline = pipeline;
    operand.firstBuffer = firstBuffer;
    operand.slots = 2;
    info.operands.edit().push_back(operand);
}

void addPipeline(Info& info, std::int32_t line, std::int32_t agent, Extent rows,
                 std::int32_t firstBuffer)
{
    Pipeline pipeline;
    pipeline.source = {0, line};
    pipeline.agent = agent;
    pipeline.firstOperand = static_cast<std::int32_t>(info.operands.size());
    pipeline.operandCount = 1;
    addOperand(info, "x", static_cast<std::int32_t>(info.pipelines.size()), rows, firstBuffer);
    info.pipelines.push_back(pipeline);
}

void addBuffer(Info& info, const std::string& name, std::int32_t operand, std::int64_t address)
{
    Buffer buffer;
    buffer.name = name;
    buffer.operand = operand;
    buffer.address = Bytes(address);
    buffer.bytes = Bytes(100);
    info.buffers.edit().push_back(buffer);
}

// A pipeline of lines 1 that agents 1 and 2 run, with scratch; one of line 2 in its body; one of
// line 3 behind it that has scratch alone.
Info severalPipelines()
{
    Info info;
    info.agents = {"core 0", "core 1", "core 2"};
    addPipeline(info, 1, 1, 8, 0);
    addPipeline(info, 2, 1, 16, 3);
    Pipeline bare;
    bare.source = {0, 3};
    bare.agent = 1;
    bare.firstOperand = 2;
    info.pipelines.push_back(bare);
    addPipeline(info, 1, 2, 8, 0);
    addBuffer(info, "x·0", 0, 0);
    addBuffer(info, "x·1", 0, 100);
    addBuffer(info, "sum", -1, 200);
    addBuffer(info, "x·0", 1, 300);
    addBuffer(info, "x·1", 1, 400);
    addBuffer(info, "alone", -1, 0);
    return info;
}

} // namespace

TEST(PipelineKinds, areOneForAllAgentsAndTheFirstOfThemLeads)
{
    const Info info = severalPipelines();
    const PipelineKinds kinds = pipelineKindsOf(info);
    ASSERT_EQ(kinds.all.size(), 3U);
    EXPECT_EQ(kinds.ofPipeline, (std::vector<std::int32_t>{0, 1, 2, 0}));
    EXPECT_EQ(kinds.all[0].agents, 2);
    EXPECT_EQ(kinds.all[0].agent, 1);
    EXPECT_TRUE(kinds.isShared);
    EXPECT_TRUE(kinds.leads(info, PipelineRow{0}));
    EXPECT_FALSE(kinds.leads(info, PipelineRow{3}));
}

TEST(PipelineKinds, useTheBytesOfThoseBeforeThemAndNotOfThoseAroundThem)
{
    const Info info = severalPipelines();
    const PipelineKinds kinds = pipelineKindsOf(info);
    EXPECT_EQ(kinds.ofBuffer, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 2}));
    EXPECT_EQ(kinds.all[1].around, 0);
    EXPECT_FALSE(kinds.all[2].around);
    EXPECT_EQ(kinds.used(info, 0, 0), Bytes(300));
    EXPECT_EQ(kinds.used(info, 1, 0), Bytes(500));
    EXPECT_EQ(kinds.used(info, 2, 0), Bytes(100));
    EXPECT_EQ(kinds.largest(info, 0), 1);
}

TEST(Arrays, areThoseOfOneNameShapeAndDtype)
{
    Info info = severalPipelines();
    addOperand(info, "x → near", -1, 8, 0);
    addOperand(info, "near → out", -1, 8, 0);
    info.operands.edit().back().direction = Direction::Out;
    addBuffer(info, "near", -1, 0);
    EXPECT_EQ(arrayName(info.operands[3]), "x");
    EXPECT_EQ(arrayName(info.operands[4]), "out");
    const Arrays arrays = arraysOf(info);
    EXPECT_EQ(arrays.ofOperand, (std::vector<std::int32_t>{0, 1, 0, 0, 2}));
    EXPECT_EQ(arrays.ofBuffer, (std::vector<std::int32_t>{0, 0, -1, 1, 1, -1, 0}));
}

// Such as what a kernel calls x, in padded tiles, and an argument x that lies in another order.
TEST(Arrays, thatTakeOtherBytesInHbmAreOthers)
{
    Info info = severalPipelines();
    info.operands.edit()[2].paddedBytes = Bytes(64);
    EXPECT_EQ(arraysOf(info).ofOperand, (std::vector<std::int32_t>{0, 1, 2}));
    info.operands.edit()[0].paddedBytes = Bytes(64);
    EXPECT_EQ(arraysOf(info).ofOperand, (std::vector<std::int32_t>{0, 1, 0}));
}

// A slice of 100 bytes of an array of 400 is what each entry of a pipeline reaches, up to the whole
// array. Where nobody counted entries, it is the whole array.
TEST(Reach, ofSlicesGrowsWithTheEntriesOfTheirPipelines)
{
    Info info;
    info.agents = {"core 0", "core 1"};
    addPipeline(info, 1, 0, 8, 0);
    addPipeline(info, 1, 1, 8, 0);
    for (Operand& operand : info.operands.edit()) {
        operand.arrayBytes = Bytes(100);
    }
    const auto reach = [&](std::int64_t entries, Bytes sliced, std::vector<std::int32_t> operands) {
        for (std::size_t i = 0; i < info.pipelines.size(); ++i) {
            info.pipelines[i].entries = entries;
            info.operands.edit()[i].slicedBytes = sliced;
        }
        return reachOf(info, operands).value();
    };
    EXPECT_EQ(reach(7, Bytes(0), {0}), 100);
    EXPECT_EQ(reach(7, Bytes(0), {0, 1}), 100) << "the cores of a device share its arrays";
    EXPECT_EQ(reach(1, Bytes(400), {0}), 100);
    EXPECT_EQ(reach(3, Bytes(400), {0}), 300);
    EXPECT_EQ(reach(3, Bytes(400), {0, 1}), 400);
    EXPECT_EQ(reach(0, Bytes(400), {0}), 400);
}

// Nothing stays on chip between two launches, and not from one kernel to the next.
TEST(Reach, isThatOfEachLaunch)
{
    Info info;
    info.agents = {"core"};
    addPipeline(info, 1, 0, 8, 0);
    addOperand(info, "x \u2192 scratch", kNone, 8, 0);
    addOperand(info, "x \u2192 scratch", kNone, 8, 0);
    for (Operand& operand : info.operands.edit()) {
        operand.arrayBytes = Bytes(100);
        operand.kernel = 0;
        operand.launches = 6;
    }
    const auto reach = [&](std::vector<std::int32_t> operands) {
        return reachOf(info, operands).value();
    };
    EXPECT_EQ(reach({0}), 600);
    EXPECT_EQ(reach({1, 2}), 600) << "one kernel copies the array in two places";
    info.operands.edit()[2].kernel = 1;
    info.operands.edit()[2].launches = 2;
    EXPECT_EQ(reach({1, 2}), 800);
}

TEST(Reach, isThatOfEachDevice)
{
    Info info;
    info.agents = {"device 0 core", "device 1 core"};
    info.links.resize(2);
    info.links[0].kind = info.links[1].kind = "HBM";
    addPipeline(info, 1, 0, 8, 0);
    addPipeline(info, 1, 1, 8, 0);
    addOperand(info, "x \u2192 scratch", kNone, 8, 0);
    for (Operand& operand : info.operands.edit()) {
        operand.arrayBytes = Bytes(100);
    }
    const auto reach = [&](std::vector<std::int32_t> operands) {
        return reachOf(info, operands).value();
    };
    EXPECT_EQ(reach({0}), 100);
    EXPECT_EQ(reach({0, 1}), 200);
    EXPECT_EQ(reach({2}), 200) << "all devices make a manual DMA";
}
