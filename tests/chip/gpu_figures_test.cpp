// Compares the built-in GPUs with what is published about them: NVIDIA's datasheets and
// whitepapers, and openxla/xprof's table of operations per cycle. The figures are typed in here.
#include "core/chip/chip.h"
#include "tests/chip/chip_file.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace pallascope::chip {

namespace {

// Peaks without sparsity; FP32 with a fused multiplication and addition as two operations.
struct PublishedGpu
{
    const char *name, *alias;
    std::int64_t sms, perCycle;                      // operations of 16 bits per cycle and SM
    double boost, fp32, bf16, int8, tf32, bandwidth; // Hz, FLOP/s, bytes per second
    double l2, hbm;                                  // MiB, 1e9 bytes, within 8 %
};

constexpr std::array<PublishedGpu, 7> kGpus{{
    {"a100_40", "", 108, 2048, 1.41e9, 19.5e12, 312e12, 624e12, 156e12, 1555e9, 40, 40},
    {"a100_80", "a100", 108, 2048, 1.41e9, 19.5e12, 312e12, 624e12, 156e12, 2039e9, 40, 80},
    {"h100_sxm", "h100", 132, 4096, 1.98e9, 67e12, 989.4e12, 1978.9e12, 494.7e12, 3350e9, 50, 80},
    {"h100_pcie", "", 114, 4096, 1.755e9, 51e12, 756e12, 1513e12, 378e12, 2000e9, 50, 80},
    {"h200", "", 132, 4096, 1.98e9, 67e12, 989.4e12, 1978.9e12, 494.7e12, 4800e9, 50, 141},
    {"b200", "", 148, 8192, 1.965e9, 75e12, 2250e12, 4500e12, 1125e12, 8000e9, 126, 192},
    {"l4", "", 58, 1024, 2.04e9, 30.3e12, 121e12, 242.5e12, 60e12, 300e9, 48, 24},
}};

Chip gpuNamed(const std::string& name)
{
    Result<Chip> chip = parse(chipText(name), name);
    EXPECT_TRUE(chip) << (chip ? "" : chip.error().message);
    return *std::move(chip);
}

double hertzOf(Hertz clock)
{
    return static_cast<double>(clock.value());
}

const Memory& memoryNamed(const Chip& chip, const char* name)
{
    return chip.memories.at(static_cast<std::size_t>(chip.memoryIndex(name).value()));
}

} // namespace

TEST(GpuFigures, areOfSevenGpus)
{
    std::set<std::string> names;
    for (const resources::EmbeddedFile& file : resources::chipFiles()) {
        const Chip chip = gpuNamed(std::string(file.name.substr(0, file.name.find('.'))));
        if (chip.multiprocessor) {
            names.insert(chip.name);
        }
    }
    EXPECT_EQ(names.size(), kGpus.size());
    for (const PublishedGpu& published : kGpus) {
        EXPECT_TRUE(names.contains(published.name));
        const std::string alias = published.alias;
        EXPECT_EQ(gpuNamed(published.name).aliases,
                  alias.empty() ? std::vector<std::string>{} : std::vector{alias});
    }
}

TEST(GpuFigures, ratesAreTheChips)
{
    for (const PublishedGpu& published : kGpus) {
        SCOPED_TRACE(published.name);
        const Chip chip = gpuNamed(published.name);
        const Unit& matrix = *chip.unitOf(UnitKind::Matrix);
        EXPECT_EQ(matrix.matrixRates.at(DType::BF16).peakFlopsPerSecond, published.bf16);
        EXPECT_EQ(matrix.matrixRates.at(DType::F16).peakFlopsPerSecond, published.bf16);
        EXPECT_EQ(matrix.matrixRates.at(DType::F32).peakFlopsPerSecond, published.tf32);
        EXPECT_EQ(matrix.matrixRates.at(DType::Int8).peakFlopsPerSecond, published.int8);
        EXPECT_EQ(matrix.matrixRates.contains(DType::F8E4M3FN), chip.name[0] != 'a');
        EXPECT_EQ(matrix.matrixRates.contains(DType::F4E2M1FN), chip.name == "b200");
        EXPECT_EQ(chip.links.front().name, "HBM");
        EXPECT_EQ(chip.links.front().datasheet.value(), published.bandwidth);
        EXPECT_EQ(static_cast<double>(memoryNamed(chip, "L2").bytes.value()) / (1 << 20),
                  published.l2);
        EXPECT_NEAR(static_cast<double>(memoryNamed(chip, "HBM").bytes.value()) / 1e9,
                    published.hbm, 0.08 * published.hbm);
        EXPECT_EQ(chip.memoryIndex("TMEM").has_value(), chip.name == "b200");
        EXPECT_LE(chip.multiprocessor->l2Usable, memoryNamed(chip, "L2").bytes);
    }
}

// Units do per cycle what NVIDIA says, and at the boost clock what the datasheet promises.
TEST(GpuFigures, ofUnitsReachTheirRates)
{
    for (const PublishedGpu& published : kGpus) {
        SCOPED_TRACE(published.name);
        const Chip chip = gpuNamed(published.name);
        EXPECT_EQ(chip.agents.front().slots, published.sms);
        EXPECT_EQ(chip.unitSets(), published.sms);
        EXPECT_NEAR(hertzOf(chip.multiprocessor->boostClock), published.boost, 1);
        const Unit& matrix = *chip.unitOf(UnitKind::Matrix);
        for (const auto& [dtype, rate] : matrix.matrixRates) {
            const double perCycle =
                2 * static_cast<double>(matrix.count * matrix.rows * matrix.columns)
                / rate.cyclesPerRow;
            EXPECT_NEAR(perCycle / static_cast<double>(published.perCycle),
                        rate.peakFlopsPerSecond / published.bf16, 0.01)
                << dtypeName(dtype);
            // Datasheets compute the peaks of tensor cores with a clock of their own.
            const double clock =
                rate.peakFlopsPerSecond / perCycle / static_cast<double>(published.sms);
            EXPECT_GT(clock, 0.9 * published.boost) << dtypeName(dtype);
            EXPECT_LT(clock, 1.01 * published.boost) << dtypeName(dtype);
        }
        const Unit& vector = *chip.unitOf(UnitKind::Vector);
        const double lanes = static_cast<double>(vector.count) / vector.cyclesPerRegister
                             * static_cast<double>(chip.registerBytes.value()) / 4;
        const double peak = lanes * static_cast<double>(published.sms) * published.boost;
        EXPECT_NEAR(peak, vector.peakFlopsPerSecond, 1);
        EXPECT_NEAR(2 * peak / published.fp32, 1, 0.015);
        const Unit& special = *chip.unitOf(UnitKind::Transcendental);
        EXPECT_EQ(static_cast<double>(special.count) / special.cyclesPerRegister * 128, 16);
    }
}

TEST(GpuFigures, ofWarpgroupsShareAMultiprocessor)
{
    for (const PublishedGpu& published : kGpus) {
        SCOPED_TRACE(published.name);
        const Chip chip = gpuNamed(published.name);
        const AgentKind& agents = chip.agents.front();
        EXPECT_EQ(agents.name, "Warpgroup");
        EXPECT_EQ(agents.slotName, "SM");
        EXPECT_TRUE(agents.sharesUnits);
        EXPECT_EQ(agents.count * kWarpgroupThreads, chip.multiprocessor->threads);
        EXPECT_EQ(agents.clock, chip.multiprocessor->sustainedClock);
        EXPECT_EQ(chip.registerBytes, Bytes(512)); // 32 bits of 128 threads
        EXPECT_EQ(memoryNamed(chip, "SMEM").scope, "slot");
        EXPECT_EQ(memoryNamed(chip, "SMEM").bytes, chip.multiprocessor->shared);
        EXPECT_EQ(memoryNamed(chip, "REGS").bytes, Bytes(4 * chip.multiprocessor->registers));
        for (const UnitKind kind :
             {UnitKind::Matrix, UnitKind::Vector, UnitKind::Transcendental, UnitKind::Crosslane,
              UnitKind::Load, UnitKind::Store, UnitKind::Scalar}) {
            EXPECT_NE(chip.unitOf(kind), nullptr);
        }
        EXPECT_TRUE(chip.unknown.empty()); // every run would have a finding
        const auto at = [&](const char* name) { return *chip.memoryIndex(name); };
        EXPECT_EQ(chip.linkBetween(at("HBM"), at("SMEM")), 0);
        EXPECT_EQ(chip.linkBetween(at("L2"), at("SMEM")), 1);
        EXPECT_LT(chip.links[1].latency, chip.links[0].latency);
        EXPECT_GT(chip.links[1].achieved(), chip.links[0].achieved());
    }
}

} // namespace pallascope::chip
