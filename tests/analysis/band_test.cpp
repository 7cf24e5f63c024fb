// The band of a time, which depends on the kind of work and on the timings of it that the chip's
// file knows.
#include "core/analysis/band.h"
#include "tests/chip/chip_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pallascope::analysis_test {

using analysis::Band;
using analysis::Report;

namespace {

Result<chip::Chip> withResiduals(const nlohmann::json& residuals)
{
    nlohmann::json file = nlohmann::json::parse(chip::v5eText());
    file["residuals"] = residuals;
    return chip::parse(file.dump(), "my.json");
}

nlohmann::json residual(const std::string& work, double low, double high)
{
    return {{"work", work}, {"rows", 7}, {"low", low}, {"high", high}, {"source", "a test"}};
}

Report ofWork(std::int64_t flops, std::int64_t transcendentals)
{
    Report report;
    report.time = Picoseconds(1'000'000);
    report.flopsByUnit = {{"VPU", Flops(1'000'000)}};
    if (flops > 0) {
        report.flopsByUnit.emplace_back("MXU", Flops(flops));
    }
    report.transcendentals = transcendentals;
    return report;
}

} // namespace

TEST(Bands, tellKindsOfWorkByFlopsForEachTranscendental)
{
    const chip::Chip chip = withResiduals(nlohmann::json::array()).value();
    EXPECT_EQ(analysis::workOf(ofWork(2048 * 100, 100), chip), "attention");
    EXPECT_EQ(analysis::workOf(ofWork(2048 * 100 + 1, 100), chip), "products");
    EXPECT_EQ(analysis::workOf(ofWork(1, 0), chip), "products");
    EXPECT_EQ(analysis::workOf(ofWork(0, 100), chip), "other");
}

TEST(Bands, areThoseOfTheTimingsOfSuchWork)
{
    const chip::Chip chip =
        withResiduals({residual("products", -0.02, 0.1), residual("other", -0.3, 0.5)}).value();
    const std::optional<Band> products = analysis::bandOf(ofWork(1, 0), chip);
    ASSERT_TRUE(products);
    EXPECT_EQ(products->low, Picoseconds(980'000));
    EXPECT_EQ(products->high, Picoseconds(1'100'000));
    EXPECT_EQ(products->support.work, "products");
    EXPECT_EQ(products->support.rows, 7);
    EXPECT_EQ(products->support.source, "a test");
    EXPECT_FALSE(products->support.ratio);
    // Work of a kind without timings gets the band of other work.
    const std::optional<Band> attention = analysis::bandOf(ofWork(100, 100), chip);
    ASSERT_TRUE(attention);
    EXPECT_EQ(attention->high, Picoseconds(1'500'000));
    EXPECT_EQ(attention->support.work, "other");
    EXPECT_EQ(attention->work, "attention");
}

TEST(Bands, mayKnowHowFarRatiosAreOff)
{
    nlohmann::json one = residual("products", -0.02, 0.1);
    one["ratio"] = 0.07;
    const chip::Chip chip = withResiduals(nlohmann::json::array({one})).value();
    EXPECT_EQ(analysis::bandOf(ofWork(1, 0), chip)->support.ratio, 0.07);
}

TEST(Bands, areAbsentWhereTheChipKnowsOfNoTiming)
{
    EXPECT_FALSE(analysis::bandOf(ofWork(1, 0), withResiduals(nlohmann::json::array()).value()));
    const chip::Chip chip =
        withResiduals(nlohmann::json::array({residual("attention", -0.1, 0.1)})).value();
    EXPECT_FALSE(analysis::bandOf(ofWork(1, 0), chip));
}

TEST(Bands, ofChipFilesAreChecked)
{
    const auto sentence = [](const nlohmann::json& one) {
        const Result<chip::Chip> chip = withResiduals(nlohmann::json::array({one}));
        return chip ? "" : chip.error().message;
    };
    EXPECT_NE(sentence(residual("sorting", -0.1, 0.1)).find("products, attention or other"),
              std::string::npos);
    EXPECT_NE(sentence(residual("other", 0.1, 0.1)).find("a share from -0.99 to 0"),
              std::string::npos);
    EXPECT_NE(sentence(residual("other", -0.1, -0.1)).find("a share from 0 to 100"),
              std::string::npos);
    nlohmann::json off = residual("other", -0.1, 0.1);
    off["ratio"] = -0.1;
    EXPECT_NE(sentence(off).find("/residuals/0/ratio"), std::string::npos) << sentence(off);
    EXPECT_NE(sentence(off).find("a share from 0 to 100"), std::string::npos);
}

} // namespace pallascope::analysis_test
