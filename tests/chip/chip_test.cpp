#include "core/chip/chip.h"
#include "tests/chip/chip_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

namespace pallascope::chip {

namespace {

using nlohmann::json;

Chip v5e()
{
    Result<Chip> chip = parse(v5eText(), "tpu_v5e");
    EXPECT_TRUE(chip) << (chip ? "" : chip.error().message);
    return *std::move(chip);
}

// Every number of the file, with its pointer; "version" is not a figure.
void collectNumbers(const json& node, const json::json_pointer& at,
                    std::vector<json::json_pointer>& found)
{
    if (node.is_number()) {
        found.push_back(at);
    } else if (node.is_object()) {
        for (const auto& [key, value] : node.items()) {
            collectNumbers(value, at / key, found);
        }
    } else if (node.is_array()) {
        for (std::size_t i = 0; i < node.size(); ++i) {
            collectNumbers(node[i], at / i, found);
        }
    }
}

} // namespace

TEST(Chip, theV5eHasTheFiguresOfItsDatasheet)
{
    const Chip chip = v5e();
    EXPECT_EQ(chip.title, "TPU v5e");
    EXPECT_EQ(chip.aliases, std::vector<std::string>{"v5e"});
    const std::int32_t vmem = chip.memoryIndex("VMEM");
    ASSERT_GE(vmem, 0);
    const Memory& memory = chip.memories[static_cast<std::size_t>(vmem)];
    EXPECT_EQ(memory.bytes, Bytes(128 << 20));
    EXPECT_EQ(memory.defaultLimit, Bytes(16 << 20));
    EXPECT_EQ(memory.tile, (std::vector<std::int64_t>{8, 128}));
    EXPECT_EQ(chip.links.front().datasheet, BytesPerSecond(819e9));
    EXPECT_DOUBLE_EQ(chip.links.front().achieved().value(), 655.2e9);
    EXPECT_EQ(chip.links.front().latency, Picoseconds(0));
    EXPECT_EQ(chip.stepOverhead, Picoseconds(330'000));
    EXPECT_EQ(chip.agents.front().clock, Hertz(1'500'000'000));
    EXPECT_EQ(chip.memoryIndex("L2"), -1);
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
    const MatrixRate& f32 = matrix->matrixRates.at(DType::F32);
    EXPECT_NEAR(each / f32.cyclesPerRow, f32.peakFlopsPerSecond, 0.01 * each);
    EXPECT_FALSE(matrix->matrixRates.contains(DType::Int32));
}

TEST(Chip, everyFigureHasASourceAndAStatus)
{
    const json file = json::parse(v5eText());
    std::vector<json::json_pointer> numbers;
    collectNumbers(file, json::json_pointer(), numbers);
    EXPECT_GT(numbers.size(), 30U);
    const std::set<std::string> statuses{"datasheet", "measured", "derived", "assumed"};
    for (json::json_pointer pointer : numbers) {
        if (pointer.to_string() == "/version") {
            continue;
        }
        while (pointer.back() != "value") { // a list of numbers is one figure
            ASSERT_FALSE(pointer.empty()) << "a number outside a figure";
            pointer.pop_back();
        }
        pointer.pop_back();
        const json& figure = file[pointer];
        EXPECT_GT(figure.value("source", "").size(), 10U) << pointer;
        EXPECT_TRUE(statuses.contains(figure.value("status", ""))) << pointer;
    }
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

} // namespace pallascope::chip
