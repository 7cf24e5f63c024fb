// A run that keeps no rows must give the same report as a run that keeps them.
#include "core/analysis/report.h"
#include "core/ir/builder.h"
#include "core/ir/builder_gpu.h"
#include "tests/study/runs.h"

#include <tuple>

namespace pallascope::study {

namespace {

using Changes = std::map<std::string, std::string>;

const std::vector<std::pair<std::string, Changes>> kRuns{
    {"matmul",
     {{"m", "512"}, {"n", "384"}, {"k", "256"}, {"bm", "128"}, {"bn", "128"}, {"bk", "128"}}},
    {"matmul",
     {{"m", "256"},
      {"n", "256"},
      {"k", "256"},
      {"bm", "128"},
      {"bn", "128"},
      {"bk", "64"},
      {"order", "ikj"},
      {"buffers", "3"}}},
    {"matmul",
     {{"m", "256"},
      {"n", "256"},
      {"k", "256"},
      {"bm", "128"},
      {"bn", "128"},
      {"bk", "128"},
      {"buffers", "1"}}},
    {"matmul",
     {{"m", "384"},
      {"n", "384"},
      {"k", "384"},
      {"bm", "256"},
      {"bn", "128"},
      {"bk", "128"},
      {"dtype", "f32"}}},
    {"matmul",
     {{"m", "128"}, {"n", "128"}, {"k", "128"}, {"bm", "128"}, {"bn", "128"}, {"bk", "128"}}},
    {"matmul_scratch",
     {{"m", "512"}, {"n", "512"}, {"k", "512"}, {"bm", "128"}, {"bn", "256"}, {"bk", "128"}}},
    {"add_vectors", {}},
    {"add_vectors", {{"shape", "300,128"}, {"block", "16"}}},
};

struct GpuRun
{
    std::string chip, kernel;
    Changes changes;
};

// With warps and units as agents, clusters, claimed blocks, more blocks than places.
const std::vector<GpuRun> kGpuRuns{
    {"h100_sxm", "hopper_matmul", {{"m", "512"}, {"n", "1024"}, {"k", "256"}}},
    {"h100_sxm",
     "hopper_matmul",
     {{"m", "512"}, {"n", "1024"}, {"k", "256"}, {"warp_specialized", "no"}}},
    {"b200", "blackwell_matmul", {{"m", "2048"}, {"n", "2048"}, {"k", "256"}}},
    {"b200",
     "blackwell_matmul",
     {{"m", "2048"}, {"n", "2048"}, {"k", "256"}, {"persistent", "no"}, {"store_warpgroup", "no"}}},
    {"h100_sxm", "flash_attention", {{"heads", "3"}, {"queries", "8192"}, {"keys", "256"}}},
    {"h100_sxm", "gpu_softmax", {{"rows", "4096"}, {"columns", "256"}}},
};

// Two GPUs, which wait for each other before their blocks and after them. With a wait that nobody
// ends, a finding stops the run within the blocks.
ir::Program aroundBlocks(bool stops)
{
    const Shape shape{264, 128};
    return pl::kernel(
               "around", {pl::in("x", DType::F32, shape), pl::out("y", DType::F32, shape)},
               [&](pl::Ref x, pl::Ref y) {
                   pl::gpu::launch({{{"block", 4}}}, [&] {
                       y[{pl::ds(pl::axisIndex("block"), 1), pl::all}] =
                           x[{pl::ds(pl::axisIndex("block"), 1), pl::all}].load();
                   });
                   pl::delay(20'000);
                   pl::gpu::launch({{{"block", 264}}}, [&] {
                       pl::gpu::runScoped(
                           {pl::gpu::smem("tile", DType::F32, {128}), pl::gpu::barrier("full")},
                           true, [&](const std::vector<pl::Ref>& refs) {
                               pl::gpu::copyGmemToSmem(x.at({pl::axisIndex("block"), pl::all}),
                                                       refs[0], refs[1]);
                               pl::gpu::barrierWait(refs[1]);
                               if (stops) {
                                   pl::gpu::barrierWait(refs[1]);
                               }
                           });
                   });
               })
        .value();
}

machine::RunResult runOnce(const ir::Program& program, const chip::Chip& chip, bool rows)
{
    Result<machine::RunResult> run = machine::run(
        program, inputShapes(program), chip, {.values = machine::ValueMode::Needed, .rows = rows});
    PALLASCOPE_CHECK(run.has_value());
    return *std::move(run);
}

} // namespace

TEST(Sums, ofARunWithoutRowsAreThoseOfItsTrace)
{
    for (const char* name : {"tpu_v5e", "tpu_v7x", "tpu_v2"}) {
        const chip::Chip chip = chipNamed(name);
        for (const auto& [kernel, changes] : kRuns) {
            SCOPED_TRACE(kernel + " on " + name + " " + ::testing::PrintToString(changes));
            const ir::Program program = programOf(kernel, changes);
            const machine::RunResult with = runOnce(program, chip, true),
                                     without = runOnce(program, chip, false);
            EXPECT_EQ(without.trace, nullptr);
            const trace::Summary rows = trace::summaryOf(*with.trace);
            EXPECT_EQ(without.sums, rows);
            EXPECT_GT(rows.steps, 0);
            EXPECT_EQ(without.info.events, with.trace->info().events);
            ASSERT_EQ(without.info.findings.size(), with.trace->info().findings.size());
            for (std::size_t i = 0; i < without.info.findings.size(); ++i) {
                EXPECT_EQ(without.info.findings[i].message, with.trace->info().findings[i].message);
            }
            const Result<analysis::Report> a = analysis::report(*with.trace),
                                           b = analysis::report(without.info, without.sums, chip);
            ASSERT_TRUE(a && b);
            EXPECT_EQ(a->time, b->time);
            EXPECT_EQ(a->split.total(), b->split.total());
            EXPECT_EQ(a->losses.total(), a->time);
            EXPECT_EQ(b->losses.total(), b->time);
            EXPECT_EQ(a->boundBy, b->boundBy);
            EXPECT_EQ(a->utilization, b->utilization);
            EXPECT_EQ(a->vmemPeak, b->vmemPeak);
        }
    }
}

TEST(Sums, ofAGpuWithoutRowsAreThoseOfItsTrace)
{
    std::vector<std::tuple<std::string, chip::Chip, ir::Program>> runs;
    for (const GpuRun& one : kGpuRuns) {
        runs.emplace_back(one.kernel + " " + ::testing::PrintToString(one.changes),
                          chipNamed(one.chip), programOf(one.kernel, one.changes));
    }
    runs.emplace_back("around", chipNamed("h100_sxm"), aroundBlocks(false));
    runs.emplace_back("stops", chipNamed("h100_sxm"), aroundBlocks(true));
    for (const auto& [name, chip, program] : runs) {
        SCOPED_TRACE(name);
        const machine::RunResult with = runOnce(program, chip, true);
        machine::RunResult without = runOnce(program, chip, false);
        const trace::Summary rows = trace::summaryOf(*with.trace);
        // Agents of a GPU do not run in the order in which their segments begin, so that what these
        // cover together is an estimate while the run goes on.
        EXPECT_NEAR(ratio(without.sums.idle, rows.end), ratio(rows.idle, rows.end), 0.02);
        without.sums.idle = rows.idle;
        EXPECT_EQ(without.sums.inBlocks, rows.inBlocks);
        EXPECT_EQ(without.sums.warpgroups, rows.warpgroups);
        EXPECT_EQ(without.sums.blocks, rows.blocks);
        EXPECT_EQ(without.sums, rows);
        EXPECT_GT(rows.inBlocks, Picoseconds(0));
        EXPECT_EQ(rows.blocks, static_cast<std::int64_t>(with.trace->gridBlocks().size()));
    }
}

TEST(Sums, waitsBetweenBlocksAreIdleTime)
{
    const chip::Chip chip = chipNamed("h100_sxm");
    const auto run = runOnce(aroundBlocks(false), chip, true).trace;
    const analysis::TimeSplit split = analysis::report(*run).value().split;
    const Picoseconds delayed = toPicoseconds(Seconds(20e-6));
    EXPECT_GT(split.idle, delayed);
    EXPECT_LT(split.products, Picoseconds(1000));
    EXPECT_GT(split.compute, Picoseconds(0));
}

// Manual DMAs: rows 0 to 7 of x to the chip, from there to another place on the chip and to SMEM; 8
// rows of x to out within HBM; and the second place to the other rows of out. A row is 512 bytes.
TEST(Sums, ofManualDmaGoByTheMemoriesOfTheirLinks)
{
    using pl::ds;
    const auto body = [](pl::Ref x, pl::Ref out) {
        pl::runScoped({{"a", DType::F32, {8, 128}},
                       {"b", DType::F32, {8, 128}},
                       {"c", DType::F32, {2, 128}, ir::MemorySpace::Smem},
                       pl::dmaSemaphores("sem")},
                      [&](const std::vector<pl::Ref>& refs) {
                          const auto copy = [&](pl::Ref from, pl::Ref to) {
                              pl::dmaStart(from, to, refs[3]);
                              pl::dmaWait(to, refs[3]);
                          };
                          copy(x.at({ds(0, 8), pl::all}), refs[0]);
                          copy(refs[0], refs[1]);
                          copy(refs[1].at({ds(0, 2), pl::all}), refs[2]);
                          copy(x.at({ds(8, 8), pl::all}), out.at({ds(0, 8), pl::all}));
                          copy(refs[1], out.at({ds(8, 8), pl::all}));
                          return std::vector<pl::Value>{};
                      });
    };
    const Result<ir::Program> program = pl::kernel(
        "by_hand", {pl::in("x", DType::F32, {16, 128}), pl::out("out", DType::F32, {16, 128})},
        body);
    ASSERT_TRUE(program);
    const chip::Chip chip = chipNamed("tpu_v5e");
    const machine::RunResult with = runOnce(*program, chip, true),
                             without = runOnce(*program, chip, false);
    EXPECT_EQ(without.sums, trace::summaryOf(*with.trace));
    const trace::Index index(with.trace);
    EXPECT_EQ(index.bytes(with.trace->end()), 4 * 4096);
    for (const Result<analysis::Report>& report :
         {analysis::report(*with.trace), analysis::report(without.info, without.sums, chip)}) {
        ASSERT_TRUE(report);
        EXPECT_EQ(report->hbmRead, Bytes(2 * 4096));
        EXPECT_EQ(report->hbmWritten, Bytes(2 * 4096));
        std::string traffic;
        for (const analysis::Traffic& row : report->traffic) {
            traffic += row.operand + " " + std::to_string(row.way) + " "
                       + std::to_string(row.bytes.value()) + "\n";
        }
        EXPECT_EQ(traffic, "x \u2192 a 0 4096\na \u2192 b 2 4096\nb \u2192 c 2 1024\n"
                           "x \u2192 out 0 4096\nx \u2192 out 1 4096\nb \u2192 out 1 4096\n");
    }
}

// The body of every step, even of the first one, begins with a wait for a copy that it starts
// itself.
TEST(Sums, countAStepThatWaitsAsSoonAsItsBodyBegins)
{
    const auto body = [](pl::Ref x, pl::Ref out) {
        pl::runScoped({{"a", DType::F32, {8, 128}}, pl::dmaSemaphores("sem")},
                      [&](const std::vector<pl::Ref>& refs) {
                          pl::emitPipeline(
                              {.grid = {2},
                               .out = {pl::block({8, 128}, [](auto i) { return pl::at(i, 0); })}},
                              [&](pl::Ref held) {
                                  pl::dmaStart(x, refs[0], refs[1]);
                                  pl::dmaWait(refs[0], refs[1]);
                                  held[pl::all] = refs[0][pl::all].load();
                              })(out);
                          return std::vector<pl::Value>{};
                      });
    };
    const Result<ir::Program> program = pl::kernel(
        "waits", {pl::in("x", DType::F32, {8, 128}), pl::out("out", DType::F32, {16, 128})}, body);
    ASSERT_TRUE(program) << program.error().message;
    const auto trace = neededRun(*program, chipNamed("tpu_v5e"));
    ASSERT_EQ(trace->waits().begin[0], trace->steps().bodyBegin[0]);
    EXPECT_EQ(trace::summaryOf(*trace).stalledSteps, 2);
}

// The waits of the steps of two cores alternate.
TEST(Sums, aStepThatWaitsTwiceIsOne)
{
    trace::Summarizer sums{trace::Info()};
    for (const std::int64_t at : {10, 20, 30}) {
        for (const std::int32_t step : {1, 2}) {
            sums.addWait(trace::AgentRow{0}, trace::StepRow{step},
                         trace::Summarizer::WaitKind::PipelineCopy, Picoseconds(at + step),
                         Picoseconds(at + step + 5));
        }
    }
    const trace::Summary all =
        std::move(sums).finish(3, Picoseconds(5), Picoseconds(40), Picoseconds(50));
    EXPECT_EQ(all.stalledSteps, 2);
}

// The time in which nothing runs, counted instant by instant.
TEST(Sums, idleTimeIsWhatNeitherSegmentsNorCopiesCover)
{
    for (const auto& [kernel, changes] : kRuns) {
        const auto trace = neededRun(programOf(kernel, changes), chipNamed("tpu_v5e"));
        std::map<std::int64_t, int> edges; // for each time, how many begin minus how many end
        for (std::size_t i = 0; i < trace->copies().size(); ++i) {
            ++edges[trace->copies().start[i]];
            --edges[trace->copies().end[i]];
        }
        for (std::size_t i = 0; i < trace->segments().size(); ++i) {
            const auto id = static_cast<std::size_t>(trace->segments().templateId[i]);
            ++edges[trace->segments().begin[i]];
            --edges[trace->segments().begin[i] + trace->info().templates[id].duration.value()];
        }
        std::int64_t covered = 0, since = 0;
        int running = 0;
        for (const auto& [time, change] : edges) {
            covered += running > 0 ? time - since : 0;
            running += change;
            since = time;
        }
        EXPECT_EQ(trace::summaryOf(*trace).idle, trace->end() - Picoseconds(covered)) << kernel;
    }
}

} // namespace pallascope::study
