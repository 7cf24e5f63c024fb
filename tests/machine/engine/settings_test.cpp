// Settings by name, and what each of them changes in a run.
#include "core/machine/settings.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace pallascope::machine_test {

namespace {

using Names = std::map<std::string, std::string>;
using Numbers = std::vector<double>;

machine::Settings mustSet(const Names& names)
{
    const Result<machine::Settings> settings = machine::settingsOf(names);
    EXPECT_TRUE(settings) << settings.error().message;
    return settings ? *settings : machine::Settings();
}

Result<machine::RunResult> runWith(const ir::Program& program, const std::vector<Array>& inputs,
                                   const Names& names,
                                   machine::ValueMode values = machine::ValueMode::Full)
{
    return machine::run(program, inputs, v5e(), {.values = values, .settings = mustSet(names)});
}

// out = x. x has `rows` rows of 128; the single block of each array has 32 rows.
ir::Program copying(DType dtype, Extent rows)
{
    return mustTrace(pl::kernel(
        "copying", {pl::in("x", dtype, Shape{rows, 128}), pl::out("out", dtype, Shape{64, 128})},
        [](pl::Ref xHbm, pl::Ref outHbm) {
            const auto map = [](auto i) { return pl::at(i, 0); };
            pl::emitPipeline({.grid = {1},
                              .in = {pl::block({32, 128}, map)},
                              .out = {pl::block({32, 128}, map)}},
                             [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all]; })(xHbm,
                                                                                        outHbm);
        }));
}

// One step over blocks of 8 rows. The output is 0 before the body; `at` is a prefetched scalar.
ir::Program inOneStep(const std::string& name,
                      const std::function<void(pl::Value start, pl::Ref x, pl::Ref out)>& body)
{
    return mustTrace(pl::kernel(
        name,
        {pl::scalarPrefetch("at", kInt, {1}), pl::in("x", kF32, Shape{8, 128}),
         pl::out("out", kF32, Shape{8, 128})},
        [&](pl::Ref at, pl::Ref xHbm, pl::Ref outHbm) {
            const auto map = [](auto i) { return pl::at(i, 0); };
            pl::pallasCall(
                {.grid = {1}, .in = {pl::block({8, 128}, map)}, .out = {pl::block({8, 128}, map)}},
                [&](pl::Ref x, pl::Ref out) {
                    out[{pl::ds(0, 8), pl::all}] = pl::full(Shape{8, 128}, 0, kF32);
                    body(at[0].load(), x, out);
                })(xHbm, outHbm);
        }));
}

// out[0:4] = x[at[0]:at[0]+8:2]
ir::Program sliding()
{
    return inOneStep("sliding", [](pl::Value start, pl::Ref x, pl::Ref out) {
        out[{pl::ds(0, 4), pl::all}] = x[{pl::ds(start, 4, 2), pl::all}];
    });
}

// out[at[0]:at[0]+4] = x[0:4]
ir::Program scattering()
{
    return inOneStep("scattering", [](pl::Value start, pl::Ref x, pl::Ref out) {
        out[{pl::ds(start, 4), pl::all}] = x[{pl::ds(0, 4), pl::all}];
    });
}

// out[at[0]:at[0]+4] = x[at[0]:at[0]+4] on arrays of 6 rows in HBM, by two copies.
ir::Program copyingRows()
{
    return mustTrace(pl::kernel(
        "copying_rows",
        {pl::scalarPrefetch("at", kInt, {1}), pl::in("x", kF32, Shape{6, 128}),
         pl::out("out", kF32, Shape{6, 128})},
        [](pl::Ref at, pl::Ref x, pl::Ref out) {
            pl::runScoped({{"near", kF32, {4, 128}}, pl::dmaSemaphores("sem", {1})},
                          [&](const std::vector<pl::Ref>& refs) {
                              const auto part = [start = at[0].load()](const pl::Ref& ref) {
                                  return ref.at({pl::ds(start, 4), pl::all});
                              };
                              const pl::Ref sem = refs[1].at({0});
                              pl::dmaStart(part(x), refs[0], sem);
                              pl::dmaWait(refs[0], sem);
                              pl::dmaStart(refs[0], part(out), sem);
                              pl::dmaWait(part(out), sem);
                              return std::vector<pl::Value>();
                          });
        }));
}

// Row r of 8 rows holds r + 1.
Array numberedRows()
{
    Numbers numbers;
    for (int i = 0; i < 8 * 128; ++i) {
        numbers.push_back(i / 128 + 1);
    }
    return arrayOf(kF32, {8, 128}, numbers);
}

// The first element of each row, with -1 for NaN.
Numbers firsts(const Array& array)
{
    Numbers numbers;
    for (std::int64_t row = 0; row < array.shape[0]; ++row) {
        const double number = array.at(row * array.shape[1]);
        numbers.push_back(std::isnan(number) ? -1 : number);
    }
    return numbers;
}

const Names kGoOn{{"out_of_bounds_reads", "uninitialized"}};

} // namespace

TEST(Settings, goByNameBothWays)
{
    const Names defaults{{"uninitialized_memory", "nan"}, {"out_of_bounds_reads", "raise"},
                         {"dma_execution_mode", "timed"}, {"detect_races", "true"},
                         {"registers", "estimate"},       {"clock", "sustained"},
                         {"long_grids", "auto"}};
    EXPECT_EQ(machine::namesOf({}, true), defaults);
    EXPECT_EQ(machine::namesOf({.registers = 64}, true).at("registers"), "64");
    EXPECT_EQ(machine::namesOf({.registers = 64}, false).size(), 4U) << "a TPU has no registers";
    EXPECT_EQ(mustSet({}), machine::Settings());
    std::set<std::string> seen;
    for (const machine::SettingEntry& entry : machine::settingEntries()) {
        for (const std::string_view value : entry.values) {
            Names names = defaults;
            names[std::string(entry.name)] = value;
            EXPECT_EQ(machine::namesOf(mustSet(names), true), names);
        }
        EXPECT_TRUE(entry.help.ends_with('.')) << entry.name;
    }
    EXPECT_EQ(mustSet({{"detect_races", "false"}}),
              machine::Settings{.detectRaces = machine::DetectRaces::No});
    EXPECT_EQ(mustSet({{"dma_execution_mode", "on_wait"}}).dmaExecutionMode,
              machine::DmaMode::OnWait);
}

TEST(Settings, thatAreNotKnownAreAnsweredWithThoseThatAre)
{
    EXPECT_EQ(machine::settingsOf({{"memory", "nan"}}).error().message,
              "There is no setting \"memory\"; expected uninitialized_memory, out_of_bounds_reads, "
              "dma_execution_mode, detect_races, registers, clock or long_grids.");
    for (const char* number : {"0", "-1", "64.5", "many", ""}) {
        EXPECT_EQ(machine::settingsOf({{"registers", number}}).error().message,
                  "The setting registers cannot be \"" + std::string(number)
                      + "\"; expected estimate, most or a whole number.");
    }
    EXPECT_EQ(
        machine::settingsOf({{"uninitialized_memory", "one"}}).error().message,
        "The setting uninitialized_memory cannot be \"one\"; expected nan, zero, min or max.");
    EXPECT_FALSE(machine::settingsOf({{"detect_races", "1"}}));
}

TEST(Settings, standInTheTrace)
{
    const Result<machine::RunResult> run =
        runWith(copying(kF32, 32), {makeArray(kF32, {32, 128})}, {{"dma_execution_mode", "eager"}});
    ASSERT_TRUE(run);
    EXPECT_EQ(run->trace->info().settings.at("dma_execution_mode"), "eager");
    EXPECT_EQ(run->trace->info().settings.at("uninitialized_memory"), "nan");
}

// The fills of JAX's two interpreters (pallas_call with interpret=True, and InterpretParams), in an
// array's overhang, in a block that no step visits, and in a scalar of scratch.
TEST(UninitializedMemory, readsAsTheSettingSays)
{
    struct Row
    {
        DType dtype;
        double nan, min;
    };

    for (const Row& row :
         {Row{kF32, kNan, kNan}, Row{DType::BF16, kNan, kNan}, Row{DType::F8E4M3FN, kNan, kNan},
          Row{DType::Int8, 127, -128}, Row{DType::UInt8, 255, 0}, Row{DType::Int16, 32767, -32768},
          Row{kInt, 2147483647, -2147483648.0}, Row{DType::UInt32, 4294967295, 0},
          Row{DType::Bool, 1, 0}}) {
        const ir::Program program = copying(row.dtype, 20);
        const Array x = arrayOf(row.dtype, {20, 128}, Numbers(20 * 128, 1));
        for (const auto& [name, fill] : std::map<std::string, double>{
                 {"nan", row.nan}, {"max", row.nan}, {"min", row.min}, {"zero", 0}}) {
            SCOPED_TRACE(std::string(dtypeName(row.dtype)) + " " + name);
            const Result<machine::RunResult> run =
                runWith(program, {x}, {{"uninitialized_memory", name}});
            ASSERT_TRUE(run) << run.error().message;
            const Numbers out = elementsOf(run->outputs[0]);
            for (const std::size_t at : {20U * 128, 31U * 128 + 127, 32U * 128, 63U * 128 + 127}) {
                if (std::isnan(fill)) {
                    EXPECT_TRUE(std::isnan(out[at])) << at;
                } else {
                    EXPECT_EQ(out[at], fill) << at;
                }
            }
            EXPECT_EQ(out[20 * 128 - 1], 1);
            EXPECT_EQ(findingsOf(*run, "undefined_written_back").size(), 1U) << "whatever it reads";
        }
    }
    const ir::Program scalar =
        mustTrace(pl::kernel("scalar", {pl::out("out", kInt, Shape{8, 128})}, [](pl::Ref outHbm) {
            pl::pallasCall({.grid = {1},
                            .out = {pl::block({8, 128}, [](auto i) { return pl::at(i, 0); })},
                            .scratch = {{"s", kInt, {1}, ir::MemorySpace::Smem}}},
                           [](pl::Ref out, pl::Ref s) {
                               out[pl::all] = pl::broadcastTo(s[0].load(), Shape{8, 128});
                           })(outHbm);
        }));
    const Result<machine::RunResult> run = runWith(scalar, {}, {{"uninitialized_memory", "min"}});
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->outputs[0].at(5), -2147483648.0);
}

TEST(OutOfBoundsReads, stopTheRunUnlessTheyMayGoOn)
{
    const Array at = arrayOf(kInt, {1}, {3});
    for (const auto mode : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        const auto stopped = runWith(sliding(), {at, numberedRows()}, {}, mode);
        ASSERT_TRUE(stopped);
        const auto found = findingsOf(*stopped, "out_of_bounds");
        ASSERT_EQ(found.size(), 1U);
        EXPECT_NE(found[0].message.find("reaches elements 3 to 9 on axis 0 of x"),
                  std::string::npos)
            << found[0].message;
        EXPECT_EQ(stopped->trace->steps().size(), 1U);
        EXPECT_TRUE(runWith(sliding(), {at, numberedRows()}, kGoOn, mode));
    }
}

TEST(OutOfBoundsReads, areUndefinedOutsideAndDefinedInside)
{
    struct Row
    {
        double start;
        // Rows start, start + 2, start + 4 and start + 6 of rows that hold 1 to 8; -1: outside.
        Numbers seen;
    };

    for (const Row& row :
         {Row{3, {4, 6, 8, -1}}, Row{-1, {-1, 2, 4, 6}}, Row{-3, {-1, -1, 2, 4}},
          Row{7, {8, -1, -1, -1}}, Row{8, {-1, -1, -1, -1}}, Row{-7, {-1, -1, -1, -1}},
          Row{100, {-1, -1, -1, -1}}, Row{-100, {-1, -1, -1, -1}}}) {
        SCOPED_TRACE(row.start);
        const auto run =
            runWith(sliding(), {arrayOf(kInt, {1}, {row.start}), numberedRows()}, kGoOn);
        ASSERT_TRUE(run) << run.error().message;
        Numbers expected = row.seen;
        expected.resize(8, 0);
        EXPECT_EQ(firsts(run->outputs[0]), expected);
        const auto found = findingsOf(*run, "out_of_bounds");
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found[0].operand, "x");
        EXPECT_EQ(found[0].step, 0);
        EXPECT_EQ(found[0].category, trace::FindingClass::Structural);
        EXPECT_GT(found[0].source.line, 0);
        const auto written = findingsOf(*run, "undefined_written_back");
        ASSERT_EQ(written.size(), 1U);
        const auto outside = std::count(row.seen.begin(), row.seen.end(), -1) * 128;
        EXPECT_NE(written[0].message.find("with " + std::to_string(outside) + " of"),
                  std::string::npos)
            << written[0].message;
        const auto needed = runWith(sliding(), {arrayOf(kInt, {1}, {row.start}), numberedRows()},
                                    kGoOn, machine::ValueMode::Needed);
        ASSERT_TRUE(needed) << needed.error().message;
        EXPECT_EQ(findingsOf(*needed, "out_of_bounds"), found);
    }
    EXPECT_EQ(findingsText(*runWith(sliding(), {arrayOf(kInt, {1}, {1}), numberedRows()}, kGoOn)),
              "");
}

// Six rows occupy a tile of eight; a copy may include the rest of it.
TEST(OutOfBoundsReads, ofCopiesMayReachTheEndOfATile)
{
    Numbers numbers(6 * 128, 0);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<double>(i / 128 + 1);
    }
    const Array x = arrayOf(kF32, {6, 128}, numbers);
    for (const char* const mode : {"timed", "eager", "on_wait"}) {
        const Names names{{"dma_execution_mode", mode}};
        for (const auto& [start, seen] : std::map<double, Numbers>{{2, {-1, -1, 3, 4, 5, 6}},
                                                                   {3, {-1, -1, -1, 4, 5, 6}},
                                                                   {4, {-1, -1, -1, -1, 5, 6}}}) {
            SCOPED_TRACE(std::string(mode) + " " + std::to_string(start));
            const auto run = runWith(copyingRows(), {arrayOf(kInt, {1}, {start}), x}, names);
            ASSERT_TRUE(run) << run.error().message;
            EXPECT_EQ(findingsBesidesResults(*run), "");
            EXPECT_EQ(firsts(run->outputs[0]), seen);
            EXPECT_EQ(run->trace->copies().bytes, (std::vector<std::int64_t>{2048, 2048}));
        }
        for (const double start : {5.0, 6.0, -1.0}) {
            const auto run = runWith(copyingRows(), {arrayOf(kInt, {1}, {start}), x}, names);
            ASSERT_TRUE(run) << run.error().message;
            EXPECT_EQ(findingsOf(*run, "out_of_bounds").size(), 1U);
        }
    }
}

TEST(OutOfBoundsReads, keepTheFillOfTheOtherSetting)
{
    Names names = kGoOn;
    names["uninitialized_memory"] = "zero";
    const auto run = runWith(sliding(), {arrayOf(kInt, {1}, {3}), numberedRows()}, names);
    ASSERT_TRUE(run);
    EXPECT_EQ(firsts(run->outputs[0]), (Numbers{4, 6, 8, 0, 0, 0, 0, 0}));
}

TEST(OutOfBoundsReads, letStoresOutsideBeDropped)
{
    for (const auto& [start, seen] : std::map<double, Numbers>{{6, {0, 0, 0, 0, 0, 0, 1, 2}},
                                                               {-1, {2, 3, 4, 0, 0, 0, 0, 0}},
                                                               {8, {0, 0, 0, 0, 0, 0, 0, 0}},
                                                               {-4, {0, 0, 0, 0, 0, 0, 0, 0}}}) {
        SCOPED_TRACE(start);
        const auto run =
            runWith(scattering(), {arrayOf(kInt, {1}, {start}), numberedRows()}, kGoOn);
        ASSERT_TRUE(run) << run.error().message;
        EXPECT_EQ(firsts(run->outputs[0]), seen);
        const auto found = findingsOf(*run, "out_of_bounds");
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found[0].operand, "out");
    }
}

TEST(OutOfBoundsReads, ofOneElementAndOfAnIndexMapAreUndefined)
{
    // The map of step s loads entry s of a table with two entries, so an undefined index decides
    // step 2.
    const ir::Program program = mustTrace(pl::kernel(
        "gather",
        {pl::scalarPrefetch("table", kInt, {2}), pl::in("x", kF32, Shape{8, 128}),
         pl::out("out", kF32, Shape{24, 128})},
        [](pl::Ref table, pl::Ref xHbm, pl::Ref outHbm) {
            pl::pallasCall(
                {.grid = {3},
                 .in = {pl::block({8, 128}, [&](auto i) { return pl::at(table[i], 0); })},
                 .out = {pl::block({8, 128}, [](auto i) { return pl::at(i, 0); })}},
                [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all]; })(xHbm, outHbm);
        }));
    Names names = kGoOn;
    names["uninitialized_memory"] = "zero";
    for (const auto mode : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        const auto run =
            runWith(program, {arrayOf(kInt, {2}, {0, 0}), numberedRows()}, names, mode);
        ASSERT_TRUE(run) << run.error().message;
        EXPECT_EQ(findingsOf(*run, "out_of_bounds").size(), 1U);
        EXPECT_EQ(findingsOf(*run, "undefined_index").size(), 1U);
    }
}

} // namespace pallascope::machine_test
