// The views of a run for a GPU: blocks wave by wave, the memory of one SM, what came from L2.
#include "app/run_job/view_of_run.h"
#include "core/ir/builder_tensor.h"
#include "core/trace/cache_history.h"
#include "core/trace/grid_launches.h"
#include "core/trace_file/trace_file.h"
#include "tests/layout_program/runs.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/machine/support.h"
#include "views/layout/run/barriers.h"
#include "views/layout/run/grid_blocks.h"
#include "views/layout/tooltip/tooltip.h"
#include "views/layout/views.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

using namespace pallascope;
using namespace pallascope::layout;

namespace {

namespace gpu = pl::gpu;
using machine_test::kF32;

constexpr std::int32_t kRows = 5, kColumns = 3, kSms = 4; // of the grid; SMs
constexpr Extent kM = 128, kN = 64, kK = 64, kSteps = 3;

// Each block multiplies tiles that it loads into two slots in turn, and adds up in TMEM.
ir::Program tiledProduct()
{
    return machine_test::mustTrace(pl::kernel(
        "tiled",
        {pl::in("a", DType::F16, {kRows * kM, kSteps * kK}),
         pl::in("b", DType::F16, {kSteps * kK, kColumns * kN}),
         pl::out("out", kF32, {kRows * kM, kColumns * kN})},
        [&](pl::Ref a, pl::Ref b, pl::Ref out) {
            gpu::launch({{{"i", kRows}, {"j", kColumns}}}, [&] {
                const pl::Value row = pl::axisIndex("i") * static_cast<int>(kM);
                const pl::Value column = pl::axisIndex("j") * static_cast<int>(kN);
                gpu::runScoped(
                    {gpu::smem("a_tiles", DType::F16, {2, kM, kK}),
                     gpu::smem("b_tiles", DType::F16, {2, kK, kN}), gpu::tmem("sum", {kM, kN}),
                     gpu::barrier("loaded", 2, {2}), gpu::barrier("done")},
                    true, [&](const std::vector<pl::Ref>& refs) {
                        for (int k = 0; k < kSteps; ++k) {
                            const int slot = k % 2;
                            const pl::Ref ready = refs[3].at({slot});
                            const pl::Ref left = refs[0].at({slot, pl::all, pl::all});
                            const pl::Ref right = refs[1].at({slot, pl::all, pl::all});
                            const int first = k * static_cast<int>(kK);
                            gpu::copyGmemToSmem(a.at({pl::ds(row, kM), pl::ds(first, kK)}), left,
                                                ready);
                            gpu::copyGmemToSmem(b.at({pl::ds(first, kK), pl::ds(column, kN)}),
                                                right, ready);
                            gpu::barrierWait(ready);
                            gpu::tensorMultiply({refs[2], left, right},
                                                pl::full(Shape{}, k > 0 ? 1 : 0, DType::Bool));
                            gpu::tensorCommitArrive(refs[4]);
                            gpu::barrierWait(refs[4]);
                        }
                        out.at({pl::ds(row, kM), pl::ds(column, kN)})[pl::all] =
                            refs[2][pl::all].load();
                    });
            });
        }));
}

std::shared_ptr<const RunView> runOfTiled(std::int32_t devices)
{
    ir::Program program = tiledProduct();
    if (devices > 1) { // which all do the same
        program.mesh = {{"x", devices}};
    }
    return test::runOnFewSms(program, kSms);
}

const RunView& tiledRun()
{
    static const std::shared_ptr<const RunView> view = runOfTiled(1);
    return *view;
}

double factOf(const Scene& scene, FactKind kind, std::int32_t of = -1)
{
    for (const Fact& fact : scene.facts) {
        if (fact.kind == kind && fact.of == of) {
            return fact.value;
        }
    }
    return -1;
}

} // namespace

TEST(GpuViews, nothingOverlapsOrLeavesAnyViewAtAnySize)
{
    const RunView& run = tiledRun();
    for (const View& view : allViews()) {
        for (const Size size : {Size{347, 420}, {333, 440}, {449, 664}, {669, 330}, {960, 900}}) {
            for (const double share : {0.0, 0.2, 0.5, 0.8, 0.95, 1.0}) {
                ViewState state = test::at(run, share);
                state.visible = {Picoseconds(0), run.trace->end()};
                state.sm = 2;
                const Scene scene = view.layout(run, state, size);
                EXPECT_EQ(test::textsOutside(scene), std::vector<std::string>()) << view.name;
                if (view.name == "roofline") { // whose names lie along slanted lines
                    continue;
                }
                EXPECT_EQ(test::overlaps(scene), std::vector<std::string>())
                    << view.name << " " << size.width << " x " << size.height << " at " << share;
            }
        }
    }
}

TEST(GpuViews, eachBlockHasACellThatSaysWhereItRuns)
{
    const RunView& run = tiledRun();
    const trace::GridBlocks& blocks = run.trace->gridBlocks();
    ASSERT_EQ(blocks.size(), static_cast<std::size_t>(kRows * kColumns));
    for (const double share : {0.0, 0.4, 0.9, 1.0}) {
        const ViewState state = test::at(run, share);
        const Scene scene = findView("grid")->layout(run, state, {495, 664});
        std::map<std::int64_t, Rect> cells;
        for (const Hit& hit : scene.hits) {
            if (const auto* block = std::get_if<target::GridBlock>(&hit.target)) {
                EXPECT_TRUE(cells.emplace(block->row, hit.rect).second);
            }
        }
        ASSERT_EQ(cells.size(), blocks.size());
        std::int64_t runs = 0, done = 0;
        for (const auto& [row, rect] : cells) {
            const auto i = static_cast<std::size_t>(row);
            const bool isDone = blocks.end[i] <= state.now.value();
            const bool isRunning = !isDone && blocks.begin[i] <= state.now.value();
            runs += isRunning ? 1 : 0;
            done += isDone ? 1 : 0;
            const FillItem* fill = test::fillAt(scene, rect.x + 2, rect.y + 2);
            ASSERT_NE(fill, nullptr);
            EXPECT_EQ(fill->color == Color(Role::Vpu), isRunning);
            EXPECT_EQ(fill->color == Color(Role::Grid), !isRunning && !isDone);
            const std::vector<std::string> tip = tooltip(run, state, target::GridBlock{row});
            ASSERT_GE(tip.size(), 2U);
            EXPECT_EQ(tip[0], "block (" + std::to_string(blocks.block[i] / kColumns) + ","
                                  + std::to_string(blocks.block[i] % kColumns) + ")");
            const std::string& agent =
                run.trace->info().agents[static_cast<std::size_t>(blocks.agent[i])];
            EXPECT_EQ(tip[1], "on " + agent.substr(0, agent.find(" Warpgroup")));
        }
        EXPECT_EQ(factOf(scene, FactKind::GridBlocksRunning), static_cast<double>(runs));
        EXPECT_EQ(factOf(scene, FactKind::GridBlocksDone), static_cast<double>(done));
    }
}

TEST(GpuViews, theChosenDeviceHasItsOwnBlocksAndItsOwnMemory)
{
    const std::shared_ptr<const RunView> run = runOfTiled(2);
    for (const std::int32_t device : {0, 1}) {
        ViewState state = test::at(*run, 0.5);
        state.device = device;
        state.sm = 2;
        const std::int32_t chosen = chosenSm(*run, state);
        EXPECT_EQ(chosen, device * kSms + 2);
        std::size_t cells = 0;
        for (const Hit& hit : findView("grid")->layout(*run, state, {495, 664}).hits) {
            if (const auto* block = std::get_if<target::GridBlock>(&hit.target)) {
                const std::int32_t sm = smOfBlock(*run, block->row);
                EXPECT_EQ(run->index->agents().sms[static_cast<std::size_t>(sm)].device, device);
                ++cells;
            }
        }
        EXPECT_EQ(cells, static_cast<std::size_t>(kRows * kColumns));
        const std::string name = "device " + std::to_string(device) + " SM 2";
        EXPECT_EQ(tooltip(*run, state, target::Sm{chosen}).front(), name);
        const std::string memory = findView("memory")->layout(*run, state, {449, 664}).caption;
        EXPECT_NE(memory.find("|" + name + "|"), std::string::npos) << memory;
        const Scene devices = findView("devices")->layout(*run, state, {500, 600});
        EXPECT_TRUE(test::hasText(devices, "blocks run") || test::hasText(devices, "block runs"));
    }
}

// The name of the run leaves the points of other levels free.
TEST(GpuViews, noNameLiesOnThePointOfALevel)
{
    const RunView& run = tiledRun();
    int points = 0;
    for (const Size size : {Size{365, 216}, Size{669, 318}, Size{960, 560}}) {
        for (int percent = 5; percent <= 100; percent += 5) {
            const Scene scene =
                findView("roofline")->layout(run, test::at(run, percent / 100.0), size);
            for (const Item& item : scene.items) {
                const auto* disc = std::get_if<DiscItem>(&item);
                if (disc == nullptr || disc->radius != 3.5) {
                    continue;
                }
                ++points;
                for (const TextItem& text : test::textsOf(scene)) {
                    const Rect ink = test::inkOf(text);
                    EXPECT_FALSE(text.angle == 0 && ink.x < disc->center.x + 3.5
                                 && disc->center.x - 3.5 < ink.right()
                                 && ink.y < disc->center.y + 3.5
                                 && disc->center.y - 3.5 < ink.bottom())
                        << text.text << " " << size.width << " at " << percent;
                }
            }
        }
    }
    EXPECT_GT(points, 0);
}

// Cells of one wave lie side by side, and a later wave lies below.
TEST(GpuViews, wavesLieBelowEachOther)
{
    const RunView& run = tiledRun();
    const trace::GridLaunch& launch = run.index->launches().all().front();
    ASSERT_GT(launch.waves, 1);
    const Scene scene = findView("grid")->layout(run, test::at(run, 0.5), {495, 664});
    std::map<std::int64_t, Rect> cells;
    for (const Hit& hit : scene.hits) {
        if (const auto* block = std::get_if<target::GridBlock>(&hit.target)) {
            cells[block->row] = hit.rect;
        }
    }
    for (const trace::GridLaunch::Place& place : launch.places) {
        for (std::size_t wave = 1; wave < place.rows.size(); ++wave) {
            const Rect &above = cells.at(place.rows[wave - 1]), &below = cells.at(place.rows[wave]);
            EXPECT_EQ(above.x, below.x);
            EXPECT_GE(below.y, above.bottom() - 1);
        }
    }
}

// In the second wave 7 of 8 places have a block.
TEST(GpuViews, idleSmsOfTheTailAreCounted)
{
    const RunView& run = tiledRun();
    const trace::GridBlocks& blocks = run.trace->gridBlocks();
    for (double share = 0; share <= 1; share += 0.02) {
        const ViewState state = test::at(run, share);
        std::set<std::int32_t> busy;
        bool isUnderWay = false;
        for (std::size_t row = 0; row < blocks.size(); ++row) {
            if (blocks.end[row] > state.now.value()) {
                busy.insert(smOfBlock(run, static_cast<std::int64_t>(row)));
                isUnderWay = true;
            }
        }
        isUnderWay = isUnderWay && blocks.begin.front() <= state.now.value();
        const Scene scene = findView("grid")->layout(run, state, {495, 664});
        const double idle =
            isUnderWay ? static_cast<double>(kSms) - static_cast<double>(busy.size()) : 0;
        EXPECT_EQ(std::max(0.0, factOf(scene, FactKind::SmsIdle)), idle) << share;
    }
}

TEST(GpuViews, aBarrierSaysItsPhaseItsArrivalsAndWhatIsToCome)
{
    const RunView& run = tiledRun();
    const trace::Trace& trace = *run.trace;
    const trace::Signals& signals = trace.signals();
    int pending = 0, waiting = 0;
    for (std::size_t semaphore = 0; semaphore < trace.info().semaphores.size(); ++semaphore) {
        const auto number = static_cast<std::int32_t>(semaphore);
        if (!isBarrier(trace.info(), number)) {
            continue;
        }
        const std::int32_t agent = trace.info().semaphores[semaphore].agent;
        for (double share = 0; share < 1; share += 0.01) {
            const Picoseconds now = test::at(run, share).now;
            const auto block = run.index->launches().blockOf(agent, now);
            const std::int64_t since =
                block ? trace.gridBlocks().begin[static_cast<std::size_t>(*block)] : 0;
            std::int64_t complete = 0, arrived = 0, bytes = 0;
            for (std::size_t row = 0; row < signals.size(); ++row) {
                if (signals.semaphore[row] == number && signals.time[row] >= since
                    && signals.time[row] <= now.value()) {
                    complete += signals.amount[row] < 0 ? 1 : 0;
                    arrived += signals.amount[row];
                }
            }
            const trace::Copies& copies = trace.copies();
            for (std::size_t end = 1; end < trace.copyEnds().size(); end += 2) {
                const auto copy = static_cast<std::size_t>(trace.copyEnds().copy[end]);
                if (trace.copyEnds().semaphore[end] == number && copies.issue[copy] <= now.value()
                    && copies.end[copy] > now.value()) {
                    ++bytes;
                }
            }
            const BarrierNow barrier = barrierAt(run, number, now);
            EXPECT_EQ(barrier.complete, complete);
            EXPECT_EQ(barrier.arrived, arrived);
            EXPECT_EQ(barrier.copies, bytes);
            EXPECT_EQ(barrier.pending > Bytes(0), bytes > 0);
            pending += bytes > 0 ? 1 : 0;
            waiting += barrier.waiting.empty() ? 0 : 1;
        }
    }
    EXPECT_GT(pending, 10);
    EXPECT_GT(waiting, 10);
}

TEST(GpuViews, theMemoryOfAnSmHasItsBarriersItsTensorMemoryAndItsRegisters)
{
    const RunView& run = tiledRun();
    ViewState state = test::at(run, 0.5);
    state.sm = 1;
    const Scene scene = findView("memory")->layout(run, state, {800, 600});
    for (const char* text : {"Barriers", "loaded", "done", "TMEM", "sum", "Registers"}) {
        EXPECT_TRUE(test::hasText(scene, text)) << text;
    }
    EXPECT_NE(scene.caption.find("SM 1"), std::string::npos) << scene.caption;
    std::set<std::string> named;
    for (const Hit& hit : scene.hits) {
        if (is<target::Semaphore>(hit.target)) {
            named.insert(tooltip(run, state, hit.target).at(0));
        }
    }
    EXPECT_EQ(named, (std::set<std::string>{"loaded[0]", "loaded[1]", "done"}));
}

TEST(GpuViews, theCaptionOfTheTimeLineIsOfTheChosenSm)
{
    const std::shared_ptr<const RunView> run = runOfTiled(2);
    std::set<std::string> named;
    for (const std::int32_t device : {0, 1}) {
        for (std::int32_t sm = 0; sm < kSms; ++sm) {
            for (const double share : {0.2, 0.4}) {
                ViewState state = test::at(*run, share);
                state.device = device;
                state.sm = sm;
                const Scene scene = findView("timeline")->layout(*run, state, {1280, 400});
                const std::size_t name = scene.caption.find(" SM ");
                if (name != std::string::npos) {
                    EXPECT_NE(scene.caption.find(fmt::format("device {} SM {} ", device, sm)),
                              std::string::npos)
                        << scene.caption;
                    named.insert(scene.caption.substr(name, 5));
                }
            }
        }
    }
    EXPECT_GT(named.size(), 1U);
}

// At the end, hits and misses of all arrays together are those of the report.
TEST(GpuViews, whatCameFromL2IsWhatTheReportSays)
{
    const RunView& run = tiledRun();
    ASSERT_TRUE(run.report.l2);
    const Scene scene = findView("memory")->layout(run, test::at(run, 1), {800, 600});
    double fromL2 = 0;
    for (const Fact& fact : scene.facts) {
        fromL2 += fact.kind == FactKind::BytesFromL2 ? fact.value : 0;
    }
    EXPECT_EQ(fromL2, static_cast<double>(run.report.l2->hit.value()));
    EXPECT_GT(fromL2, 0);
}

// A share for each array, which together are as wide as what L2 holds.
TEST(GpuViews, theMemoryShowsWhatL2HoldsOfEachArray)
{
    const RunView& run = tiledRun();
    const auto& operands = run.trace->info().operands;
    const trace::CacheHistory& history = run.index->caches();
    ASSERT_EQ(history.operands().size(), 3U);
    std::set<double> widths;
    for (const double share : {0.0, 0.1, 0.3, 0.6, 1.0}) {
        const ViewState state = test::at(run, share);
        const Scene scene = findView("memory")->layout(run, state, {800, 600});
        double width = 0, right = 0;
        for (const std::int32_t operand : history.operands()) {
            const Bytes held = history.heldAt(0, trace::OperandRow{operand}, state.now);
            EXPECT_EQ(factOf(scene, FactKind::BytesInL2, operand),
                      static_cast<double>(held.value()));
            const std::vector<Rect> bars = framesOf(scene, target::Cached{0, operand});
            ASSERT_LE(bars.size(), held > Bytes(0) ? 1U : 0U);
            for (const Rect& bar : bars) {
                EXPECT_GE(bar.x, right);
                right = bar.right();
                width += bar.w;
                const std::vector<std::string> tip =
                    tooltip(run, state, target::Cached{0, operand});
                const std::string name(
                    trace::arrayName(operands[static_cast<std::size_t>(operand)]));
                ASSERT_GE(tip.size(), 3U);
                EXPECT_EQ(tip[0], name + " in L2");
                EXPECT_EQ(tip[1].find(bytesText(held)), 0U) << tip[1];
            }
        }
        widths.insert(width);
    }
    EXPECT_GE(widths.size(), 4U); // it moves as the run goes on
    EXPECT_EQ(*widths.begin(), 0);
    // All fits, so what was ever read or written is there at the end.
    for (const std::int32_t operand : history.operands()) {
        EXPECT_EQ(history.heldAt(0, trace::OperandRow{operand}, run.trace->end()),
                  operands[static_cast<std::size_t>(operand)].arrayBytes);
    }
}

TEST(GpuViews, whatL2HoldsIsInSavedTracesButNotInOlderOnes)
{
    const RunView& run = tiledRun();
    const std::string text = trace_file::toJson(*run.trace);
    const auto saved = trace_file::fromJson(text, "saved");
    ASSERT_TRUE(saved) << saved.error().message;
    ASSERT_EQ((*saved)->cacheChanges(), run.trace->cacheChanges());
    EXPECT_GT((*saved)->cacheChanges().size(), 10U);
    auto older = nlohmann::ordered_json::parse(text);
    ASSERT_EQ(older["pallascope"].erase("cache_changes"), 1U);
    const auto opened = trace_file::fromJson(older.dump(), "older");
    ASSERT_TRUE(opened) << opened.error().message;
    const auto view = app::viewOf(*opened);
    const Scene scene = findView("memory")->layout(**view, test::at(**view, 0.5), {800, 600});
    EXPECT_FALSE(std::any_of(scene.hits.begin(), scene.hits.end(),
                             [](const Hit& hit) { return is<target::Cached>(hit.target); }));
    EXPECT_TRUE(tooltip(**view, test::at(**view, 0.5), target::Cached{0, 0}).empty());
}
