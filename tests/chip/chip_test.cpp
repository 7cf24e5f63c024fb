// Reading chip files: figures, defaults, and what is derived from them.
#include "core/chip/chip.h"
#include "tests/chip/chip_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pallascope::chip {

namespace {

using nlohmann::json;

Chip v5e()
{
    Result<Chip> chip = parse(v5eText(), "tpu_v5e");
    EXPECT_TRUE(chip) << (chip ? "" : chip.error().message);
    return *std::move(chip);
}

} // namespace

TEST(Chip, theV5eHasTheFiguresOfItsDatasheet)
{
    const Chip chip = v5e();
    EXPECT_EQ(chip.title, "TPU v5e");
    EXPECT_EQ(chip.aliases, std::vector<std::string>{"v5e"});
    const std::optional<std::int32_t> vmem = chip.memoryIndex("VMEM");
    ASSERT_TRUE(vmem);
    const Memory& memory = chip.memories[static_cast<std::size_t>(*vmem)];
    EXPECT_EQ(memory.bytes, Bytes(128 << 20));
    EXPECT_EQ(memory.defaultLimit, Bytes(16 << 20));
    EXPECT_EQ(memory.tile, (std::vector<std::int64_t>{8, 128}));
    EXPECT_EQ(chip.links.front().datasheet, BytesPerSecond(819e9));
    EXPECT_DOUBLE_EQ(chip.links.front().achieved().value(), 655.2e9);
    EXPECT_EQ(chip.links.front().latency, Picoseconds(0));
    // The overhead of a product, which has three operands.
    EXPECT_EQ(chip.stepOverhead + chip.stepOperand * 3, Picoseconds(330'000));
    EXPECT_EQ(chip.agents.front().clock, Hertz(1'500'000'000));
    EXPECT_FALSE(chip.memoryIndex("L2"));
}

TEST(Chip, theV5eHasFourLinksToItsNeighbours)
{
    const Chip chip = v5e();
    ASSERT_TRUE(chip.interconnect);
    EXPECT_EQ(chip.interconnect->links, 4);
    EXPECT_EQ(chip.interconnect->link.datasheet, BytesPerSecond(45e9));
    EXPECT_EQ(chip.interconnect->link.latency, Picoseconds(1'000'000));
    json file = json::parse(v5eText());
    file.erase("interconnect");
    const Result<Chip> alone = parse(file.dump(), "a chip");
    ASSERT_TRUE(alone) << alone.error().message;
    EXPECT_FALSE(alone->interconnect);
}

TEST(Chip, theV5ePeakFollowsFromItsUnitsAndClock)
{
    const Chip chip = v5e();
    const Unit* matrix = chip.unitOf(UnitKind::Matrix);
    ASSERT_NE(matrix, nullptr);
    const double each = 2.0 * static_cast<double>(matrix->count * matrix->rows * matrix->columns)
                        * static_cast<double>(chip.agents.front().clock.value());
    const MatrixRate& bf16 = matrix->matrixRates.at(DType::BF16);
    EXPECT_NEAR(each / bf16.cyclesPerRow, bf16.peakFlopsPerSecond, 0.01 * each);
    EXPECT_FALSE(matrix->matrixRates.contains(DType::F32)); // the unit runs f32 as passes of bf16
    EXPECT_FALSE(matrix->matrixRates.contains(DType::Int32));
}

TEST(Chip, theFilePrintedIsTheFileRead)
{
    const Chip chip = v5e();
    const std::string printed = pretty(chip);
    EXPECT_EQ(json::parse(printed), json::parse(v5eText()));
    const Result<Chip> again = parse(printed, "printed");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->json, chip.json);
    EXPECT_EQ(pretty(*again), printed);
}

TEST(Chip, figuresMayBeLeftOutWhereTheyAreOptional)
{
    json file = json::parse(v5eText());
    file.erase("aliases");
    file["memories"][0].erase("granule");
    file["memories"][1].erase("default_limit");
    file["memories"][1].erase("tile");
    const Result<Chip> chip = parse(file.dump(), "a chip");
    ASSERT_TRUE(chip) << chip.error().message;
    EXPECT_EQ(chip->memories[0].granule, Bytes(1));
    EXPECT_EQ(chip->memories[1].defaultLimit, std::nullopt);
    EXPECT_TRUE(chip->memories[1].tile.empty());
}

TEST(Chip, whatSeveralDevicesShareIsDividedAmongThem)
{
    json file = json::parse(v5eText());
    file["devices"] = {{"value", 2}, {"source", "a test"}, {"status", "assumed"}};
    file["agents"][0]["count"]["value"] = 4;
    const Result<Chip> chip = parse(file.dump(), "a chip");
    ASSERT_TRUE(chip) << chip.error().message;
    EXPECT_EQ(chip->devices, 2);
    EXPECT_EQ(chip->agents.front().count, 2);
    EXPECT_EQ(chip->memories[0].bytes, Bytes(std::int64_t{8} << 30)); // HBM belongs to the chip
    // VMEM belongs to each agent.
    EXPECT_EQ(chip->memories[1].bytes, Bytes(std::int64_t{128} << 20));
    EXPECT_EQ(chip->links.front().datasheet, BytesPerSecond(409.5e9));
    EXPECT_EQ(chip->unitOf(UnitKind::Vector)->peakFlopsPerSecond, 3.072e12);
    EXPECT_EQ(chip->unitOf(UnitKind::Matrix)->matrixRates.at(DType::BF16).peakFlopsPerSecond,
              98.5e12);
}

TEST(Chip, anUnknownFigureHasAStandInAndIsNoted)
{
    json file = json::parse(v5eText());
    file["units"][0]["rates"].erase("f8e5m2"); // the file itself says that this figure is unknown
    file["units"][0]["rates"].erase("f8e4m3b11fnuz");
    EXPECT_TRUE(parse(file.dump(), "a chip")->unknown.empty());
    file["units"][2]["cycles_per_register"] = {
        {"value", nullptr}, {"stand_in", 3}, {"source", "nobody says"}, {"status", "assumed"}};
    file["units"][0]["rates"]["bf16"]["peak_flops_per_s"] = {
        {"value", nullptr}, {"stand_in", 1e12}, {"source", "secret"}, {"status", "assumed"}};
    const Result<Chip> chip = parse(file.dump(), "a chip");
    ASSERT_TRUE(chip) << chip.error().message;
    EXPECT_EQ(chip->unitOf(UnitKind::Transcendental)->cyclesPerRegister, 3);
    ASSERT_EQ(chip->unknown.size(), 2U);
    EXPECT_EQ(chip->unknown[0].pointer, "/units/0/rates/bf16/peak_flops_per_s");
    EXPECT_EQ(chip->unknown[0].name, "MXU/rates/bf16/peak_flops_per_s");
    EXPECT_EQ(chip->unknown[0].standIn, 1e12);
    EXPECT_EQ(chip->unknown[1].name, "EUP/cycles_per_register");
    EXPECT_EQ(chip->unknown[1].why, "nobody says");
}

} // namespace pallascope::chip
