// What the memory view says of shared memory and of barriers while the blocks of a GPU come and go.
#include "core/ir/builder_gpu.h"
#include "core/trace/columns.h"
#include "core/trace/scratch_slots.h"
#include "tests/layout_program/runs.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/machine/support.h"
#include "views/layout/run/barriers.h"
#include "views/layout/views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace pallascope;
using namespace pallascope::layout;
using trace::at;

namespace {

namespace gpu = pl::gpu;
using trace::ScratchPhase;

constexpr std::int32_t kTwoSms = 2, kBlocksAhead = 8, kSlots = 2;
constexpr Extent kTileRows = 64, kTileColumns = 64;

// Each block copies all of its tiles ahead, one after the other into both slots, and then waits for
// them in turn. Its last scratch is touched by no copy. Without `canEnd` it waits for a barrier on
// which nothing arrives.
ir::Program copiesAhead(bool canEnd)
{
    const Extent rows = kBlocksAhead * kSlots * kTileRows;
    return machine_test::mustTrace(pl::kernel(
        "ahead",
        {pl::in("x", DType::F32, {rows, kTileColumns}),
         pl::out("out", DType::F32, {rows, kTileColumns})},
        [&](pl::Ref x, pl::Ref out) {
            gpu::launch({{{"i", kBlocksAhead}}}, [&] {
                const pl::Value first = pl::axisIndex("i") * static_cast<int>(kSlots * kTileRows);
                gpu::runScoped(
                    {gpu::smem("tiles", DType::F32, {kSlots, kTileRows, kTileColumns}),
                     gpu::smem("sums", DType::F32, {kTileRows, kTileColumns}),
                     gpu::barrier("full", 1, {kSlots}), gpu::barrier("never")},
                    true, [&](const std::vector<pl::Ref>& refs) {
                        const auto part = [&](const pl::Ref& ref, int slot) {
                            return ref.at(
                                {pl::ds(first + slot * static_cast<int>(kTileRows), kTileRows),
                                 pl::all});
                        };
                        for (int slot = 0; slot < kSlots; ++slot) {
                            gpu::copyGmemToSmem(part(x, slot), refs[0].at({slot, pl::all, pl::all}),
                                                refs[2].at({slot}));
                        }
                        for (int slot = 0; slot < kSlots; ++slot) {
                            gpu::barrierWait(refs[2].at({slot}));
                            refs[1][pl::all] =
                                pl::exp(refs[0].at({slot, pl::all, pl::all})[pl::all].load());
                            part(out, slot)[pl::all] = refs[1][pl::all].load();
                        }
                        if (!canEnd) {
                            gpu::barrierWait(refs[3]);
                        }
                    });
            });
        }));
}

const RunView& ahead()
{
    static const std::shared_ptr<const RunView> run = test::runOnFewSms(copiesAhead(true), kTwoSms);
    return *run;
}

// Whether some block of an agent runs.
bool isHeld(const trace::Trace& trace, std::int32_t agent, Picoseconds now)
{
    const trace::GridBlocks& blocks = trace.gridBlocks();
    bool held = false;
    for (std::size_t row = 0; row < blocks.size(); ++row) {
        held = held
               || (blocks.agent[row] == agent && blocks.begin[row] <= now.value()
                   && now.value() < blocks.end[row]);
    }
    return held;
}

Scene memoryOf(const RunView& run, Picoseconds now)
{
    ViewState state;
    state.now = now;
    return findView("memory")->layout(run, state, {800, 600});
}

} // namespace

TEST(GpuMemory, aSlotIsFreeWhileNoBlockHasIt)
{
    const RunView& run = ahead();
    std::map<ScratchPhase, int> held, unheld;
    for (double share = 0; share <= 1; share += 0.005) {
        const Picoseconds now = test::at(run, share).now;
        for (std::size_t slot = 0; slot < run.index->scratch().all().size(); ++slot) {
            const std::int32_t agent = run.index->scratch().all()[slot].agent;
            const ScratchPhase phase = run.index->scratch().stateAt(*run.trace, slot, now).phase;
            ++(isHeld(*run.trace, agent, now) ? held : unheld)[phase];
        }
    }
    EXPECT_GT(held[ScratchPhase::InUse], 10);
    EXPECT_GT(unheld[ScratchPhase::Unused], 10);
    EXPECT_EQ(unheld.size(), 1U);
}

TEST(GpuMemory, saysFreeOfSharedMemoryAfterTheLastBlock)
{
    const RunView& run = ahead();
    const Scene scene = memoryOf(run, run.trace->end());
    EXPECT_FALSE(test::hasText(scene, "in use"));
    EXPECT_FALSE(test::hasText(scene, "scratch"));
    const std::vector<TextItem> texts = test::textsOf(scene);
    EXPECT_EQ(std::ranges::count(texts, "free", &TextItem::text), kSlots + 1);
}

// It decides with the arrays whether a block fits, in all views.
TEST(GpuMemory, whatTheCompilerTakesIsInTheBudgetAndInTheMemory)
{
    RunView run = ahead();
    const auto takenOf = [&run](const char* view) {
        const ViewState state = test::at(run, 0.5);
        const Scene scene = findView(view)->layout(run, state, {800, 600});
        const auto fact = std::ranges::find_if(
            scene.facts, [](const Fact& one) { return one.kind == FactKind::BytesTaken; });
        return fact == scene.facts.end() ? -1 : fact->value;
    };
    const double without = takenOf("kernel");
    EXPECT_GT(without, 0);
    EXPECT_EQ(takenOf("memory"), without);
    run.report.compilersOfBlock = Bytes(2048);
    EXPECT_EQ(takenOf("kernel"), without + 2048);
    EXPECT_EQ(takenOf("memory"), without + 2048);
    EXPECT_TRUE(
        test::hasText(findView("kernel")->layout(run, test::at(run, 0.5), {800, 600}), "compiler"));
}

TEST(GpuMemory, aSlotIsInUseFromTheWaitForItsOwnBarrier)
{
    const trace::Trace& trace = *ahead().trace;
    const trace::CopyEnds& ends = trace.copyEnds();
    const trace::Waits& waits = trace.waits();
    std::map<std::int32_t, std::vector<std::size_t>> copies, waited; // by barrier
    for (std::size_t end = 1; end < ends.size(); end += 2) {
        if (ends.semaphore[end] != trace::kNone) {
            copies[ends.semaphore[end]].push_back(end);
        }
    }
    for (std::size_t row = 0; row < waits.size(); ++row) {
        if (waits.semaphore[row] != trace::kNone) {
            waited[waits.semaphore[row]].push_back(row);
        }
    }
    int later = 0;
    for (const auto& [barrier, its] : copies) {
        ASSERT_EQ(its.size(), waited[barrier].size());
        for (std::size_t i = 0; i < its.size(); ++i) { // one copy and one wait in each block
            const std::int64_t end = waits.end[waited[barrier][i]];
            EXPECT_EQ(ahead().index->scratch().awaited(trace::EndRow::at(its[i])),
                      Picoseconds(end));
            later += end > trace.copies().end[at(ends.copy[its[i]])] ? 1 : 0;
        }
    }
    EXPECT_GE(later, kBlocksAhead);
}

TEST(GpuMemory, showsTheBarrierOnWhichNothingArrives)
{
    const std::shared_ptr<const RunView> run = test::runOnFewSms(copiesAhead(false), kTwoSms);
    ASSERT_EQ(run->trace->info().stoppedBy, "deadlock");
    const Scene scene = memoryOf(*run, run->trace->end() - Picoseconds(1));
    EXPECT_TRUE(test::hasText(scene, "never"));
    std::set<std::string> shown, waitedFor;
    for (const Hit& hit : scene.hits) {
        if (const auto* semaphore = std::get_if<target::Semaphore>(&hit.target)) {
            const std::string& name = run->trace->info().semaphores[at(semaphore->row)].name;
            shown.insert(name);
            const BarrierNow now = barrierAt(*run, static_cast<std::int32_t>(semaphore->row),
                                             run->trace->end() - Picoseconds(1));
            if (!now.waiting.empty()) {
                waitedFor.insert(name);
            }
        }
    }
    EXPECT_EQ(shown, (std::set<std::string>{"full[0]", "full[1]", "never"}));
    EXPECT_EQ(waitedFor, (std::set<std::string>{"never"}));
    // Nothing has ended, so what lies in the slots is still there at the end.
    EXPECT_TRUE(test::hasText(memoryOf(*run, run->trace->end()), "in use"));
}
