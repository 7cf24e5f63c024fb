// Predictions beside measured times: errors by family, and holding them to what is expected.
#include "core/study/validation.h"
#include "resources/validation_files.h"
#include "tests/study/runs.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <set>

namespace pallascope::study {

namespace {

ValidationRow rowOf(const std::string& family, double measured, double predicted)
{
    ValidationRow row;
    row.measured.family = family;
    row.measured.kernel = "k";
    row.measured.measured = Seconds(measured);
    row.time = toPicoseconds(Seconds(predicted));
    return row;
}

ValidationRow failed(const std::string& family)
{
    ValidationRow row = rowOf(family, 1, 0);
    row.error = "It cannot run.";
    return row;
}

Measurement smallProduct(const std::string& n, double seconds)
{
    return {.family = "products",
            .chip = "tpu_v5e",
            .kernel = "matmul",
            .parameters =
                {{"m", "256"}, {"n", n}, {"k", "256"}, {"bm", "128"}, {"bn", "128"}, {"bk", "128"}},
            .measured = Seconds(seconds)};
}

ValidationPlan planOf(std::vector<Measurement> measurements)
{
    ValidationPlan plan{std::move(measurements), {}, {}};
    plan.subject = [](const Measurement& row) -> Result<ValidationSubject> {
        if (row.kernel != "matmul") {
            return userError("There is no such kernel.");
        }
        return ValidationSubject{programOf(row.kernel, row.parameters), chipNamed(row.chip), {}};
    };
    return plan;
}

std::string_view embeddedText(const std::string& name)
{
    for (const resources::EmbeddedFile& file : resources::validationFiles()) {
        if (file.name == name) {
            return file.text;
        }
    }
    return "";
}

} // namespace

TEST(Validation, errorsAreByFamilyInTheOrderOfTheTable)
{
    const std::vector<ValidationRow> rows = {rowOf("b", 1, 1.1), rowOf("a", 1, 0.8),
                                             rowOf("b", 2, 1.8), failed("a"),
                                             rowOf("b", 10, 12), rowOf("b", 1, 1)};
    const std::vector<FamilyErrors> errors = errorsByFamily(rows);
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0].family, "b");
    EXPECT_EQ(errors[0].rows, 4);
    EXPECT_EQ(errors[0].ran, 4);
    EXPECT_NEAR(errors[0].meanAbsolute, 0.1, 1e-9); // 10, -10, 20 and 0 %
    EXPECT_NEAR(errors[0].median, 0.05, 1e-9);
    EXPECT_NEAR(errors[0].worst, 0.2, 1e-9);
    EXPECT_EQ(errors[0].near, 3);
    EXPECT_EQ(errors[1].family, "a");
    EXPECT_EQ(errors[1].rows, 2);
    EXPECT_EQ(errors[1].ran, 1);
    EXPECT_NEAR(errors[1].meanAbsolute, 0.2, 1e-9);
    EXPECT_NEAR(errors[1].worst, -0.2, 1e-9);
    EXPECT_NEAR(errorsOfAll(rows).meanAbsolute, 0.12, 1e-9);
}

TEST(Validation, whatPassesOutsideTheDeviceIsAddedToThePrediction)
{
    ValidationRow row = rowOf("a", 3, 2);
    row.measured.host = Seconds(1);
    EXPECT_NEAR(row.off(), 0, 1e-9);
    EXPECT_FALSE(row.isInBand());
    row.band = analysis::Band{toPicoseconds(Seconds(1.9)), toPicoseconds(Seconds(2.1)), {}};
    EXPECT_EQ(row.isInBand(), std::optional(true));
    row.measured.measured = Seconds(3.2);
    EXPECT_EQ(row.isInBand(), std::optional(false));
    row.measured.measured = Seconds(2.8);
    EXPECT_EQ(row.isInBand(), std::optional(false));
}

TEST(Validation, aFamilyMayBeHalfAPointFartherOffAndNoMore)
{
    const Expectation expectation{{"a", {1, 0.10}}};
    EXPECT_TRUE(disagreements(expectation, errorsByFamily({rowOf("a", 1, 1.1049)}), "e").empty());
    EXPECT_TRUE(disagreements(expectation, errorsByFamily({rowOf("a", 1, 1.01)}), "e").empty());
    const auto worse =
        disagreements(expectation, errorsByFamily({rowOf("a", 1, 1.1051)}), "e.json");
    ASSERT_EQ(worse.size(), 1U);
    EXPECT_EQ(worse[0], "The family a is 10.51 % off, which is more than half a point above the "
                        "10.00 % of e.json.");
}

TEST(Validation, aMissingSampleIsADisagreement)
{
    const Expectation expectation{{"a", {2, 0.5}}, {"b", {1, 0.5}}};
    const auto says = [&](const std::vector<ValidationRow>& rows) {
        return disagreements(expectation, errorsByFamily(rows), "e.json");
    };
    const ValidationRow a = rowOf("a", 1, 1), b = rowOf("b", 1, 1);
    EXPECT_TRUE(says({a, a, b}).empty());
    EXPECT_EQ(says({a, a}),
              std::vector<std::string>{"The family b, which e.json names, has no rows in the "
                                       "table."});
    EXPECT_EQ(says({a, failed("a"), b}),
              std::vector<std::string>{"Of the family a 1 row could be predicted, of 2 that e.json "
                                       "names."});
    EXPECT_EQ(says({a, a, a, b}).size(), 1U);
    EXPECT_EQ(says({}).size(), 2U);
    EXPECT_EQ(says({a, a, b, rowOf("c", 1, 1)}),
              std::vector<std::string>{"The family c is not in e.json, so nothing holds it; "
                                       "--write-expected records it."});
}

TEST(Validation, whatIsExpectedReadsBack)
{
    const Expectation expectation =
        expectationOf(errorsByFamily({rowOf("a", 1, 1.25), rowOf("b", 1, 1), failed("b")}));
    EXPECT_EQ(expectation.at("b").rows, 1);
    const auto read = expectationFrom(toJson(expectation), "e");
    ASSERT_TRUE(read);
    ASSERT_EQ(read->size(), 2U);
    EXPECT_NEAR(read->at("a").meanAbsolute, 0.25, 1e-9);
    EXPECT_EQ(read->at("b").rows, 1);
}

TEST(Validation, damagedExpectationsAreRefused)
{
    const std::string sound = toJson(Expectation{{"a", {1, 0.1}}});
    for (const auto& [from, to] :
         std::vector<std::pair<std::string, std::string>>{{"expected_errors", "other"},
                                                          {": 1,", ": 2,"},
                                                          {"\"rows\": 1", "\"rows\": -1"},
                                                          {"10.0", "-10.0"},
                                                          {"10.0", "\"x\""},
                                                          {"\"rows\"", "\"row\""},
                                                          {"{", "["},
                                                          {"10.0", "[[[[[[[[[["}}) {
        std::string text = sound;
        text.replace(text.find(from), from.size(), to);
        const auto read = expectationFrom(text, "e.json");
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().message.find("e.json"), 0U) << read.error().message;
    }
}

TEST(Validation, predictionsAreThoseOfSingleRunsAndKeepTheirOrder)
{
    const ValidationPlan plan =
        planOf({smallProduct("256", 1e-3),
                smallProduct("512", 1e-3),
                {.family = "no", .kernel = "none", .measured = Seconds(1)}});
    const auto rows = validate(plan, {.threads = 3});
    ASSERT_EQ(rows.size(), 3U);
    for (const std::size_t i : {0U, 1U}) {
        const auto run =
            neededRun(programOf("matmul", plan.measurements[i].parameters), chipNamed("tpu_v5e"));
        ASSERT_TRUE(rows[i]);
        EXPECT_EQ(rows[i]->error, "");
        EXPECT_EQ(rows[i]->time, run->end());
        EXPECT_TRUE(rows[i]->band);
    }
    EXPECT_EQ(rows[2]->error, "There is no such kernel.");
}

TEST(Validation, aRunThatEndsEarlyIsNoPrediction)
{
    ValidationPlan plan = planOf({smallProduct("256", 1)});
    plan.subject = [](const Measurement&) -> Result<ValidationSubject> {
        ir::Program program = programOf("add_by_hand", {{"rows", "64"}, {"block", "16"}});
        // The last operation of the body waits for something that nobody starts.
        ir::Operation wait;
        for (const ir::Operation& operation :
             program.body.operations.front().regions.front().operations) {
            wait = operation.code == ir::OpCode::DmaWait ? operation : wait;
        }
        program.body.operations.front().regions.front().operations.push_back(wait);
        return ValidationSubject{std::move(program), chipNamed("tpu_v5e"), {}};
    };
    const auto rows = validate(plan, {});
    ASSERT_TRUE(rows[0]);
    EXPECT_NE(rows[0]->error.find("ends before the kernel does"), std::string::npos)
        << rows[0]->error;
    EXPECT_NE(rows[0]->error.find("deadlock"), std::string::npos) << rows[0]->error;
}

TEST(Validation, stopsWhenToldTo)
{
    std::atomic<int> asked{0};
    ValidationOptions options{.threads = 1};
    options.goesOn = [&] { return ++asked < 3; };
    const auto rows =
        validate(planOf(std::vector<Measurement>(100, smallProduct("256", 1))), options);
    EXPECT_FALSE(rows.back());
}

TEST(Validation, csvAndJsonHaveEveryRow)
{
    ValidationRow row = rowOf("a, b", 0.002, 0.0021);
    row.chip = "tpu_v5e";
    row.measured.parameters = {{"m", "1"}, {"n", "2"}};
    row.measured.host = Seconds(0.0001);
    row.band = analysis::Band{toPicoseconds(Seconds(0.001)), toPicoseconds(Seconds(0.003)), {}};
    const std::string csv = toCsv({row, failed("c")});
    EXPECT_EQ(csv.substr(csv.find('\n') + 1),
              "0,\"a, b\",tpu_v5e,k,m=1 n=2,0.002,0.0001,0.0022,10,0.0011,0.0031,yes,,,,,\n"
              "0,c,,k,,1,0,,,,,,,,,,It cannot run.\n");
    const auto json = nlohmann::json::parse(toJson({row, failed("c")}, std::vector<std::string>()));
    EXPECT_EQ(json.at("rows").size(), 2U);
    EXPECT_DOUBLE_EQ(json.at("rows")[0].at("off_percent").get<double>(), 10);
    EXPECT_EQ(json.at("rows")[1].at("error"), "It cannot run.");
    EXPECT_TRUE(json.at("as_expected").get<bool>());
    EXPECT_TRUE(nlohmann::json::parse(toJson({row}, std::nullopt)).at("as_expected").is_null());
}

TEST(PublishedTimings, haveSourcesAndNameFilesThatAreThere)
{
    const auto rows = measurementsFrom(std::string(embeddedText("published.csv")), "published.csv");
    ASSERT_TRUE(rows) << rows.error().message;
    std::set<std::string> used = {"published.csv", "expected.json"};
    for (const Measurement& row : *rows) {
        SCOPED_TRACE(row.line);
        EXPECT_EQ(row.source.find("https://"), 0U);
        EXPECT_FALSE(row.published.empty());
        EXPECT_NE(chipNamed(row.chip).name, "");
        if (kernels::find(row.kernel) == nullptr) {
            EXPECT_NE(embeddedText(row.kernel), "");
            used.insert(row.kernel);
        }
    }
    for (const resources::EmbeddedFile& file : resources::validationFiles()) {
        EXPECT_TRUE(used.contains(std::string(file.name))) << file.name;
    }
    EXPECT_TRUE(expectationFrom(std::string(embeddedText("expected.json")), "expected.json"));
}

} // namespace pallascope::study
