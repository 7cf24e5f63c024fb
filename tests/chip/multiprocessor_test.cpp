// The object `multiprocessor` of a GPU's chip file: how it is read, and the sentences about wrong
// ones.
#include "core/chip/chip.h"
#include "core/chip/clock.h"
#include "tests/chip/chip_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace pallascope::chip {

namespace {

using nlohmann::json;

json gpuFile()
{
    return json::parse(chipText("h100_sxm"));
}

json smFigure(const json& value)
{
    return {{"value", value}, {"source", "a test"}, {"status", "assumed"}};
}

// What some chips lack.
constexpr std::array<std::string_view, 10> kOptional{
    "atomic_cycles",           "cluster_blocks",
    "cluster_blocks_most",     "copy_cycles",
    "product_wait_cycles",     "register_product_wait_cycles",
    "port_bytes_per_cycle",    "written_bytes_per_lost_cycle",
    "spilled_bytes_per_cycle", "l1_with_shared_bytes"};

std::string refusalOf(const json& file)
{
    const Result<Chip> chip = parse(file.dump(), "my.json");
    return chip ? "" : chip.error().message;
}

std::string refusalWith(const std::string& key, const json& value)
{
    json file = gpuFile();
    file["multiprocessor"][key] = smFigure(value);
    return refusalOf(file);
}

std::string smSentence(const std::string& place, const std::string& value, const std::string& right)
{
    return "The chip file my.json: /multiprocessor/" + place + " is " + value + "; expected "
           + right + ".";
}

} // namespace

TEST(Multiprocessor, isRead)
{
    const Multiprocessor sm = parse(chipText("h100_sxm"), "a chip").value().multiprocessor.value();
    EXPECT_EQ(sm.computeMajor, 9);
    EXPECT_EQ(sm.computeMinor, 0);
    EXPECT_EQ(sm.threads, 2048);
    EXPECT_EQ(sm.warps(), 64);
    EXPECT_EQ(sm.threadsPerBlock, 1024);
    EXPECT_EQ(sm.blocks, 32);
    EXPECT_EQ(sm.warpGranule, 4);
    EXPECT_EQ(sm.registers, 65536);
    EXPECT_EQ(sm.registersPerThread, 255);
    EXPECT_EQ(sm.registerGranule, 256);
    EXPECT_EQ(sm.shared, Bytes(228 << 10));
    EXPECT_EQ(sm.sharedPerBlock, Bytes(227 << 10));
    EXPECT_EQ(sm.sharedReserved, Bytes(1024));
    EXPECT_EQ(sm.sharedGranule, Bytes(128));
    EXPECT_EQ(sm.sharedBytesPerCycle, 128);
    EXPECT_EQ(sm.sharedLoadCycles, 29);
    EXPECT_EQ(sm.portBytesPerCycle, 64);
    EXPECT_EQ(sm.namedBarriers, 16);
    EXPECT_EQ(sm.gpcs, 8);
    EXPECT_EQ(sm.clusterBlocks, 8);
    EXPECT_EQ(sm.clusterBlocksMost, 16);
    EXPECT_EQ(sm.l1WithShared, Bytes(256 << 10));
    EXPECT_EQ(sm.l1LoadCycles, 36);
    EXPECT_EQ(sm.l2Usable, Bytes(34 << 20));
    EXPECT_EQ(sm.copyCycles, 105);
    EXPECT_EQ(sm.productWaitCycles, 67);
    EXPECT_EQ(sm.registerProductWaitCycles, 120);
    EXPECT_EQ(sm.writtenPerLostCycle, 465);
    EXPECT_EQ(sm.arriveCycles, 6);
    EXPECT_EQ(sm.waitCycles, 75);
    EXPECT_EQ(sm.boostClock, Hertz(1'980'000'000));
    EXPECT_EQ(sm.sustainedClock, Hertz(1'755'000'000));
}

TEST(Multiprocessor, hasNoneOfWhatOlderChipsLack)
{
    json file = gpuFile();
    for (const std::string_view key : kOptional) {
        file["multiprocessor"].erase(std::string(key));
    }
    const Result<Chip> chip = parse(file.dump(), "a chip");
    ASSERT_TRUE(chip) << chip.error().message;
    const Multiprocessor& sm = chip->multiprocessor.value();
    EXPECT_FALSE(sm.clusterBlocks);
    EXPECT_FALSE(sm.clusterBlocksMost);
    EXPECT_FALSE(sm.copyCycles);
    EXPECT_FALSE(sm.productWaitCycles);
    EXPECT_FALSE(sm.registerProductWaitCycles);
    EXPECT_FALSE(sm.portBytesPerCycle);
    EXPECT_FALSE(sm.writtenPerLostCycle);
    EXPECT_EQ(sm.registers, 65536); // what is left is read
}

// Of the latency of a copy, only the cycles of the copy engine get shorter: what is left is that of
// a load, which is the same at each clock.
TEST(Multiprocessor, hasNoSlowerLoadsAtAFasterClock)
{
    const Result<Chip> sustained = parse(gpuFile().dump(), "a chip");
    ASSERT_TRUE(sustained) << sustained.error().message;
    const Result<Chip> boost = atClock(*sustained, Clock::Boost);
    ASSERT_TRUE(boost) << boost.error().message;
    const auto ofLoad = [](const Chip& chip, std::size_t link) {
        return static_cast<double>(chip.links[link].latency.value())
               - *chip.multiprocessor->copyCycles * 1e12
                     / static_cast<double>(chip.agents.front().clock.value());
    };
    ASSERT_EQ(sustained->links.size(), 2U);
    for (const std::size_t link : {0U, 1U}) {
        EXPECT_LT(boost->links[link].latency, sustained->links[link].latency);
        EXPECT_NEAR(ofLoad(*boost, link), ofLoad(*sustained, link), 2);
    }
    const Result<Chip> again = parse(boost->json, "in a trace");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->links[0].latency, boost->links[0].latency);
}

TEST(Multiprocessor, isAbsentOnTpus)
{
    for (const resources::EmbeddedFile& file : resources::chipFiles()) {
        const Result<Chip> chip = parse(file.text, file.name);
        ASSERT_TRUE(chip) << chip.error().message;
        EXPECT_EQ(chip->multiprocessor.has_value(), chip->name.rfind("tpu_", 0) != 0);
    }
}

TEST(Multiprocessor, thatLacksAFigureIsRefusedByItsName)
{
    const json figures = gpuFile()["multiprocessor"];
    for (const auto& [key, unused] : figures.items()) {
        json file = gpuFile();
        file["multiprocessor"].erase(key);
        const bool optional = std::find(kOptional.begin(), kOptional.end(), key) != kOptional.end();
        EXPECT_EQ(refusalOf(file), optional ? ""
                                            : "The chip file my.json: the key /multiprocessor/"
                                                  + key + " is missing.");
    }
}

TEST(Multiprocessor, thatIsBadIsNamedWithWhatIsRight)
{
    EXPECT_EQ(refusalWith("threads", 0),
              smSentence("threads/value", "0", "a whole number of threads from 1 to 65536"));
    EXPECT_EQ(refusalWith("threads", 2000),
              smSentence("threads/value", "2000", "a multiple of 128, the threads of a warpgroup"));
    EXPECT_EQ(
        refusalWith("threads_per_block", 4096),
        smSentence("threads_per_block/value", "4096", "a whole number of threads from 1 to 2048"));
    EXPECT_EQ(
        refusalWith("shared_per_block", 240'000),
        smSentence("shared_per_block/value", "240000", "a whole number of bytes from 1 to 233472"));
    EXPECT_EQ(
        refusalWith("register_granule", 1.5),
        smSentence("register_granule/value", "1.5", "a whole number of registers from 1 to 65536"));
    EXPECT_EQ(refusalWith("arrive_cycles", -1),
              smSentence("arrive_cycles/value", "-1", "a number of cycles from 0 to 1e6"));
    EXPECT_EQ(refusalWith("compute_capability", 9.0),
              smSentence("compute_capability/value", "9.0", "a list"));
    EXPECT_EQ(refusalWith("compute_capability", {9}),
              smSentence("compute_capability/value", "[9]",
                         "a list of the major and the minor number, such as [9, 0]"));
    EXPECT_EQ(refusalWith("compute_capability", {9, -1}),
              smSentence("compute_capability/value/1", "-1", "a whole number from 0 to 99"));
    json file = gpuFile();
    file["multiprocessor"]["blocks"] = 32;
    EXPECT_EQ(refusalOf(file), "The chip file my.json: /multiprocessor/blocks is 32; expected an "
                               "object.");
    file["multiprocessor"] = nullptr;
    EXPECT_EQ(refusalOf(file),
              "The chip file my.json: /multiprocessor is null; expected an object.");
}

TEST(Multiprocessor, needsTheMemoriesThatItsFiguresAreOf)
{
    json file = gpuFile();
    file["memories"][1]["name"] = "cache";
    file["links"][1]["from"] = "cache";
    const std::string message = refusalOf(file);
    EXPECT_NE(message.find("/multiprocessor is {"), std::string::npos) << message;
    EXPECT_NE(message.find("no such object in a file without the memory L2."), std::string::npos)
        << message;
}

TEST(Units, mayBelongToASlot)
{
    json file = gpuFile();
    EXPECT_EQ(parse(file.dump(), "a chip").value().unitSets(), 132);
    file["agents"][0]["unit_owner"] = "agent";
    EXPECT_EQ(parse(file.dump(), "a chip").value().unitSets(), 132 * 16);
    file["agents"][0]["unit_owner"] = "chip";
    EXPECT_EQ(refusalOf(file), "The chip file my.json: /agents/0/unit_owner is \"chip\"; expected "
                               "\"agent\" or \"slot\".");
}

TEST(Memory, mayBelongToASlot)
{
    json file = gpuFile();
    file["memories"][2]["scope"] = "block";
    EXPECT_EQ(refusalOf(file), "The chip file my.json: /memories/2/scope is \"block\"; expected "
                               "\"chip\", \"slot\" or \"agent\".");
}

} // namespace pallascope::chip
