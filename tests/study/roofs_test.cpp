// The roof of a product must be the rate at which the matrix unit runs it. Tried for every dtype
// that JAX lowers, on every chip with a matrix unit.
#include "core/analysis/report.h"
#include "core/ir/builder.h"
#include "tests/study/runs.h"

namespace pallascope::study {

namespace {

// The roof of a product of one block with itself.
analysis::Roof roofOf(const std::string& chip, DType dtype,
                      ir::DotPrecision precision = ir::DotPrecision::Default)
{
    const auto kernel = [&](pl::Ref xHbm, pl::Ref outHbm) {
        const auto body = [&](pl::Ref x, pl::Ref out) {
            const pl::Value loaded = x[pl::all].load();
            out[pl::all] =
                pl::dotGeneral(loaded, loaded, {{1}, {0}, {}, {}, DType::F32, precision});
        };
        const auto whole = pl::block({128, 128}, [](auto) { return pl::at(0, 0); });
        pl::emitPipeline({.grid = {1}, .in = {whole}, .out = {whole}}, body)(xHbm, outHbm);
    };
    const Shape shape{128, 128};
    const Result<ir::Program> program = pl::kernel(
        "product", {pl::in("x", dtype, shape), pl::out("out", DType::F32, shape)}, kernel);
    const auto trace = neededRun(program.value(), chipNamed(chip));
    return analysis::report(*trace).value().roofline.peak.value();
}

struct Expected
{
    DType dtype, runsAs;
    double teraflops = 0;
};

} // namespace

TEST(Roofs, areThoseOfWhatTheMatrixUnitRunsAProductAs)
{
    const std::map<std::string, std::vector<Expected>> all{
        {"tpu_v4",
         {{DType::F32, DType::BF16, 275},
          {DType::BF16, DType::BF16, 275},
          {DType::F8E4M3FN, DType::BF16, 275}}},
        {"tpu_v5e",
         {{DType::F32, DType::BF16, 197},
          {DType::F16, DType::BF16, 197},
          {DType::BF16, DType::BF16, 197},
          {DType::F8E4M3FN, DType::BF16, 197},
          {DType::Int8, DType::Int8, 394},
          {DType::UInt8, DType::UInt8, 394},
          {DType::Int4, DType::Int4, 788}}},
        {"tpu_v5p",
         {{DType::F32, DType::BF16, 459},
          {DType::BF16, DType::BF16, 459},
          {DType::F8E4M3FN, DType::BF16, 459},
          {DType::Int8, DType::Int8, 918},
          {DType::Int4, DType::Int4, 1840}}},
        {"tpu_v6e",
         {{DType::F32, DType::BF16, 918},
          {DType::BF16, DType::BF16, 918},
          {DType::F8E4M3FN, DType::BF16, 918},
          {DType::F8E5M2, DType::F8E5M2, 920},
          {DType::Int8, DType::Int8, 1836},
          {DType::Int4, DType::Int4, 3680}}},
        {"tpu_v7x",
         {{DType::F32, DType::BF16, 2307. / 2},
          {DType::BF16, DType::BF16, 2307. / 2},
          {DType::F8E4M3FN, DType::F8E4M3FN, 4614. / 2},
          {DType::F8E5M2, DType::F8E5M2, 4614. / 2}}}};
    for (const auto& [chip, rows] : all) {
        for (const Expected& expected : rows) {
            const analysis::Roof roof = roofOf(chip, expected.dtype);
            const std::string where = chip + " " + std::string(dtypeName(expected.dtype));
            EXPECT_EQ(roof.name, std::string(dtypeName(expected.runsAs)) + " MXU") << where;
            EXPECT_NEAR(roof.flopsPerSecond, expected.teraflops * 1e12, 1e6) << where;
        }
    }
}

TEST(Roofs, ofPassesAreAsMuchLower)
{
    const analysis::Roof roof = roofOf("tpu_v5e", DType::F32, ir::DotPrecision::Highest);
    EXPECT_EQ(roof.name, "bf16 x 6 MXU");
    EXPECT_NEAR(roof.flopsPerSecond, 197e12 / 6, 1e6);
}

} // namespace pallascope::study
