// The roof of a product is the rate at which the matrix unit runs it: every dtype that JAX lowers
// on every chip with a matrix unit.
#include "core/analysis/report.h"
#include "core/ir/builder.h"
#include "tests/study/runs.h"

namespace pallascope::study {

namespace {

const std::map<std::string, std::string> kSmall{{"m", "256"},  {"n", "256"},  {"k", "256"},
                                                {"bm", "128"}, {"bn", "128"}, {"bk", "128"}};

analysis::Roof roofOf(const std::string& chip, const std::string& dtype)
{
    std::map<std::string, std::string> parameters = kSmall;
    parameters["dtype"] = dtype;
    const auto trace = neededRun(programOf("matmul", parameters), chipNamed(chip));
    return analysis::report(*trace).value().roofline.peak.value();
}

struct Expected
{
    std::string dtype, runsAs;
    double teraflops = 0;
};

} // namespace

TEST(Roofs, areThoseOfWhatTheMatrixUnitRunsAProductAs)
{
    const std::map<std::string, std::vector<Expected>> all{
        {"tpu_v4", {{"f32", "bf16", 275}, {"bf16", "bf16", 275}, {"f8e4m3fn", "bf16", 275}}},
        {"tpu_v5e",
         {{"f32", "bf16", 197},
          {"f16", "bf16", 197},
          {"bf16", "bf16", 197},
          {"f8e4m3fn", "bf16", 197},
          {"int8", "int8", 394},
          {"uint8", "uint8", 394},
          {"int4", "int4", 788}}},
        {"tpu_v5p",
         {{"f32", "bf16", 459},
          {"bf16", "bf16", 459},
          {"f8e4m3fn", "bf16", 459},
          {"int8", "int8", 918},
          {"int4", "int4", 1840}}},
        {"tpu_v6e",
         {{"f32", "bf16", 918},
          {"bf16", "bf16", 918},
          {"f8e4m3fn", "bf16", 918},
          {"f8e5m2", "f8e5m2", 920},
          {"int8", "int8", 1836},
          {"int4", "int4", 3680}}},
        {"tpu_v7x",
         {{"f32", "bf16", 2307. / 2},
          {"bf16", "bf16", 2307. / 2},
          {"f8e4m3fn", "f8e4m3fn", 4614. / 2},
          {"f8e5m2", "f8e5m2", 4614. / 2}}}};
    for (const auto& [chip, rows] : all) {
        for (const Expected& expected : rows) {
            const analysis::Roof roof = roofOf(chip, expected.dtype);
            EXPECT_EQ(roof.name, expected.runsAs + " MXU") << chip << " " << expected.dtype;
            EXPECT_NEAR(roof.flopsPerSecond, expected.teraflops * 1e12, 1e6)
                << chip << " " << expected.dtype;
        }
    }
}

TEST(Roofs, ofPassesAreAsMuchLower)
{
    const auto kernel = [](pl::Ref xHbm, pl::Ref outHbm) {
        const auto body = [](pl::Ref x, pl::Ref out) {
            const pl::Value loaded = x[pl::all].load();
            out[pl::all] = pl::dotGeneral(
                loaded, loaded, {{1}, {0}, {}, {}, DType::F32, ir::DotPrecision::Highest});
        };
        const auto whole = pl::block({128, 128}, [](auto) { return pl::at(0, 0); });
        pl::emitPipeline({.grid = {1}, .in = {whole}, .out = {whole}}, body)(xHbm, outHbm);
    };
    const Shape shape{128, 128};
    const ir::Program program =
        pl::kernel("highest", {pl::in("x", DType::F32, shape), pl::out("out", DType::F32, shape)},
                   kernel)
            .value();
    const auto trace = neededRun(program, chipNamed("tpu_v5e"));
    const analysis::Roof roof = analysis::report(*trace).value().roofline.peak.value();
    EXPECT_EQ(roof.name, "bf16 x 6 MXU");
    EXPECT_NEAR(roof.flopsPerSecond, 197e12 / 6, 1e6);
}

} // namespace pallascope::study
