// What operations cost a warpgroup of a GPU, by hand from the figures of the H100: 128 lanes of
// FP32, 16 of special functions, 128 bytes of shared memory per cycle and SM.
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

#include <map>

namespace pallascope::cost_test {

namespace {

// The cycles of each unit, by name, of all operations with this code in a core_map whose body gets
// f32[64,128] in shared memory.
std::map<std::string, std::int64_t> cyclesOf(ir::OpCode code,
                                             const std::function<void(const pl::Ref&)>& body)
{
    const chip::Chip h100 = chip::parse(chip::chipText("h100_sxm"), "h100_sxm.json").value();
    const Result<ir::Program> program =
        pl::kernel("blocks", {pl::out("out", kF32, {64, 128})}, [&](const pl::Ref&) {
            pl::coreMap("wg", 1, [&] {
                pl::runScoped({{"tile", kF32, {64, 128}, ir::MemorySpace::Smem}},
                              [&](const std::vector<pl::Ref>& refs) -> std::vector<pl::Value> {
                                  body(refs[0]);
                                  return {};
                              });
            });
        });
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    std::map<std::string, std::int64_t> cycles;
    ir::forEachOperation(program->body, [&](const ir::Operation& operation) {
        if (operation.code != code) {
            return;
        }
        const auto cost = cost::operationCost(*program, operation, h100);
        EXPECT_TRUE(cost) << (cost ? "" : cost.error().message);
        for (const cost::Demand& demand : cost->demands) {
            cycles[h100.units[static_cast<std::size_t>(demand.unit)].name] += demand.cycles.value();
        }
    });
    return cycles;
}

using UnitCycles = std::map<std::string, std::int64_t>;

constexpr std::int64_t kElements = 64 * 128;

} // namespace

TEST(GpuCost, ofSharedMemoryIsThatOfItsBytes)
{
    const auto copy = [](const pl::Ref& tile) { tile[pl::all] = tile[pl::all] + 1.0; };
    EXPECT_EQ(cyclesOf(ir::OpCode::Get, copy), (UnitCycles{{"load", kElements * 4 / 128}}));
    EXPECT_EQ(cyclesOf(ir::OpCode::Swap, copy), (UnitCycles{{"store", kElements * 4 / 128}}));
    EXPECT_EQ(cyclesOf(ir::OpCode::Add, copy), (UnitCycles{{"FP32", kElements / 128}}));
}

// exp(x) is exp2(x * log2(e)).
TEST(GpuCost, ofAnExponentialIsThatOfSpecialFunctions)
{
    const auto body = [](const pl::Ref& tile) { tile[pl::all] = pl::exp(tile[pl::all]); };
    EXPECT_EQ(cyclesOf(ir::OpCode::Exp, body),
              (UnitCycles{{"FP32", kElements / 128}, {"SFU", kElements / 16}}));
}

TEST(GpuCost, ofAProductIsTheRateOfTheTensorCore)
{
    const auto body = [](const pl::Ref& tile) {
        const pl::Value half = pl::convert(tile[pl::all], kBf16);
        tile[pl::all] = pl::dot(half, pl::full({128, 128}, 1, kBf16), kF32);
    };
    EXPECT_EQ(cyclesOf(ir::OpCode::DotGeneral, body),
              (UnitCycles{{"TC", 2 * kElements * 128 / 4096}}));
}

} // namespace pallascope::cost_test
