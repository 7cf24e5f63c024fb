// Several kinds of agents on one chip, and copies of listed rows: what kernels for narrow cores do.
#include "core/analysis/report.h"
#include "core/ir/verify.h"
#include "tests/machine/made_up_chip.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace pallascope::machine_test {

namespace {

using Refs = std::vector<pl::Ref>;
using Nothing = std::vector<pl::Value>;

constexpr std::int32_t kSlots = 2, kWorkers = 2;

// The made-up chip with workers added: slots of two workers each, at half the clock, with registers
// of four elements and a memory of their own.
chip::Chip withWorkers(std::int64_t slots = kSlots)
{
    nlohmann::json file = nlohmann::json::parse(madeUpChip().json);
    const auto figure = [](auto value) {
        return nlohmann::json{{"value", value}, {"source", "made up"}, {"status", "assumed"}};
    };
    for (const char* name : {"TILESPMEM", "SPMEM"}) {
        file["memories"].push_back({{"name", name}, {"scope", "agent"}, {"bytes", figure(4096)}});
    }
    for (const char* kind : {"vector", "load", "store", "scalar"}) {
        file["units"].push_back({{"name", std::string("worker ") + kind},
                                 {"kind", kind},
                                 {"count", figure(1)},
                                 {"cycles_per_register", figure(1)},
                                 {"peak_flops_per_s", figure(1e9)}});
    }
    file["agents"].push_back(
        {{"kind", "worker"},
         {"count", figure(kWorkers)},
         {"slots", figure(slots)},
         {"slot_name", "group"},
         {"clock_hz", figure(500'000'000)},
         {"register_bytes", figure(16)},
         {"step_overhead_s", figure(1e-8)},
         {"owns", {"worker vector", "worker load", "worker store", "worker scalar"}}});
    const Result<chip::Chip> chip = chip::parse(file.dump(), "workers");
    EXPECT_TRUE(chip) << (chip ? "" : chip.error().message);
    return *chip;
}

// Every worker adds 1 to one row of eight elements, one of its slot's two rows.
ir::Program addOne(const std::string& agents = "worker")
{
    const Shape all{kSlots, kWorkers, 8}, row{8};
    ir::CoreMapParams mesh{"worker", kWorkers, {{"group", kSlots}}};
    mesh.agents = agents;
    return mustTrace(pl::kernel(
        "add_one", {pl::in("x", DType::F32, all), pl::out("out", DType::F32, all)},
        [&](pl::Ref x, pl::Ref out) {
            pl::coreMap(mesh, [&] {
                pl::runScoped({{"near", DType::F32, row, ir::MemorySpace::TileSpmem},
                               pl::dmaSemaphores("sem")},
                              [&](const Refs& refs) {
                                  const pl::Value i = pl::axisIndex("group"),
                                                  j = pl::axisIndex("worker");
                                  pl::dmaStart(x.at({i, j, pl::all}), refs[0], refs[1]);
                                  pl::dmaWait(refs[0], refs[1]);
                                  refs[0][pl::all] = refs[0][pl::all] + 1.0F;
                                  pl::dmaStart(refs[0], out.at({i, j, pl::all}), refs[1]);
                                  pl::dmaWait(out.at({i, j, pl::all}), refs[1]);
                                  return Nothing{};
                              });
            });
        }));
}

Array counted(const Shape& shape, DType dtype = DType::F32, std::int64_t modulus = 1000)
{
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
        numbers.push_back(static_cast<double>(i % modulus));
    }
    return arrayOf(dtype, shape, numbers);
}

} // namespace

TEST(KindsOfAgents, runACoreMapThatAsksForThem)
{
    const machine::RunResult run = mustRun(addOne(), {counted({kSlots, kWorkers, 8})},
                                           machine::ValueMode::Full, withWorkers());
    EXPECT_EQ(findingsText(run), "");
    const std::vector<double> out = elementsOf(run.outputs[0]);
    for (std::size_t i = 0; i < out.size(); ++i) {
        ASSERT_EQ(out[i], static_cast<double>(i) + 1);
    }
    const trace::Info& info = run.trace->info();
    EXPECT_EQ(info.agents,
              (std::vector<std::string>{"thread 0", "group 0 worker 0", "group 0 worker 1",
                                        "group 1 worker 0", "group 1 worker 1"}));
    bool adds = false;
    for (std::size_t row = 0; row < run.trace->segments().size(); ++row) {
        const trace::SegmentTemplate& segment =
            info.templates[static_cast<std::size_t>(run.trace->segments().templateId[row])];
        EXPECT_NE(run.trace->segments().agent[row], 0); // the thread waits while the workers run
        EXPECT_EQ(segment.clock, Hertz(500'000'000));
        for (const trace::Mark& mark : segment.marks) {
            EXPECT_EQ(info.units[static_cast<std::size_t>(mark.unit)].name.rfind("worker ", 0), 0U);
            if (info.units[static_cast<std::size_t>(mark.unit)].name == "worker vector") {
                EXPECT_EQ(mark.length, Cycles(2)); // eight elements at four per register
                adds = true;
            }
        }
    }
    EXPECT_TRUE(adds);
    const auto& waiting = run.trace->waits().agent;
    EXPECT_EQ(std::count(waiting.begin(), waiting.end(), 0), 1);
}

// Each worker moves an array of its own once, so that all of them move all of these arrays once.
TEST(KindsOfAgents, eachMoveWhatIsTheirOwn)
{
    const ir::CoreMapParams mesh{"worker", kWorkers, {{"group", kSlots}}, "worker"};
    const ir::Program program = mustTrace(
        pl::kernel("own", {pl::in("x", DType::F32, {8}), pl::out("out", DType::F32, {8})},
                   [&](pl::Ref, pl::Ref) {
                       pl::coreMap(mesh, [&] {
                           pl::runScoped({{"near", DType::F32, {8}, ir::MemorySpace::TileSpmem},
                                          {"next", DType::F32, {8}, ir::MemorySpace::TileSpmem},
                                          pl::dmaSemaphores("sem")},
                                         [&](const Refs& refs) {
                                             pl::dmaStart(refs[0], refs[1], refs[2]);
                                             pl::dmaWait(refs[1], refs[2]);
                                             return Nothing{};
                                         });
                       });
                   }));
    const machine::RunResult run =
        mustRun(program, {counted({8})}, machine::ValueMode::Needed, withWorkers());
    const Result<analysis::Report> report = analysis::report(*run.trace);
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->traffic.size(), 1U);
    EXPECT_EQ(report->traffic[0].bytes, Bytes(kSlots * kWorkers * 8 * 4));
    EXPECT_DOUBLE_EQ(report->traffic[0].refetchFactor, 1);
    ASSERT_EQ(report->arrays.size(), 1U);
    EXPECT_DOUBLE_EQ(report->arrays[0].refetchFactor, 1);
}

TEST(KindsOfAgents, followOneAnotherWhereThereAreFewerSlotsThanBlocks)
{
    const chip::Chip one = withWorkers(1);
    const machine::RunResult few =
        mustRun(addOne(), {counted({kSlots, kWorkers, 8})}, machine::ValueMode::Full, one);
    const machine::RunResult all = mustRun(addOne(), {counted({kSlots, kWorkers, 8})},
                                           machine::ValueMode::Full, withWorkers());
    EXPECT_EQ(elementsOf(few.outputs[0]), elementsOf(all.outputs[0]));
    EXPECT_GT(few.trace->end(), all.trace->end());
}

TEST(KindsOfAgents, thatTheChipLacksAreNamed)
{
    const Result<machine::RunResult> run =
        machine::run(addOne("helper"), {counted({kSlots, kWorkers, 8})}, withWorkers(), {});
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find("runs on helper, which the chip Made up does not have"),
              std::string::npos)
        << run.error().message;
}

TEST(KindsOfAgents, lendTheirUnitsToNobody)
{
    chip::Chip chip = withWorkers();
    const auto load = std::find_if(chip.units.begin(), chip.units.end(),
                                   [](const auto& unit) { return unit.kind == UnitKind::Load; });
    EXPECT_EQ(chip.unitOf(UnitKind::Load), &*load);
    load->kind = UnitKind::Store;
    EXPECT_EQ(chip.unitOf(UnitKind::Load), nullptr);
    ASSERT_NE(chip.unitOf(UnitKind::Load, 1), nullptr);
    EXPECT_EQ(chip.unitOf(UnitKind::Load, 1)->name, "worker load");
}

TEST(KindsOfAgents, leaveOtherRunsAsTheyAre)
{
    const machine::RunResult with =
        mustRun(madeUpProgram(), madeUpInputs(), machine::ValueMode::Full, withWorkers());
    const machine::RunResult without =
        mustRun(madeUpProgram(), madeUpInputs(), machine::ValueMode::Full, madeUpChip());
    EXPECT_EQ(with.trace->info().agents, without.trace->info().agents);
    EXPECT_EQ(with.trace->info().units.size(), without.trace->info().units.size());
    EXPECT_EQ(with.trace->end(), without.trace->end());
}

namespace {

// Each of four workers copies four rows, to or from the rows that its list names.
ir::Program rows(ir::CopyRows end, bool add, bool shared)
{
    const Shape table{8, 4}, lists{kWorkers, 4}, part{4, 4};
    const bool gathers = end == ir::CopyRows::Source;
    const Shape many{kWorkers, 4, 4};
    ir::CoreMapParams mesh{"worker", kWorkers, {{"group", 1}}};
    mesh.agents = "worker";
    return mustTrace(pl::kernel(
        "rows",
        {pl::in("x", DType::F32, gathers ? table : many), pl::in("list", DType::Int32, lists),
         pl::out("out", DType::F32, gathers ? many : table)},
        [&](pl::Ref x, pl::Ref list, pl::Ref out) {
            pl::runScoped(
                {{"sums", DType::F32, table, ir::MemorySpace::Spmem}}, [&](const Refs& outer) {
                    pl::coreMap(mesh, [&] {
                        pl::runScoped({{"near", DType::F32, part, ir::MemorySpace::TileSpmem},
                                       {"numbers", DType::Int32, {4}, ir::MemorySpace::TileSpmem},
                                       pl::dmaSemaphores("sem")},
                                      [&](const Refs& refs) {
                                          const pl::Value j = pl::axisIndex("worker");
                                          const auto copy = [&](const pl::Ref& from,
                                                                const pl::Ref& to) {
                                              pl::dmaStart(from, to, refs[2]);
                                              pl::dmaWait(to, refs[2]);
                                          };
                                          const auto mine = [&](const pl::Ref& ref) {
                                              return ref.at({j, pl::all, pl::all});
                                          };
                                          ir::DmaParams params;
                                          params.rows = end;
                                          params.add = add;
                                          copy(list.at({j, pl::all}), refs[1]);
                                          if (gathers) {
                                              pl::dmaStart(x, refs[0], refs[2], refs[1], params);
                                              pl::dmaWait(refs[0], refs[2]);
                                              copy(refs[0], mine(out));
                                              return Nothing{};
                                          }
                                          copy(mine(x), refs[0]);
                                          const pl::Ref target = shared ? outer[0] : out;
                                          pl::dmaStart(refs[0], target, refs[2], refs[1], params);
                                          pl::dmaWait(refs[0], refs[2]);
                                          return Nothing{};
                                      });
                    });
                    return Nothing{};
                });
        }));
}

} // namespace

TEST(ListedRows, areGathered)
{
    const Array list = arrayOf(DType::Int32, {2, 4}, {7, 0, 0, 3, 5, 1, 7, 2});
    const machine::RunResult run =
        mustRun(rows(ir::CopyRows::Source, false, false), {counted({8, 4}), list},
                machine::ValueMode::Full, withWorkers());
    EXPECT_EQ(findingsText(run), "");
    const std::vector<double> numbers = elementsOf(list), out = elementsOf(run.outputs[0]);
    for (std::size_t i = 0; i < out.size(); ++i) {
        ASSERT_EQ(out[i], numbers[i / 4] * 4 + static_cast<double>(i % 4)) << i;
    }
}

TEST(ListedRows, areScatteredWithoutARaceWhereTheyDiffer)
{
    const Array list = arrayOf(DType::Int32, {2, 4}, {7, 0, 6, 3, 5, 1, 4, 2});
    const machine::RunResult run =
        mustRun(rows(ir::CopyRows::Target, false, false), {counted({2, 4, 4}), list},
                machine::ValueMode::Full, withWorkers());
    EXPECT_EQ(findingsText(run), "");
    const std::vector<double> numbers = elementsOf(list), out = elementsOf(run.outputs[0]);
    for (std::size_t i = 0; i < 32; ++i) {
        ASSERT_EQ(out[static_cast<std::size_t>(numbers[i / 4]) * 4 + i % 4],
                  static_cast<double>(i));
    }
}

TEST(ListedRows, raceWhereTwoWorkersScatterToOne)
{
    const Array list = arrayOf(DType::Int32, {2, 4}, {7, 0, 6, 3, 5, 1, 7, 2});
    for (const bool add : {false, true}) { // additions may be in any order
        const machine::RunResult run =
            mustRun(rows(ir::CopyRows::Target, add, true), {counted({2, 4, 4}), list},
                    machine::ValueMode::Full, withWorkers());
        const std::string found = findingsText(run);
        EXPECT_EQ(found.find("race") == std::string::npos
                      && found.find("overwritten_in_flight") == std::string::npos,
                  add)
            << found;
    }
}

TEST(ListedRows, outsideOfTheirArrayEndTheRun)
{
    const Array list = arrayOf(DType::Int32, {2, 4}, {7, 0, 8, 3, 5, 1, 7, 2});
    const machine::RunResult run =
        mustRun(rows(ir::CopyRows::Source, false, false), {counted({8, 4}), list},
                machine::ValueMode::Full, withWorkers());
    EXPECT_NE(findingsText(run).find("out_of_bounds"), std::string::npos) << findingsText(run);
}

TEST(ListedRows, areSoManyAtMostAndBoolsAreNotAdded)
{
    const auto copied = [](DType dtype, Extent count, ir::DmaParams params) {
        const Result<ir::Program> program = pl::kernel("rows", {}, [&]() {
            pl::runScoped({{"from", dtype, {8, 4}, ir::MemorySpace::Spmem},
                           {"to", dtype, {count, 4}, ir::MemorySpace::TileSpmem},
                           {"numbers", kInt, {count}, ir::MemorySpace::TileSpmem},
                           pl::dmaSemaphores("sem")},
                          [&](const Refs& refs) {
                              pl::dmaStart(refs[0], refs[1], refs[3], refs[2], params);
                              pl::dmaWait(refs[1], refs[3]);
                              return Nothing{};
                          });
        });
        return program ? std::string() : program.error().message;
    };
    ir::DmaParams params;
    params.rows = ir::CopyRows::Source;
    EXPECT_EQ(copied(kF32, 65536, params), "");
    EXPECT_NE(copied(kF32, 65537, params).find("lists 65537 rows; 65536 are the most"),
              std::string::npos);
    params.add = true;
    EXPECT_EQ(copied(kF32, 8, params), "");
    EXPECT_NE(copied(DType::Bool, 8, params).find("expected numbers"), std::string::npos);
}

TEST(ListedRows, areFoundWithoutOtherValues)
{
    const Array list = arrayOf(DType::Int32, {2, 4}, {7, 0, 6, 3, 5, 1, 4, 2});
    const ir::Program program = rows(ir::CopyRows::Target, false, false);
    const machine::RunResult full =
        mustRun(program, {counted({2, 4, 4}), list}, machine::ValueMode::Full, withWorkers());
    const machine::RunResult needed = mustRun(program, {{DType::F32, {2, 4, 4}, nullptr}, list},
                                              machine::ValueMode::Needed, withWorkers());
    EXPECT_EQ(needed.trace->end(), full.trace->end());
    EXPECT_EQ(needed.trace->copies().size(), full.trace->copies().size());
}

} // namespace pallascope::machine_test
