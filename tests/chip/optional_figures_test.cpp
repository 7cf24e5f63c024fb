// The figures that a chip file need not have: what their absence means, how they are read, and the
// sentences about wrong ones.
#include "tests/chip/edited_chip.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::chip {

namespace {

using nlohmann::json;

// Changes a figure of tpu_v5e.json, where /units are MXU, VPU, EUP, XLU, load, store, scalar in
// this order.
std::string messageOf(const std::string& pointer, const json& value)
{
    const Result<Chip> chip = parse(editedText({{pointer, value}}), "my.json");
    EXPECT_FALSE(chip) << pointer << " " << value << " was accepted";
    return chip ? std::string() : chip.error().message;
}

std::string sentence(const std::string& pointer, const std::string& value, const std::string& right)
{
    return "The chip file my.json: " + pointer + " is " + value + "; expected " + right + ".";
}

} // namespace

TEST(OptionalFigures, changeNothingWhereTheyAreNot)
{
    const Chip chip = edited({});
    EXPECT_EQ(chip.stepOperand, Picoseconds(0));
    EXPECT_EQ(chip.kernelLaunch, Picoseconds(0));
    EXPECT_EQ(chip.fusionLaunch, Picoseconds(0));
    EXPECT_EQ(chip.nearFusionLaunch, Picoseconds(0));
    EXPECT_EQ(chip.overlap, 0);
    EXPECT_TRUE(chip.operations.empty());
    for (const Unit& unit : chip.units) {
        EXPECT_EQ(unit.latency, 0) << unit.name;
        EXPECT_EQ(unit.cyclesPerTile, 0) << unit.name;
        EXPECT_EQ(unit.cyclesPerResult, 0) << unit.name;
        EXPECT_EQ(unit.slowedByProducts, 1) << unit.name;
        EXPECT_EQ(unit.delaysProducts, 0) << unit.name;
        EXPECT_TRUE(unit.packed.empty()) << unit.name;
    }
}

TEST(OptionalFigures, ofUnitsAreRead)
{
    const Chip chip = edited({{"/units/0/cycles_per_tile", 12.5},
                              {"/units/0/cycles_per_result", 0.25},
                              {"/units/0/latency_cycles", 192},
                              {"/units/1/latency_cycles", 2},
                              {"/units/1/slowed_by_products", 0.5},
                              {"/units/1/delays_products", 0.75},
                              {"/units/1/packed", {"bf16", "int8"}},
                              {"/units/3/latency_cycles", 128}});
    const Unit* matrix = chip.unitOf(UnitKind::Matrix);
    EXPECT_EQ(matrix->cyclesPerTile, 12.5);
    EXPECT_EQ(matrix->cyclesPerResult, 0.25);
    EXPECT_EQ(matrix->latency, 192);
    EXPECT_EQ(chip.unitOf(UnitKind::Vector)->latency, 2);
    EXPECT_EQ(chip.unitOf(UnitKind::Vector)->slowedByProducts, 1.5);
    EXPECT_EQ(chip.unitOf(UnitKind::Vector)->delaysProducts, 0.75);
    EXPECT_EQ(chip.unitOf(UnitKind::Vector)->packed,
              (std::vector<DType>{DType::BF16, DType::Int8}));
    EXPECT_EQ(chip.unitOf(UnitKind::Crosslane)->latency, 128);
    EXPECT_EQ(chip.unitOf(UnitKind::Transcendental)->latency, 0);
}

TEST(OptionalFigures, ofTimesAreRead)
{
    const Chip chip = edited({{"/constants/step_operand_s", 12e-9},
                              {"/constants/kernel_launch_s", 3.5e-6},
                              {"/constants/fusion_launch_s", 1.25e-6}});
    EXPECT_EQ(chip.stepOperand, Picoseconds(12'000));
    EXPECT_EQ(chip.kernelLaunch, Picoseconds(3'500'000));
    EXPECT_EQ(chip.fusionLaunch, Picoseconds(1'250'000));
    EXPECT_EQ(chip.nearFusionLaunch, Picoseconds(1'250'000)); // the same as for other fusions
    EXPECT_EQ(edited({{"/constants/near_fusion_launch_s", 0.5e-6}}).nearFusionLaunch,
              Picoseconds(500'000));
    EXPECT_EQ(chip.stepOverhead, Picoseconds(330'000)); // unchanged
}

TEST(OptionalFigures, ofOverlapArePowersOfTwo)
{
    for (const int exponent : {2, 4, 8, 64}) {
        EXPECT_EQ(edited({{"/constants/overlap_exponent", exponent}}).overlap, exponent);
    }
}

TEST(OptionalFigures, ofOperationsSayHowManyInstructionsEachKindOfUnitTakes)
{
    const Chip chip = edited({{"/operations/div/vector", 9},
                              {"/operations/div/transcendental", 1},
                              {"/operations/exp/vector", 2.5},
                              {"/operations/sign/crosslane", 0}});
    ASSERT_EQ(chip.operations.size(), 3U);
    const std::vector<Instructions>& div = chip.operations.at("div");
    ASSERT_EQ(div.size(), 2U);
    EXPECT_EQ(div[0].kind, UnitKind::Vector);
    EXPECT_EQ(div[0].count, 9);
    EXPECT_EQ(div[1].kind, UnitKind::Transcendental);
    EXPECT_EQ(div[1].count, 1);
    EXPECT_EQ(chip.operations.at("exp").at(0).count, 2.5);
    EXPECT_EQ(chip.operations.at("sign").at(0).kind, UnitKind::Crosslane);
    EXPECT_EQ(chip.operations.at("sign").at(0).count, 0);
}

TEST(OptionalFigures, thatAreUnknownHaveStandIns)
{
    json file = json::parse(v5eText());
    const json unknown = {
        {"value", nullptr}, {"stand_in", 4}, {"source", "nobody says"}, {"status", "assumed"}};
    file["constants"]["overlap_exponent"] = unknown;
    file["units"][1]["latency_cycles"] = unknown;
    file["operations"]["div"]["vector"] = unknown;
    const Result<Chip> chip = parse(file.dump(), "a chip");
    ASSERT_TRUE(chip) << chip.error().message;
    EXPECT_EQ(chip->overlap, 4);
    EXPECT_EQ(chip->unitOf(UnitKind::Vector)->latency, 4);
    EXPECT_EQ(chip->operations.at("div").at(0).count, 4);
    std::vector<std::string> names;
    for (const UnknownFigure& figure : chip->unknown) {
        names.push_back(figure.pointer);
    }
    for (const char* pointer :
         {"/constants/overlap_exponent", "/units/1/latency_cycles", "/operations/div/vector"}) {
        EXPECT_EQ(std::count(names.begin(), names.end(), pointer), 1) << pointer;
    }
}

TEST(OptionalFigures, thatStandInForUnknownOnesAreNamedWhereTheyAreBad)
{
    json file = json::parse(v5eText());
    file["constants"]["overlap_exponent"] = {
        {"value", nullptr}, {"stand_in", 3}, {"source", "nobody says"}, {"status", "assumed"}};
    const Result<Chip> chip = parse(file.dump(), "my.json");
    ASSERT_FALSE(chip);
    EXPECT_EQ(chip.error().message,
              sentence("/constants/overlap_exponent/stand_in", "3", "a power of two from 2 to 64"));
}

TEST(OptionalFigures, thatAreBadAreNamedWithWhatIsRight)
{
    const std::string cycles = "a number of cycles from 0 to 1e6",
                      seconds = "a number of seconds from 0 to 0.1",
                      power = "a power of two from 2 to 64",
                      narrow = "the name of a dtype of fewer than 32 bits";

    struct Bad
    {
        std::string pointer;
        json value;
        std::string right;
    };

    const std::vector<Bad> all{
        {"/units/0/cycles_per_tile", -1, cycles},
        {"/units/0/cycles_per_tile", 1e7, cycles},
        {"/units/0/cycles_per_result", "many", cycles},
        {"/units/1/latency_cycles", 0.5, "a whole number of cycles from 1 to 65536"},
        {"/units/1/latency_cycles", 1.5, "a whole number of cycles from 1 to 65536"},
        {"/constants/step_operand_s", -1e-9, seconds},
        {"/constants/kernel_launch_s", 1, seconds},
        {"/constants/fusion_launch_s", true, seconds},
        {"/constants/overlap_exponent", 0, power},
        {"/constants/overlap_exponent", 1, power},
        {"/constants/overlap_exponent", 2.5, power},
        {"/constants/overlap_exponent", 128, power},
        {"/constants/overlap_exponent", 3, power},
        {"/constants/overlap_exponent", 48, power},
        {"/operations/div/vector", -1, "a number of instructions from 0 to 1e6"},
        {"/units/1/packed", "bf16", "a list"},
    };
    for (const auto& [pointer, value, right] : all) {
        EXPECT_EQ(messageOf(pointer, value), sentence(pointer + "/value", value.dump(), right));
    }
    for (const char* name : {"f32", "int32", "half"}) {
        EXPECT_EQ(messageOf("/units/1/packed", {"bf16", name}),
                  sentence("/units/1/packed/value/1", json(name).dump(), narrow));
    }
}

TEST(OptionalFigures, ofOperationsThatNameNoUnitAreRefused)
{
    const auto messageWith = [](const json& operations) {
        json file = json::parse(v5eText());
        file["operations"] = operations;
        const Result<Chip> chip = parse(file.dump(), "my.json");
        return chip ? std::string() : chip.error().message;
    };
    const std::string units =
        "an object with vector, transcendental, crosslane, load, store or scalar";
    EXPECT_EQ(messageWith({{"div", json::object()}}), sentence("/operations/div", "{}", units));
    EXPECT_EQ(messageWith({{"div", 3}}), sentence("/operations/div", "3", units));
    EXPECT_EQ(messageWith({{"div", {{"matrix", 3}}}}),
              sentence("/operations/div", "{\"matrix\":3}", units));
    EXPECT_EQ(messageWith(json::array()),
              sentence("/operations", "[]", "an object with an entry for each operation"));
    EXPECT_EQ(messageWith(json::object()), "");
}

TEST(OptionalFigures, ofVectorUnitsAreNotReadOfOthers)
{
    EXPECT_TRUE(edited({{"/units/2/packed", {"bf16"}}}).units[2].packed.empty());
    EXPECT_EQ(edited({{"/units/1/cycles_per_tile", 3}}).units[1].cyclesPerTile, 0);
}

} // namespace pallascope::chip
