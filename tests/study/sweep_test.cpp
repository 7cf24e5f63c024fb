// Sweeps: their rows, their files, going on with a saved one, and ranges of parameters.
#include "core/analysis/band.h"
#include "core/ir/builder.h"
#include "core/study/sweep.h"
#include "core/study/sweep_file.h"
#include "core/study/trial.h"
#include "tests/study/runs.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstring>

namespace pallascope::study {

namespace {

using Values = std::vector<std::string>;

Values valuesOf(const std::string& text)
{
    const Result<Axis> axis = parseAxis(text);
    EXPECT_TRUE(axis) << text << (axis ? "" : ": " + axis.error().message);
    return axis ? axis->values : Values();
}

SweepPlan smallPlan(std::atomic<int>* built = nullptr)
{
    SweepPlan plan;
    plan.axes = {*parseAxis("bm=64:256:*2"), *parseAxis("buffers=1,2")};
    plan.chips = {chipNamed("tpu_v5e"), chipNamed("tpu_v6e")};
    plan.build = [built](const Parameters& parameters) -> Result<ir::Program> {
        if (built != nullptr) {
            ++*built;
        }
        Parameters all{{"m", "512"}, {"n", "256"}, {"k", "256"}, {"bn", "128"}, {"bk", "128"}};
        all.insert(parameters.begin(), parameters.end());
        const kernels::Kernel* kernel = kernels::find("matmul");
        const Result<kernels::Arguments> arguments = kernels::arguments(*kernel, all);
        return arguments ? kernel->build(*arguments) : Result<ir::Program>(arguments.error());
    };
    return plan;
}

std::vector<SweepRow> rowsOf(const SweepPlan& plan, const SweepOptions& options)
{
    const auto rows = sweep(plan, options);
    EXPECT_TRUE(rows);
    std::vector<SweepRow> result;
    for (const auto& row : *rows) {
        EXPECT_TRUE(row.has_value());
        result.push_back(row.value_or(SweepRow{}));
    }
    return result;
}

} // namespace

TEST(Ranges, areGeometricArithmeticOrLists)
{
    EXPECT_EQ(valuesOf("bm=128:1024:*2"), (Values{"128", "256", "512", "1024"}));
    EXPECT_EQ(valuesOf("bm=128:1000:*2"), (Values{"128", "256", "512"}));
    EXPECT_EQ(valuesOf("bm=128:512:+128"), (Values{"128", "256", "384", "512"}));
    EXPECT_EQ(valuesOf("bm=1:3"), (Values{"1", "2", "3"}));
    EXPECT_EQ(valuesOf("bm=7:7:*2"), (Values{"7"}));
    EXPECT_EQ(valuesOf("x=-2:2:+2"), (Values{"-2", "0", "2"}));
    EXPECT_EQ(valuesOf("dtype=f32,bf16"), (Values{"f32", "bf16"}));
    EXPECT_EQ(valuesOf("m=4096"), (Values{"4096"}));
    EXPECT_EQ(valuesOf("m=9223372036854775806:9223372036854775807"),
              (Values{"9223372036854775806", "9223372036854775807"}));
}

TEST(Ranges, thatAreNoneAreRefusedWithAnExample)
{
    for (const char* text :
         {"", "bm", "=1:2", "bm=", "bm=4:2", "bm=1:8:*1", "bm=0:8:*2", "bm=1:8:*", "bm=1:8:2",
          "bm=1:8:+0", "bm=1:8:+-1", "bm=a:b", "bm=1:2:+1:1", "bm=1,,2", "bm=1:99999999",
          "bm=1:2.5", "bm=1:99999999999999999999"}) {
        const Result<Axis> axis = parseAxis(text);
        ASSERT_FALSE(axis) << text;
        EXPECT_EQ(axis.error().kind, ErrorKind::User);
        EXPECT_NE(axis.error().message.find("bm=128:1024:*2"), std::string::npos)
            << axis.error().message;
    }
}

TEST(Sweep, rowsAreTheRunsOfTheirCombinationsInOrder)
{
    const SweepPlan plan = smallPlan();
    const std::vector<SweepRow> rows = rowsOf(plan, {.threads = 3});
    ASSERT_EQ(rows.size(), 12U);
    EXPECT_EQ(rows[0].parameters, (Parameters{{"bm", "64"}, {"buffers", "1"}}));
    EXPECT_EQ(rows[1].chip, "tpu_v6e");
    EXPECT_EQ(rows[2].parameters, (Parameters{{"bm", "64"}, {"buffers", "2"}}));
    EXPECT_EQ(rows[11].parameters, (Parameters{{"bm", "256"}, {"buffers", "2"}}));
    for (const SweepRow& row : rows) {
        const Result<ir::Program> program = plan.build(row.parameters);
        const auto trace = neededRun(*program, chipNamed(row.chip));
        const Result<analysis::Report> report = analysis::report(*trace);
        ASSERT_TRUE(report);
        EXPECT_EQ(row.time, report->time);
        EXPECT_EQ(row.boundBy, toString(report->boundBy));
        EXPECT_EQ(row.vmem, report->vmemPeak);
        EXPECT_EQ(row.steps, report->steps);
        // x is [512, 256] bf16 and is read once for each of 2 columns of blocks of 128. y is [256,
        // 256] bf16 and is read once for each of 512 / bm rows of blocks.
        const std::int64_t again = std::stoll(row.parameters.at("bm"));
        EXPECT_EQ(row.refetched, Bytes(512 * 256 * 2 + (512 / again - 1) * 256 * 256 * 2));
    }
    EXPECT_EQ(rowsOf(plan, {.threads = 1}), rows);
}

// A scalar comes first, and the blocks of the pipeline in the other one's body are `rows` high.
// VMEM has two slots of 8 KiB of each pipeline's output, four of the inner blocks, and the scratch
// around both.
Result<ir::Program> nested(Extent rows)
{
    const auto spec = [](Extent height) {
        return pl::block({height, 128}, [](auto i) { return pl::at(i, 0); });
    };
    const auto kernel = [&](pl::Ref n, pl::Ref x, pl::Ref out) {
        pl::runScoped({{"sum", DType::F32, {16, 128}}}, [&](const std::vector<pl::Ref>& scratch) {
            pl::emitPipeline({.grid = {2}, .out = {spec(16)}}, [&](pl::Ref outer) {
                pl::emitPipeline({.grid = {2}, .in = {spec(rows)}}, [&](pl::Ref inner) {
                    scratch[0][pl::all] = inner[{pl::ds(0, 16), pl::all}];
                })(x);
                outer[pl::all] = scratch[0][pl::all] * n[0].load();
            })(out);
            return std::vector<pl::Value>();
        });
    };
    return pl::kernel("nested",
                      {pl::scalarPrefetch("n", DType::F32, {1}),
                       pl::in("x", DType::F32, {2 * rows, 128}),
                       pl::out("out", DType::F32, {32, 128})},
                      kernel);
}

TEST(Fit, isTheVmemOfTheReport)
{
    const ir::Program program = nested(32).value();
    const chip::Chip chip = chipNamed("tpu_v5e");
    const Bytes bytes((2 * 16 + 16 + 2 * 32) * 128 * 4);
    EXPECT_EQ(fit(program, chip)->bytes, bytes);
    EXPECT_EQ(quickRun(program, chip)->report.vmemPeak, bytes);
    // 256 MiB and more, of 128 MiB.
    const Fit large = fit(nested(1 << 18).value(), chip).value();
    EXPECT_FALSE(large.fits);
    EXPECT_EQ(large.bytes, Bytes((2 * 16 + 16 + (2 << 18)) * 128 * 4));
}

TEST(Sweep, saysOnceThatPipelinesInEachOtherAreOverTheLimit)
{
    SweepPlan plan;
    plan.axes = {*parseAxis("rows=24576")};
    plan.chips = {chipNamed("tpu_v5e")};
    plan.build = [](const Parameters& parameters) {
        return nested(std::stoll(parameters.at("rows")));
    };
    const SweepRow row = rowsOf(plan, {})[0];
    EXPECT_EQ(row.findings, Values{"over_scoped_limit"});
    EXPECT_EQ(row.vmem, Bytes((2 * 16 + 16 + 2 * 24576) * 128 * 4));
}

TEST(Sweep, combinationsThatCannotRunAreRowsThatSayWhy)
{
    SweepPlan plan = smallPlan();
    plan.axes = {*parseAxis("bm=0,100,256")};
    plan.chips = {chipNamed("tpu_v5e")};
    const std::vector<SweepRow> rows = rowsOf(plan, {});
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_NE(rows[0].error.find("bm"), std::string::npos) << rows[0].error;
    EXPECT_NE(rows[1].error.find("100"), std::string::npos) << rows[1].error;
    EXPECT_EQ(rows[2].error, "");
    EXPECT_GT(rows[2].time, Picoseconds(0));
    plan.build = [](const Parameters&) {
        return Result<ir::Program>(programOf("matmul", {{"m", "8192"},
                                                        {"n", "8192"},
                                                        {"k", "8192"},
                                                        {"bm", "4096"},
                                                        {"bn", "4096"},
                                                        {"bk", "4096"}}));
    };
    const SweepRow large = rowsOf(plan, {})[0];
    EXPECT_FALSE(large.fits);
    EXPECT_EQ(large.vmem, Bytes(256 << 20));
    EXPECT_EQ(large.error, "");
}

TEST(Sweep, rowsOfAnEarlierSweepAreNotRunAgain)
{
    std::atomic<int> built = 0;
    const SweepPlan plan = smallPlan(&built);
    const std::vector<SweepRow> rows = rowsOf(plan, {.threads = 2});
    EXPECT_EQ(built, 12);
    built = 0;
    SweepOptions options;
    options.done.assign(rows.begin(), rows.begin() + 5);
    options.done[0].time = Picoseconds(7); // shows that the row was taken over
    std::vector<SweepRow> expected = rows;
    expected[0].time = Picoseconds(7);
    EXPECT_EQ(rowsOf(plan, options), expected);
    EXPECT_EQ(built, 7);
}

TEST(Sweep, cancelledItKeepsTheRowsItHas)
{
    std::atomic<bool> isEnough = false;
    SweepOptions options{.threads = 2};
    options.progress = [&isEnough](const auto& rows, std::size_t newest, std::size_t finished) {
        EXPECT_EQ(rows.size(), 12U);
        EXPECT_TRUE(rows.at(newest).has_value());
        isEnough = finished >= 4;
    };
    options.goesOn = [&isEnough] { return !isEnough; };
    const auto rows = sweep(smallPlan(), options);
    ASSERT_TRUE(rows);
    const auto present =
        std::count_if(rows->begin(), rows->end(), [](const auto& row) { return row.has_value(); });
    EXPECT_GE(present, 4);
    EXPECT_LE(present, 5); // one row may have been under way
}

TEST(Sweep, cancelledItKeepsTheRowsThatItWasGiven)
{
    const std::vector<SweepRow> rows = rowsOf(smallPlan(), {});
    SweepOptions options{.done = {rows.end() - 5, rows.end()}};
    options.goesOn = [] { return false; };
    const auto kept = sweep(smallPlan(), options);
    ASSERT_TRUE(kept);
    EXPECT_FALSE(kept->front().has_value());
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ((*kept)[rows.size() - 5 + i], options.done[i]);
    }
}

TEST(Sweep, aRunThatIsCutShortIsCancelledAndNotWrong)
{
    const ir::Program program =
        programOf("matmul", {{"m", "2048"}, {"bm", "128"}, {"bn", "128"}, {"bk", "128"}});
    const Result<Outcome> outcome =
        quickRun(program, chipNamed("tpu_v5e"), {}, {}, [] { return false; });
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, ErrorKind::Cancelled);
}

TEST(Sweep, aLongRowIsCutShort)
{
    SweepPlan plan = smallPlan();
    plan.axes = {*parseAxis("bm=128")};
    plan.chips = {chipNamed("tpu_v5e")};
    plan.build = [](const Parameters& parameters) {
        return Result<ir::Program>(programOf(
            "matmul", {{"m", "2048"}, {"bm", parameters.at("bm")}, {"bn", "128"}, {"bk", "128"}}));
    };
    int asked = 0;
    SweepOptions options{.threads = 1};
    options.goesOn = [&asked] { return ++asked < 2; };
    options.progress = [](const auto& /*rows*/, std::size_t, std::size_t) { ADD_FAILURE(); };
    const auto rows = sweep(plan, options);
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->size(), 1U);
    EXPECT_FALSE(rows->front().has_value());
    EXPECT_EQ(asked, 2);
}

TEST(Sweep, tooManyCombinationsAreRefusedBeforeAnyRuns)
{
    SweepPlan plan = smallPlan();
    plan.axes = {*parseAxis("a=1:2000"), *parseAxis("b=1:2000")};
    plan.build = [](const Parameters&) -> Result<ir::Program> { return userError("ran"); };
    const auto rows = sweep(plan, {});
    ASSERT_FALSE(rows);
    EXPECT_NE(rows.error().message.find("combinations"), std::string::npos);
}

TEST(SweepFiles, giveTheRowsBack)
{
    const SweepPlan plan = smallPlan();
    std::vector<SweepRow> rows = rowsOf(plan, {});
    rows.push_back({.parameters = {{"bm", "1"}, {"buffers", "2"}},
                    .chip = "tpu_v5e",
                    .error = "no, \"never\""});
    rows.push_back({.parameters = {{"bm", "2"}, {"buffers", "2"}},
                    .chip = "tpu_v5e",
                    .fits = false,
                    .vmem = Bytes(5)});
    rows[0].findings = {"a", "b"};
    rows[0].passedBlocks = 7;
    const SweepSubject subject = subjectOf("matmul", {{"m", "512"}}, "1.2", {}, plan.chips);
    const std::string text = toJson(subject, rows);
    const auto read = rowsFromJson(text, subject, "saved.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->rows, rows);
    // A chip whose file has changed has no rows any more.
    SweepSubject changed = subject;
    changed.chips["tpu_v5e"] = "other";
    const auto fewer = rowsFromJson(text, changed, "saved.json");
    ASSERT_TRUE(fewer);
    EXPECT_EQ(fewer->rows.size(), 6U);
    EXPECT_EQ(fewer->rows.front().chip, "tpu_v6e");
    EXPECT_EQ(fewer->changed, std::set<std::string>{"tpu_v5e"});
    // Those of a chip that the subject does not have are there, with what its file was.
    SweepSubject fewChips = subject;
    fewChips.chips.erase("tpu_v6e");
    const auto all = rowsFromJson(text, fewChips, "saved.json");
    ASSERT_TRUE(all);
    EXPECT_EQ(all->rows, rows);
    EXPECT_EQ(all->chips, subject.chips);
    EXPECT_TRUE(all->changed.empty());
}

TEST(SweepFiles, aPlanKnowsTheRowsThatItAsksFor)
{
    SweepPlan plan = smallPlan();
    const std::vector<SweepRow> rows = rowsOf(plan, {});
    EXPECT_TRUE(std::ranges::all_of(rows, [&](const SweepRow& row) { return asksFor(plan, row); }));
    SweepRow other = rows.front();
    other.parameters[plan.axes.front().name] = "7";
    EXPECT_FALSE(asksFor(plan, other));
    other = rows.front();
    other.parameters["more"] = "1";
    EXPECT_FALSE(asksFor(plan, other));
    other = rows.front();
    other.chip = "tpu_v2";
    EXPECT_FALSE(asksFor(plan, other));
    plan.axes.pop_back();
    EXPECT_FALSE(asksFor(plan, rows.front()));
}

TEST(SweepFiles, ofOlderVersionsHaveNoBands)
{
    const SweepPlan plan = smallPlan();
    const SweepSubject subject = subjectOf("matmul", {{"m", "512"}}, "1.2", {}, plan.chips);
    std::vector<SweepRow> rows = rowsOf(plan, {});
    ASSERT_TRUE(rows[0].band);
    nlohmann::json file = nlohmann::json::parse(toJson(subject, rows));
    EXPECT_EQ(file["rows"][0]["time_low_s"], toSeconds(rows[0].band->low).value());
    EXPECT_EQ(file["rows"][0]["time_support"]["work"], "products");
    nlohmann::json old = file;
    for (nlohmann::json& row : old["rows"]) {
        for (const char* key : {"time_low_s", "time_high_s", "time_support", "fastest"}) {
            EXPECT_EQ(row.erase(key), 1U) << key;
        }
    }
    const auto read = rowsFromJson(old.dump(), subject, "old.json");
    ASSERT_TRUE(read) << read.error().message;
    for (SweepRow& row : rows) {
        row.band.reset();
    }
    EXPECT_EQ(read->rows, rows);
    // A sweep cannot have shares that no chip file may have.
    for (const auto& [key, value] : {std::pair("low", -1.5), {"high", 101.0}, {"ratio", -0.1}}) {
        nlohmann::json wrong = file;
        wrong["rows"][0]["time_support"][key] = value;
        const auto refused = rowsFromJson(wrong.dump(), subject, "wrong.json");
        ASSERT_FALSE(refused) << key;
        EXPECT_NE(refused.error().message.find("wrong.json is damaged"), std::string::npos);
    }
}

TEST(SweepFiles, textsOfABandAreMadeSafeToShow)
{
    const SweepPlan plan = smallPlan();
    const SweepSubject subject = subjectOf("matmul", {{"m", "512"}}, "1.2", {}, plan.chips);
    nlohmann::json file = nlohmann::json::parse(toJson(subject, rowsOf(plan, {})));
    for (const char* key : {"work", "kind", "source"}) {
        file["rows"][0]["time_support"][key] = "\x1b[2J\x7f";
    }
    const auto read = rowsFromJson(file.dump(), subject, "hostile.json");
    ASSERT_TRUE(read) << read.error().message;
    const analysis::Band& band = read->rows.front().band.value();
    EXPECT_EQ(band.work, "\\x1b[2J\\x7f");
    EXPECT_EQ(band.support.work, band.work);
    EXPECT_EQ(band.support.source, band.work);
    const std::string csv = toCsv(plan, read->rows);
    EXPECT_EQ(csv.find_first_of("\x1b\x7f"), std::string::npos) << csv;
}

TEST(SweepFiles, ofOtherSweepsOrDamagedAreRefusedInASentence)
{
    const SweepPlan plan = smallPlan();
    const SweepSubject subject = subjectOf("matmul", {{"m", "512"}}, "1.2", {}, plan.chips);
    const std::string text = toJson(subject, {{.parameters = {{"bm", "1"}}, .chip = "tpu_v5e"}});
    const auto message = [&](const std::string& file, const SweepSubject& wanted) {
        const auto rows = rowsFromJson(file, wanted, "saved.json");
        EXPECT_FALSE(rows);
        return rows ? "" : rows.error().message;
    };
    SweepSubject other = subject;
    other.kernel = "add_vectors";
    EXPECT_EQ(message(text, other),
              "The saved sweep saved.json is of matmul with m=512, not of add_vectors with m=512.");
    other = subject;
    other.fixed.clear();
    EXPECT_NE(message(text, other).find("no parameters"), std::string::npos);
    other = subject;
    other.settings["detect_races"] = "false";
    EXPECT_NE(message(text, other).find("detect_races=true"), std::string::npos);
    other = subject;
    other.version = "1.3";
    EXPECT_NE(message(text, other).find("version 1.2"), std::string::npos);
    EXPECT_NE(message("{}", subject).find("damaged"), std::string::npos);
    EXPECT_NE(message(std::string(100'000, '['), subject).find("nested"), std::string::npos);
    for (std::size_t cut = 0; cut + 2 < text.size(); cut += 7) {
        message(text.substr(0, cut), subject);
    }
}

TEST(SweepFiles, csvQuotesWhatNeedsItAndHasAColumnForEachParameter)
{
    SweepPlan plan;
    plan.axes = {{"shape", {"1,2"}}};
    const std::string csv =
        toCsv(plan, {{.parameters = {{"shape", "1,2"}}, .chip = "c", .error = "say \"no\", please"},
                     {.parameters = {{"shape", "3"}}, .chip = "c", .fits = false, .vmem = Bytes(9)},
                     {.parameters = {{"shape", "4"}},
                      .chip = "c",
                      .vmem = Bytes(8),
                      .time = Picoseconds(1'000'000),
                      .utilization = 0.5,
                      .boundBy = "latency",
                      .refetched = Bytes(7),
                      .steps = 3,
                      .passedBlocks = 2,
                      .findings = {"f", "g"}}});
    EXPECT_EQ(csv, "shape,chip,time_s,time_low_s,time_high_s,time_support,fastest,utilization,"
                   "bound_by,fits,refetched_bytes,vmem_bytes,steps,findings,error,"
                   "passed_blocks,time_ps\n"
                   "\"1,2\",c,,,,,,,,,,,,,\"say \"\"no\"\", please\",,\n"
                   "3,c,,,,,,,,no,,9,,,,,\n"
                   "4,c,1e-06,,,,,0.5,latency,yes,7,8,3,f g,,2,1000000\n");
}

TEST(SweepFiles, csvAndTextHaveTheBandAndWhatIsNotToldFromTheBest)
{
    const auto taking = [](std::int64_t ns) {
        const Picoseconds time(1000 * ns);
        const chip::Residual support{
            .work = "products", .rows = 20, .low = -0.1, .high = 0.2, .ratio = 0.05, .source = ""};
        return SweepRow{.parameters = {{"b", std::to_string(ns)}},
                        .chip = "c",
                        .time = time,
                        .band = analysis::bandOf(time, "products", support)};
    };
    SweepPlan plan;
    plan.axes = {{"b", {}}};
    const std::vector<SweepRow> rows{taking(1000), taking(1040), taking(1060)};
    const std::string csv = toCsv(plan, rows);
    EXPECT_NE(csv.find("1000,c,1e-06,9e-07,1.2e-06,20 timings of products,yes,"), std::string::npos)
        << csv;
    EXPECT_NE(csv.find("20 timings of products,perhaps,"), std::string::npos) << csv;
    EXPECT_NE(csv.find("20 timings of products,no,"), std::string::npos) << csv;
    const std::string text = toText(plan, rows);
    EXPECT_NE(text.find("1040  c     1.04 µs  0.94 µs to 1.25 µs"), std::string::npos) << text;
    EXPECT_NE(text.find("best: b=1000 on c, 1.00 µs\n"
                        "not told apart from it, within the error of ratios: b=1040 on c\n"),
              std::string::npos)
        << text;
    // If there are many, they are counted.
    const std::string many = toText(plan, std::vector<SweepRow>(10, taking(7)));
    EXPECT_NE(many.find("b=7 on c and 3 more\n"), std::string::npos) << many;
}

// A kernel that waits as long as its input says.
TEST(Sweep, inputsThatDecideWhatAProgramDoesAreGiven)
{
    const Result<ir::Program> program =
        pl::kernel("waits", {pl::in("n", DType::Int32, {1})}, [](pl::Ref n) {
            pl::runScoped(
                {{"held", DType::Int32, {1}, ir::MemorySpace::Smem}, pl::dmaSemaphores("sem")},
                [&](const std::vector<pl::Ref>& refs) {
                    pl::dmaStart(n, refs[0], refs[1]);
                    pl::dmaWait(refs[0], refs[1]);
                    pl::delay(refs[0][{0}]);
                    return std::vector<pl::Value>{};
                });
        });
    ASSERT_TRUE(program) << program.error().message;
    SweepPlan plan;
    plan.chips = {chipNamed("tpu_v5e")};
    plan.build = [&](const Parameters&) { return program; };
    EXPECT_NE(rowsOf(plan, {})[0].error, "");
    std::vector<Picoseconds> times;
    for (const std::int32_t nanoseconds : {2000, 5000}) {
        Array n = makeArray(DType::Int32, {1});
        std::memcpy(n.data.get(), &nanoseconds, sizeof nanoseconds);
        plan.inputs = [n](const Parameters&) { return std::vector<Array>{n}; };
        const SweepRow row = rowsOf(plan, {})[0];
        EXPECT_EQ(row.error, "");
        times.push_back(row.time);
    }
    EXPECT_EQ(times[1] - times[0], Picoseconds(3'000'000));
}

} // namespace pallascope::study
