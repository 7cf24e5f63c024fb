// Compares the built-in chips with what is published about them. The figures come from JAX's
// tpu_info.py, Google's pages on Cloud TPU and the papers that the files cite; they are typed in
// here, not read from the files.
#include "core/chip/chip.h"
#include "tests/chip/chip_file.h"
#include "tests/chip/figures.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace pallascope::chip {

namespace {

using nlohmann::json;

constexpr double kMiB = 1 << 20;

// Figures of the whole chip. A memory that each agent has is given for one agent.
struct Published
{
    const char* name;
    std::int64_t cores, devices, matrixUnits, matrixSize;
    double gigahertz, bf16, bandwidth, ridge; // GHz, FLOP/s, bytes per second, FLOP/byte within 1
    double vmem, scopedLimit, smem;           // MiB
    std::int64_t registers;
};

constexpr std::array<Published, 7> kPublished{{
    {"tpu_v2", 2, 2, 1, 128, 0.70, 46e12, 716e9, 64, 16, 16, 1. / 64, 32},
    {"tpu_v3", 2, 2, 2, 128, 0.94, 123e12, 825e9, 149, 16, 16, 1. / 64, 32},
    {"tpu_v4", 2, 1, 4, 128, 1.05, 275e12, 1228e9, 224, 16, 16, 1, 32},
    {"tpu_v5e", 1, 1, 4, 128, 1.50, 197e12, 819e9, 240, 128, 16, 1, 64},
    {"tpu_v5p", 2, 1, 4, 128, 1.75, 459e12, 2765e9, 166, 64, 8, 1, 64},
    {"tpu_v6e", 1, 1, 2, 256, 1.75, 918e12, 1638e9, 561, 128, 32, 1, 64},
    {"tpu_v7x", 2, 2, 2, 256, 1.90, 2307e12, 7380e9, 312, 64, 32, 1, 64},
}};

Chip builtIn(const std::string& name)
{
    Result<Chip> chip = parse(chipText(name), name);
    EXPECT_TRUE(chip) << (chip ? "" : chip.error().message);
    return *std::move(chip);
}

const Memory& memory(const Chip& chip, const char* name)
{
    return chip.memories.at(static_cast<std::size_t>(chip.memoryIndex(name).value()));
}

} // namespace

TEST(PublishedFigures, theBuiltInChipsAreTheSevenGenerations)
{
    std::set<std::string> files, aliases;
    for (const resources::EmbeddedFile& file : resources::chipFiles()) {
        const Chip chip = builtIn(std::string(file.name.substr(0, file.name.find('.'))));
        if (!chip.multiprocessor) {
            files.insert(std::string(file.name));
        }
        EXPECT_EQ(chip.name + ".json", file.name);
        for (const std::string& alias : chip.aliases) {
            EXPECT_TRUE(aliases.insert(alias).second) << alias << " means two chips";
        }
    }
    EXPECT_EQ(files.size(), kPublished.size());
    for (const Published& published : kPublished) {
        EXPECT_TRUE(files.contains(std::string(published.name) + ".json")) << published.name;
        EXPECT_TRUE(aliases.contains(std::string(published.name).substr(4))) << published.name;
    }
}

TEST(PublishedFigures, peaksBandwidthsAndRidgesAreTheChips)
{
    for (const Published& published : kPublished) {
        SCOPED_TRACE(published.name);
        const Chip chip = builtIn(published.name);
        const auto devices = static_cast<double>(chip.devices);
        EXPECT_EQ(chip.devices, published.devices);
        EXPECT_EQ(chip.agents.front().count * chip.devices, published.cores);
        const MatrixRate& bf16 = chip.unitOf(UnitKind::Matrix)->matrixRates.at(DType::BF16);
        EXPECT_DOUBLE_EQ(bf16.peakFlopsPerSecond * devices, published.bf16);
        EXPECT_DOUBLE_EQ(chip.links.front().datasheet.value() * devices, published.bandwidth);
        EXPECT_NEAR(bf16.peakFlopsPerSecond / chip.links.front().datasheet.value(), published.ridge,
                    1);
    }
}

TEST(PublishedFigures, theUnitsAtTheirClockReachThePeak)
{
    for (const Published& published : kPublished) {
        SCOPED_TRACE(published.name);
        const Chip chip = builtIn(published.name);
        const Unit& matrix = *chip.unitOf(UnitKind::Matrix);
        EXPECT_EQ(matrix.count, published.matrixUnits);
        EXPECT_EQ(matrix.rows, published.matrixSize);
        EXPECT_EQ(matrix.columns, published.matrixSize);
        const auto hertz = static_cast<double>(chip.agents.front().clock.value());
        EXPECT_NEAR(hertz, published.gigahertz * 1e9, 1);
        const auto agents = static_cast<double>(chip.agents.front().count);
        const double each =
            2 * agents * hertz * static_cast<double>(matrix.count * matrix.rows * matrix.columns);
        for (const auto& [dtype, rate] : matrix.matrixRates) {
            // The v7x's published peak needs a clock of 2.2 GHz, but the chip runs at 1.9 GHz, as
            // its file says.
            const double reached = std::string(published.name) == "tpu_v7x" ? 1992.0 / 2307 : 1.0;
            EXPECT_NEAR(each / rate.cyclesPerRow / rate.peakFlopsPerSecond, reached, 0.005)
                << dtypeName(dtype);
        }
        const Unit& vector = *chip.unitOf(UnitKind::Vector);
        EXPECT_NEAR(agents * hertz * static_cast<double>(vector.count) * 1024,
                    vector.peakFlopsPerSecond, 1);
    }
}

TEST(PublishedFigures, remaindersAndPowersTakeNoLessThanTheirParts)
{
    for (const Published& published : kPublished) {
        const Chip chip = builtIn(published.name);
        const auto count = [&](const char* operation, UnitKind kind) {
            double sum = 0;
            for (const Instructions& part : chip.operations.at(operation)) {
                sum += part.kind == kind ? part.count : 0;
            }
            return sum;
        };
        // A product and a difference; a logarithm and a product.
        EXPECT_GE(count("rem", UnitKind::Vector), count("div", UnitKind::Vector) + 2);
        EXPECT_GE(count("rem", UnitKind::Transcendental), count("div", UnitKind::Transcendental));
        EXPECT_GE(count("pow", UnitKind::Vector), count("exp2", UnitKind::Vector) + 1);
        EXPECT_GE(count("pow", UnitKind::Transcendental),
                  count("exp2", UnitKind::Transcendental) + 1);
    }
}

TEST(PublishedFigures, narrowTypesHaveTheirRatesOrAreUnknown)
{
    struct Rate
    {
        const char *chip, *dtype;
        double peak; // of the whole chip; 0: not published
    };

    const std::array<Rate, 14> rates{{{"tpu_v2", "int8", 0},
                                      {"tpu_v3", "int8", 0},
                                      {"tpu_v4", "int8", 0},
                                      {"tpu_v5e", "int8", 394e12},
                                      {"tpu_v5e", "int4", 788e12},
                                      {"tpu_v5e", "f8e5m2", 0},
                                      {"tpu_v5p", "uint8", 918e12},
                                      {"tpu_v5p", "int4", 1840e12},
                                      {"tpu_v6e", "int8", 1836e12},
                                      {"tpu_v6e", "uint4", 3680e12},
                                      {"tpu_v6e", "f8e5m2", 920e12},
                                      {"tpu_v7x", "f8e4m3fn", 4614e12},
                                      {"tpu_v7x", "f8e5m2", 4614e12},
                                      {"tpu_v7x", "int8", 0}}};
    for (const Rate& rate : rates) {
        SCOPED_TRACE(std::string(rate.chip) + " " + rate.dtype);
        const Chip chip = builtIn(rate.chip);
        const auto dtype = dtypeFromName(rate.dtype);
        ASSERT_TRUE(dtype);
        const std::string name = std::string("MXU/rates/") + rate.dtype + "/peak_flops_per_s";
        const bool unknown =
            std::any_of(chip.unknown.begin(), chip.unknown.end(),
                        [&](const UnknownFigure& figure) { return figure.name == name; });
        EXPECT_EQ(unknown, rate.peak == 0);
        const double peak =
            chip.unitOf(UnitKind::Matrix)->matrixRates.at(*dtype).peakFlopsPerSecond;
        if (!unknown) {
            EXPECT_DOUBLE_EQ(peak * static_cast<double>(chip.devices), rate.peak);
        }
    }
}

TEST(PublishedFigures, memoriesAndRegistersAreTheChips)
{
    for (const Published& published : kPublished) {
        SCOPED_TRACE(published.name);
        const Chip chip = builtIn(published.name);
        const auto mebibytes = [&](Bytes bytes) {
            return static_cast<double>(bytes.value()) / kMiB;
        };
        EXPECT_EQ(mebibytes(memory(chip, "VMEM").bytes), published.vmem);
        EXPECT_EQ(mebibytes(memory(chip, "VMEM").defaultLimit.value()), published.scopedLimit);
        EXPECT_EQ(mebibytes(memory(chip, "SMEM").bytes), published.smem);
        EXPECT_EQ(memory(chip, "VMEM").tile, (std::vector<std::int64_t>{8, 128}));
        EXPECT_EQ(chip.registers, published.registers);
        EXPECT_EQ(chip.registerBytes, Bytes(4096));
    }
}

// Source: jax/_src/pallas/mosaic/tpu_info.py in JAX; figures are per device.
TEST(PublishedFigures, sparseCoresAreTheChips)
{
    struct SparseCores
    {
        const char* chip;
        std::int64_t cores, lanes, kibibytes;
    };

    for (const SparseCores& published :
         {SparseCores{"tpu_v5p", 4, 8, 512}, SparseCores{"tpu_v6e", 2, 8, 256},
          SparseCores{"tpu_v7x", 2, 16, 512}}) {
        SCOPED_TRACE(published.chip);
        const Chip chip = builtIn(published.chip);
        const std::int32_t kind = chip.agentNamed("vector subcore").value_or(0);
        ASSERT_GT(kind, 0);
        const AgentKind& subcores = chip.agents[static_cast<std::size_t>(kind)];
        EXPECT_EQ(subcores.count, 16);
        EXPECT_EQ(subcores.slots, published.cores);
        EXPECT_EQ(subcores.registerBytes, Bytes(4 * published.lanes));
        EXPECT_EQ(memory(chip, "TILESPMEM").bytes, Bytes(published.kibibytes * 1024));
        EXPECT_EQ(chip.unitOf(UnitKind::Matrix, kind), nullptr);
        EXPECT_EQ(chip.unitOf(UnitKind::Vector, kind)->name, "SC VPU");
        EXPECT_EQ(chip.unitOf(UnitKind::Vector)->name, "VPU");
    }
    EXPECT_FALSE(builtIn("tpu_v5e").agentNamed("vector subcore"));
    EXPECT_EQ(builtIn("tpu_v5e").agentNamed(""), 0);
}

TEST(PublishedFigures, whereSourcesDifferTheOtherFiguresAreKept)
{
    // JAX gives the v5p's bandwidth as 2460 GB/s, with which its ridge is 187 FLOP/byte.
    const json v5p = json::parse(chipText("tpu_v5p"));
    const json& other = v5p["links"][0]["bytes_per_s"]["also"][0];
    EXPECT_NEAR(459e12 / other["value"].get<double>(), 187, 0.5);
    EXPECT_NE(other["source"].get<std::string>().find("tpu_info.py"), std::string::npos);
    const json v3 = json::parse(chipText("tpu_v3"));
    EXPECT_EQ(v3["units"][0]["rates"]["bf16"]["peak_flops_per_s"]["also"][0]["value"], 140e12);
    int kept = 0;
    for (const Published& published : kPublished) {
        const json file = json::parse(chipText(published.name));
        std::vector<json::json_pointer> figures;
        collectFigures(file, json::json_pointer(), figures);
        for (const json::json_pointer& pointer : figures) {
            for (const json& also : file[pointer].value("also", json::array())) {
                EXPECT_NE(also["value"], file[pointer]["value"]) << pointer;
                ++kept;
            }
        }
    }
    EXPECT_GE(kept, 15);
}

} // namespace pallascope::chip
