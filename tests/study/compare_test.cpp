// Comparing two runs: where they part, and the values side by side.
#include "core/ir/builder.h"
#include "core/study/compare.h"
#include "tests/study/runs.h"

#include <nlohmann/json.hpp>

#include <source_location>

namespace pallascope::study {

namespace {

std::shared_ptr<const trace::Trace> run(const std::map<std::string, std::string>& changes,
                                        const char* chip = "tpu_v5e")
{
    std::map<std::string, std::string> all{{"m", "256"},  {"n", "256"},  {"k", "512"},
                                           {"bm", "128"}, {"bn", "128"}, {"bk", "128"}};
    for (const auto& [name, value] : changes) {
        all[name] = value;
    }
    return neededRun(programOf("matmul", all), chipNamed(chip));
}

Comparison compared(const trace::Trace& a, const trace::Trace& b)
{
    const Result<Comparison> comparison = compare(a, b);
    EXPECT_TRUE(comparison);
    return *comparison;
}

} // namespace

TEST(Comparing, aRunWithItselfFindsNoDifference)
{
    const auto trace = run({});
    const Comparison same = compared(*trace, *run({}));
    EXPECT_FALSE(same.parting);
    EXPECT_NE(toText(same).find("They are the same"), std::string::npos);
    EXPECT_TRUE(nlohmann::json::parse(toJson(same))["parting"].is_null());
}

TEST(Comparing, otherBlocksPartAtTheFirstCopyThatDiffers)
{
    // In both runs, steps 0 to 3 are the steps of k for (i, j) = (0, 0). After them comes the next
    // j in one run and the next i in the other.
    const Comparison order = compared(*run({}), *run({{"order", "jik"}}));
    ASSERT_TRUE(order.parting);
    EXPECT_EQ(order.parting->what, Parting::What::Copy);
    EXPECT_EQ(order.parting->operand, "x");
    EXPECT_EQ(order.parting->step, trace::StepRow{3}); // it fetches for step 4
    EXPECT_EQ(order.parting->block, "0,0");
    EXPECT_NE(order.parting->b.find("x(1,0)"), std::string::npos) << order.parting->b;
    const Comparison wide = compared(*run({}), *run({{"bn", "256"}}));
    ASSERT_TRUE(wide.parting);
    EXPECT_EQ(wide.parting->operand, "y");
    EXPECT_FALSE(wide.parting->step);
    EXPECT_NE(toText(wide).find("B moves y(0,0) into slot 0, 64 KiB"), std::string::npos)
        << toText(wide);
}

TEST(Comparing, aRunThatGoesOnLongerPartsWhereTheOtherHasNoMore)
{
    const Comparison longer = compared(*run({{"k", "128"}}), *run({{"k", "128"}, {"n", "512"}}));
    ASSERT_TRUE(longer.parting);
    EXPECT_EQ(longer.parting->what, Parting::What::Copy);
    EXPECT_GT(longer.b.time, longer.a.time);
}

TEST(Comparing, anotherChipPartsInTimeOnly)
{
    const Comparison chips = compared(*run({}), *run({}, "tpu_v6e"));
    ASSERT_TRUE(chips.parting);
    EXPECT_EQ(chips.parting->what, Parting::What::Time);
    EXPECT_EQ(chips.parting->operand, "x"); // its first copy ends sooner
    EXPECT_GT(chips.parting->timeA, chips.parting->timeB);
    const auto json = nlohmann::json::parse(toJson(chips));
    EXPECT_EQ(json["parting"]["what"], "time");
    EXPECT_DOUBLE_EQ(json["values"]["time_s"]["ratio"].get<double>(),
                     json["values"]["time_s"]["b"].get<double>()
                         / json["values"]["time_s"]["a"].get<double>());
}

TEST(Comparing, saysWhichIsFasterAndWhetherItIsSure)
{
    const Comparison far = compared(*run({{"k", "256"}}), *run({{"k", "4096"}}));
    const auto json = nlohmann::json::parse(toJson(far));
    const nlohmann::json& faster = json["faster"];
    EXPECT_EQ(faster["run"], "a");
    EXPECT_DOUBLE_EQ(faster["times"].get<double>(), ratio(far.b.time, far.a.time));
    ASSERT_TRUE(far.a.band && far.a.band->support.ratio);
    EXPECT_EQ(faster["ratio"], *far.a.band->support.ratio);
    EXPECT_LT(faster["low"].get<double>(), faster["times"].get<double>());
    EXPECT_GT(faster["low"].get<double>(), 1);
    EXPECT_EQ(faster["surely"], true);
    EXPECT_NE(toText(far).find("times as fast as B, surely: "), std::string::npos) << toText(far);
    EXPECT_NE(toText(far).find("as ratios of 4 timings of products are off by up to"),
              std::string::npos);
    EXPECT_EQ(json["values"]["time_low_s"]["b"], toSeconds(far.b.band->low).value());
    EXPECT_EQ(json["values"]["time_high_s"]["a"], toSeconds(far.a.band->high).value());
    EXPECT_EQ(json["values"]["time_support"]["a"]["work"], "products");
    EXPECT_NE(toText(far).find("  from  "), std::string::npos);
    const Comparison near =
        compared(*run({{"k", "4096"}, {"bk", "1024"}}), *run({{"k", "4096"}, {"bk", "512"}}));
    ASSERT_NE(near.a.time, near.b.time);
    EXPECT_EQ(nlohmann::json::parse(toJson(near))["faster"]["surely"], false);
    EXPECT_NE(toText(near).find("which is within what the model cannot tell apart"),
              std::string::npos);
}

TEST(Comparing, onAnotherChipBothBandsTellWhichIsFaster)
{
    const Comparison chips = compared(*run({}), *run({}, "tpu_v6e"));
    const auto faster = nlohmann::json::parse(toJson(chips))["faster"];
    EXPECT_EQ(faster["run"], "b");
    EXPECT_TRUE(faster["ratio"].is_null());
    EXPECT_NEAR(faster["low"].get<double>(), ratio(chips.a.band->low, chips.b.band->high), 1e-4);
    EXPECT_NEAR(faster["high"].get<double>(), ratio(chips.a.band->high, chips.b.band->low), 1e-4);
    EXPECT_NE(toText(chips).find("as they are of different chips"), std::string::npos);
}

TEST(Comparing, withoutBandsOrWithoutADifferenceNothingIsFasterForSure)
{
    Comparison none = compared(*run({}), *run({{"n", "512"}}));
    none.b.band.reset();
    const auto json = nlohmann::json::parse(toJson(none));
    EXPECT_EQ(json["faster"]["run"], "a");
    EXPECT_TRUE(json["faster"]["surely"].is_null());
    EXPECT_TRUE(json["values"]["time_low_s"]["b"].is_null());
    EXPECT_NE(toText(none).find("; no timings say how far that is off."), std::string::npos);
    const Comparison same = compared(*run({}), *run({}));
    EXPECT_TRUE(nlohmann::json::parse(toJson(same))["faster"]["run"].is_null());
    EXPECT_NE(toText(same).find("A and B take equally long."), std::string::npos);
}

TEST(Comparing, namesTheFindingsAndTheWrongResultOfARun)
{
    Comparison faulty = compared(*run({}), *run({{"order", "kij"}}));
    ASSERT_EQ(faulty.faultsB.findings.size(), 1U);
    const std::string text = toText(faulty);
    EXPECT_NE(text.find("B  finding output_revisited: "), std::string::npos) << text;
    EXPECT_NE(text.find("B may not do what it should, so take the times with care."),
              std::string::npos);
    EXPECT_EQ(text.find("A  finding"), std::string::npos);
    auto faults = nlohmann::json::parse(toJson(faulty))["faults"];
    EXPECT_EQ(faults["b"]["findings"][0]["kind"], "output_revisited");
    EXPECT_TRUE(faults["a"]["findings"].empty());
    EXPECT_TRUE(faults["a"]["passed"].is_null());
    faulty.faultsA.check.checked = true;
    EXPECT_NE(toText(faulty).find("A  its result is wrong\n"), std::string::npos);
    EXPECT_NE(toText(faulty).find("A and B may not do what they should"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(toJson(faulty))["faults"]["a"]["passed"], false);
    const Comparison sound = compared(*run({}), *run({{"bn", "256"}}));
    EXPECT_EQ(toText(sound).find("with care"), std::string::npos);
}

TEST(Comparing, countsInWholeNumbers)
{
    const auto values = nlohmann::json::parse(toJson(compared(*run({}), *run({}))))["values"];
    for (const char* const key : {"steps", "hbm_read_bytes", "vmem_peak_bytes"}) {
        EXPECT_TRUE(values[key]["a"].is_number_integer()) << key;
    }
    EXPECT_TRUE(values["utilization"]["a"].is_number_float());
}

// The same operations at the same times, which add more to a semaphore and take as much.
TEST(Comparing, runsMayPartAtASemaphoreAlone)
{
    const auto signalling = [](std::int32_t amount) {
        const auto kernel = [amount](pl::Ref) {
            pl::runScoped({pl::semaphores("ready")}, [&](const std::vector<pl::Ref>& refs) {
                pl::semaphoreSignal(refs[0], amount);
                pl::semaphoreWait(refs[0], amount);
                return std::vector<pl::Value>();
            });
        };
        return neededRun(
            pl::kernel("signalling", {pl::in("x", DType::F32, {8, 128})}, kernel).value(),
            chipNamed("tpu_v5e"));
    };
    const Comparison one = compared(*signalling(1), *signalling(2));
    ASSERT_TRUE(one.parting);
    EXPECT_EQ(one.parting->what, Parting::What::Signal);
    EXPECT_NE(toText(one).find("They part at a semaphore: A has ready + 1 of TensorCore 0; B has "
                               "ready + 2 of TensorCore 0"),
              std::string::npos)
        << toText(one);
    EXPECT_EQ(nlohmann::json::parse(toJson(one))["parting"]["what"], "signal");
    EXPECT_FALSE(compared(*signalling(1), *signalling(1)).parting);
}

// The names of operations would not tell an author where to look.
TEST(Comparing, otherOperationsPartAtALine)
{
    std::uint_least32_t line = 0;
    const auto changing = [&](bool adds) {
        const auto kernel = [&](pl::Ref) {
            pl::runScoped({{"kept", DType::F32, {8, 128}}}, [&](const std::vector<pl::Ref>& refs) {
                refs[0][pl::all] = pl::full({8, 128}, 1, DType::F32);
                const pl::Value all = refs[0][pl::all].load();
                line = std::source_location::current().line() + 1;
                refs[0][pl::all] = adds ? all + 1 : all * 2;
                return std::vector<pl::Value>();
            });
        };
        return neededRun(
            pl::kernel("changing", {pl::in("x", DType::F32, {8, 128})}, kernel).value(),
            chipNamed("tpu_v5e"));
    };
    const Comparison one = compared(*changing(true), *changing(false));
    ASSERT_TRUE(one.parting);
    EXPECT_EQ(one.parting->what, Parting::What::Work);
    EXPECT_TRUE(one.parting->sourceA.ends_with("compare_test.cpp:" + std::to_string(line)))
        << one.parting->sourceA;
    EXPECT_EQ(one.parting->sourceB, one.parting->sourceA);
    EXPECT_NE(toText(one).find("they have other operations for " + one.parting->sourceA),
              std::string::npos)
        << toText(one);
    EXPECT_EQ(nlohmann::json::parse(toJson(one))["parting"]["source_a"], one.parting->sourceA);
}

TEST(Comparing, operationsThatFollowTheirLikeAreCounted)
{
    const auto adding = [](int times) {
        const auto kernel = [times](pl::Ref) {
            pl::runScoped({{"kept", DType::F32, {8, 128}}}, [&](const std::vector<pl::Ref>& refs) {
                pl::Value sum = pl::full({8, 128}, 1, DType::F32);
                for (int i = 0; i < times; ++i) {
                    sum = sum + sum;
                }
                refs[0][pl::all] = sum;
                return std::vector<pl::Value>();
            });
        };
        return neededRun(pl::kernel("adding", {pl::in("x", DType::F32, {8, 128})}, kernel).value(),
                         chipNamed("tpu_v5e"));
    };
    const Comparison one = compared(*adding(3), *adding(1));
    ASSERT_TRUE(one.parting);
    EXPECT_NE(one.parting->a.find("3 × add"), std::string::npos) << one.parting->a;
    EXPECT_EQ(one.parting->b.find("×"), std::string::npos) << one.parting->b;
}

TEST(Comparing, otherKernelsPartAtWhatTheyCompute)
{
    const std::map<std::string, std::string> whole{{"shape", "1024"}, {"dtype", "f32"}};
    const auto sum = neededRun(programOf("add_vectors", whole), chipNamed("tpu_v5e"));
    const Comparison kernels = compared(*sum, *run({}));
    ASSERT_TRUE(kernels.parting);
    EXPECT_NE(kernels.titleA.find("TPU v5e"), std::string::npos);
    EXPECT_NE(toText(kernels).find("They part"), std::string::npos);
}

} // namespace pallascope::study
