// One bug of order in each program, and a twin without it: copies that nobody waits for, slots in
// use, races between cores, deadlocks, semaphores that are left over.
#include "tests/machine/engine/planted.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pallascope::machine_test {

namespace {

using Refs = std::vector<pl::Ref>;
using Nothing = std::vector<pl::Value>;

machine::RunResult runOf(const ir::Program& program, const chip::Chip& chip,
                         const machine::Settings& settings = {},
                         machine::ValueMode values = machine::ValueMode::Full)
{
    std::vector<Array> inputs;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const Shape& shape = program.type(argument.ref).shape;
            inputs.push_back(arrayOf(
                kF32, shape, std::vector<double>(static_cast<std::size_t>(shape.elements()), 1)));
        }
    }
    Result<machine::RunResult> run =
        machine::run(program, inputs, chip, {.values = values, .settings = settings});
    if (!run) {
        throw std::runtime_error(run.error().message);
    }
    return std::move(*run);
}

// Expects the one finding in both value modes, and none in the twin or without detect_races.
void expectOne(const Planted& bug, const Planted& twin, const Found& wanted,
               const chip::Chip& chip = v5e())
{
    for (const auto values : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        const machine::RunResult run = runOf(bug.program, chip, {}, values);
        const std::vector<trace::Finding> all = findingsOf(run, wanted.kind);
        ASSERT_EQ(all.size(), 1U) << findingsText(run);
        const trace::Finding& found = all[0];
        EXPECT_EQ(findingsBesidesResults(run),
                  found.kind + " x" + std::to_string(found.count) + ": " + found.message + "; ");
        EXPECT_EQ(found.kind, wanted.kind) << found.message;
        EXPECT_EQ(found.operand, wanted.operand);
        EXPECT_EQ(found.step, wanted.step);
        EXPECT_EQ(found.source.line, bug.line) << found.message;
        EXPECT_EQ(found.category, trace::FindingClass::Structural);
        EXPECT_EQ(run.trace->info().stoppedBy, run.completed ? "" : wanted.kind);
        EXPECT_EQ(findingsBesidesResults(runOf(twin.program, chip, {}, values)), "");
    }
}

// A kernel without a grid on arrays f32[16,128] in HBM.
template<class F>
ir::Program manualDma(const std::vector<pl::Scratch>& scratch, const F& body)
{
    return mustTrace(pl::kernel("manual_dma",
                                {pl::in("x", kF32, {16, 128}), pl::out("out", kF32, {16, 128})},
                                [&](pl::Ref x, pl::Ref out) {
                                    pl::runScoped(scratch, [&](const Refs& refs) {
                                        body(x, out, refs);
                                        return Nothing{};
                                    });
                                }));
}

const pl::Scratch kSlots{"slots", kF32, {2, 8, 128}};
const pl::Scratch kOne{"one", kF32, {16, 128}};

// Doubles the block after the wait for it, or before.
Planted doubles(bool waitsFirst)
{
    std::int64_t line = 0;
    ir::Program program =
        manualDma({kOne, pl::dmaSemaphores("sem")}, [&](pl::Ref x, pl::Ref out, const Refs& refs) {
            pl::dmaStart(x, refs[0], refs[1]);
            if (waitsFirst) {
                pl::dmaWait(refs[0], refs[1]);
            }
            const pl::Here here = pl::Here::current();
            const pl::Value twice = pl::apply(
                ir::OpCode::Add, {refs[0][{pl::all, here}].load(), pl::full({16, 128}, 1, kF32)},
                {}, here);
            line = here.line();
            if (!waitsFirst) {
                pl::dmaWait(refs[0], refs[1]);
            }
            refs[0][pl::all] = twice;
            copyAndWait(refs[0], out, refs[1]);
        });
    return {std::move(program), line};
}

// Two blocks go through two slots. The second copy in goes to the slot of the first, or to its own.
Planted fills(int slot)
{
    std::int64_t line = 0;
    ir::Program program =
        manualDma({kSlots, pl::dmaSemaphores("in", {2}), pl::dmaSemaphores("back")},
                  [&](pl::Ref x, pl::Ref out, const Refs& refs) {
                      const auto rows = [](pl::Ref ref, int i) {
                          return ref.at({pl::ds(8 * i, 8), pl::all});
                      };
                      const auto at = [&](int i) { return refs[0].at({i, pl::all, pl::all}); };
                      pl::dmaStart(rows(x, 0), at(0), refs[1].at({0}));
                      const pl::Here here = pl::Here::current();
                      pl::dmaStart(rows(x, 1), at(slot), refs[1].at({1}), here);
                      line = here.line();
                      for (int i = 0; i < 2; ++i) {
                          pl::dmaWait(at(0), refs[1].at({i}));
                      }
                      copyAndWait(at(0), rows(out, 0), refs[2]);
                      copyAndWait(at(slot), rows(out, 1), refs[2]);
                  });
    return {std::move(program), line};
}

// Writes the slot again after the wait for its write-back, or while the write-back is under way.
Planted reuses(bool waitsFirst)
{
    std::int64_t line = 0;
    ir::Program program =
        manualDma({kOne, pl::dmaSemaphores("sem")}, [&](pl::Ref, pl::Ref out, const Refs& refs) {
            refs[0][pl::all] = pl::full({16, 128}, 1, kF32);
            pl::dmaStart(refs[0], out, refs[1]);
            if (waitsFirst) {
                pl::dmaWait(out, refs[1]);
            }
            const pl::Here here = pl::Here::current();
            refs[0][{pl::all, here}] = pl::full({16, 128}, 2, kF32);
            line = here.line();
            if (!waitsFirst) {
                pl::dmaWait(out, refs[1]);
            }
        });
    return {std::move(program), line};
}

// The scope with the source or target of a copy ends after the wait for the copy, or before.
Planted outlives(bool waitsInside, bool readsScope)
{
    std::int64_t line = 0;
    ir::Program program =
        manualDma({pl::dmaSemaphores("sem")}, [&](pl::Ref x, pl::Ref out, const Refs& outer) {
            const pl::Here here = pl::Here::current();
            line = here.line();
            pl::runScoped(
                {kOne},
                [&](const Refs& refs) {
                    if (readsScope) {
                        refs[0][pl::all] = pl::full({16, 128}, 1, kF32);
                    }
                    pl::dmaStart(readsScope ? refs[0] : x, readsScope ? out : refs[0], outer[0]);
                    if (waitsInside) {
                        pl::dmaWait(out, outer[0]);
                    }
                    return Nothing{};
                },
                here);
            if (!waitsInside) {
                pl::dmaWait(out, outer[0]);
            }
            if (!readsScope) {
                copyAndWait(x, out, outer[0]);
            }
        });
    return {std::move(program), line};
}

// Both cores write rows of the output: each its own, or both the same.
Planted writes(bool apart)
{
    std::int64_t line = 0;
    ir::Program program = manualDma({}, [&](pl::Ref x, pl::Ref out, const Refs&) {
        pl::coreMap("core", 2, [&] {
            pl::runScoped({pl::dmaSemaphores("sem")}, [&](const Refs& refs) {
                const pl::Value core = pl::axisIndex("core") * (apart ? 8 : 7);
                const pl::Ref rows = out.at({pl::ds(core, 8), pl::all});
                const pl::Here here = pl::Here::current();
                pl::dmaStart(x.at({pl::ds(0, 8), pl::all}), rows, refs[0], here);
                line = here.line();
                pl::dmaWait(rows, refs[0]);
                return Nothing{};
            });
        });
    });
    return {std::move(program), line};
}

// Core 0 writes scratch in HBM and core 1 reads it: ordered by a semaphore, or only some time
// later.
Planted passes(bool signals)
{
    std::int64_t line = 0;
    ir::Program program =
        manualDma({{"between", kF32, {16, 128}, ir::MemorySpace::Hbm}},
                  [&](pl::Ref x, pl::Ref out, const Refs& outer) {
                      pl::coreMap("core", 2, [&] {
                          pl::runScoped({pl::dmaSemaphores("sem"), pl::semaphores("turn")},
                                        [&](const Refs& refs) {
                                            const pl::Value core = pl::axisIndex("core");
                                            pl::when(core == 0, [&] {
                                                copyAndWait(x, outer[0], refs[0]);
                                                if (signals) {
                                                    pl::semaphoreSignal(refs[1], 1, 1);
                                                }
                                            });
                                            pl::when(core == 1, [&] {
                                                if (signals) {
                                                    pl::semaphoreWait(refs[1], 1);
                                                } else {
                                                    // Long enough, but it orders nothing.
                                                    pl::delay(1'000'000);
                                                }
                                                const pl::Here here = pl::Here::current();
                                                pl::dmaStart(outer[0], out, refs[0], here);
                                                line = here.line();
                                                pl::dmaWait(out, refs[0]);
                                            });
                                            return Nothing{};
                                        });
                      });
                  });
    return {std::move(program), line};
}

// Each core waits for the other, and signals before or after that.
Planted meets(bool signalsFirst)
{
    std::int64_t line = 0;
    ir::Program program = manualDma({}, [&](pl::Ref, pl::Ref, const Refs&) {
        pl::coreMap("core", 2, [&] {
            pl::runScoped({pl::semaphores("turn")}, [&](const Refs& refs) {
                const pl::Value other = 1 - pl::axisIndex("core");
                if (signalsFirst) {
                    pl::semaphoreSignal(refs[0], 1, other);
                }
                const pl::Here here = pl::Here::current();
                pl::semaphoreWait(refs[0], 1, true, here);
                line = here.line();
                if (!signalsFirst) {
                    pl::semaphoreSignal(refs[0], 1, other);
                }
                return Nothing{};
            });
        });
    });
    return {std::move(program), line};
}

// Two signals and one wait, which waits for both or for one.
Planted counts(int waited)
{
    std::int64_t line = 0;
    ir::Program program =
        manualDma({pl::semaphores("sem", {2})}, [&](pl::Ref, pl::Ref, const Refs& refs) {
            const pl::Here here = pl::Here::current();
            pl::semaphoreSignal(refs[0].at({1}), 2, here);
            line = here.line();
            pl::semaphoreWait(refs[0].at({1}), waited);
        });
    return {std::move(program), line};
}

Planted copies(bool waits)
{
    std::int64_t line = 0;
    ir::Program program =
        manualDma({kOne, pl::dmaSemaphores("sem")}, [&](pl::Ref x, pl::Ref, const Refs& refs) {
            const pl::Here here = pl::Here::current();
            pl::dmaStart(x, refs[0], refs[1], here);
            line = here.line();
            if (waits) {
                pl::dmaWait(refs[0], refs[1]);
            }
        });
    return {std::move(program), line};
}

// Copies four rows on one semaphore and waits for all of them, or for three. Then it loads the
// first of these rows, or nothing.
Planted gathers(bool waitsForAll, bool loads)
{
    std::int64_t line = 0;
    ir::Program program =
        manualDma({kOne, pl::dmaSemaphores("sem"), {"row", kF32, {1, 128}}}, [&](pl::Ref x, pl::Ref,
                                                                                 const Refs& refs) {
            const auto row = [](pl::Ref ref, int i) { return ref.at({pl::ds(i, 1), pl::all}); };
            const pl::Here start = pl::Here::current();
            for (int i = 0; i < 4; ++i) {
                pl::dmaStart(row(x, i), row(refs[0], i), refs[1], start);
            }
            for (int i = 0; i < (waitsForAll ? 4 : 3); ++i) {
                pl::dmaWait(row(refs[0], i), refs[1]);
            }
            line = start.line();
            if (loads) {
                const pl::Here here = pl::Here::current();
                refs[2][pl::all] = row(refs[0], 0)[{pl::all, here}].load();
                line = here.line();
            }
        });
    return {std::move(program), line};
}

// Stores what an un-awaited copy has yet to bring, and a row from memory that nobody writes, in
// the middle of that, after it or not at all.
enum class NobodysRow
{
    None,
    Between,
    After
};

ir::Program storesEarly(NobodysRow when)
{
    const pl::BlockSpec rows = pl::block({8, 128}, [](pl::Value i) { return pl::at(i, 0); });
    return manualDma(
        {{"slot", kF32, {8, 128}}, {"never", kF32, {8, 128}}, pl::dmaSemaphores("sem")},
        [&](pl::Ref x, pl::Ref out, const Refs& refs) {
            const auto body = [&](pl::Ref block) {
                pl::dmaStart(x.at({pl::ds(0, 8), pl::all}), refs[0], refs[2]);
                const pl::Value early = refs[0][{pl::ds(0, 4), pl::all}].load();
                const pl::Value late = refs[0][{pl::ds(4, 4), pl::all}].load();
                const pl::Value never = refs[1][{pl::ds(0, 1), pl::all}].load();
                block[{pl::ds(0, 4), pl::all}] = early;
                if (when == NobodysRow::Between) {
                    block[{pl::ds(0, 1), pl::all}] = never;
                }
                block[{pl::ds(4, 4), pl::all}] = late;
                if (when == NobodysRow::After) {
                    block[{pl::ds(0, 1), pl::all}] = never;
                }
                pl::dmaWait(refs[0], refs[2]);
            };
            pl::emitPipeline({.grid = {1}, .out = {rows}}, body)(out);
        });
}

} // namespace

TEST(PlantedOrder, aSlotIsReadBeforeTheWait)
{
    expectOne(doubles(false), doubles(true), {"read_before_wait", "one"});
}

TEST(PlantedOrder, aSlotIsFilledWhileACopyFillsIt)
{
    expectOne(fills(0), fills(1), {"overwritten_in_flight", "slots"});
}

TEST(PlantedOrder, aSlotIsWrittenWhileItsWriteBackReadsIt)
{
    expectOne(reuses(false), reuses(true), {"overwritten_in_flight", "one"});
}

TEST(PlantedOrder, aScopeEndsWhileACopyReadsOrWritesItsMemory)
{
    for (const bool reads : {true, false}) {
        const Planted bug = outlives(false, reads);
        expectOne(bug, outlives(true, reads), {"freed_in_flight", "one"});
        const machine::RunResult run = runOf(bug.program, v5e());
        const std::string message = findingsOf(run, "freed_in_flight")[0].message;
        EXPECT_NE(message.find(reads ? "reads it (started at " : "writes it (started at "),
                  std::string::npos)
            << message;
    }
}

// The scope around a captured kernel has no place in the source, but the copy has one.
TEST(PlantedOrder, aScopeWithoutAPlaceIsFoundAtTheCopy)
{
    Planted bug = outlives(false, true);
    const auto clear = [&](ir::Region& region, const auto& again) -> void {
        for (ir::Operation& operation : region.operations) {
            if (operation.code == ir::OpCode::RunScoped) {
                operation.location = {};
            }
            for (ir::Region& inner : operation.regions) {
                again(inner, again);
            }
        }
    };
    clear(bug.program.body, clear);
    const auto found = findingsOf(runOf(bug.program, v5e()), "freed_in_flight");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_GE(found[0].source.file, 0);
    EXPECT_EQ(found[0].message.find("one ends with its scope while a copy"), 0U)
        << found[0].message;
}

TEST(PlantedOrder, twoCoresWriteTheSameRow)
{
    // Core 1's copy finds the other one under way, for which core 1 could not wait.
    expectOne(writes(false), writes(true), {"race", "out"}, v5p());
}

TEST(PlantedOrder, oneCoreReadsWhatTheOtherWroteWithoutASignal)
{
    const Planted bug = passes(false);
    expectOne(bug, passes(true), {"race", "between"}, v5p());
    machine::Settings blind;
    blind.detectRaces = machine::DetectRaces::No;
    EXPECT_EQ(findingsText(runOf(bug.program, v5p(), blind)), "");
}

// Core 0 signals before core 1's semaphore exists. What core 0 wrote before the signal is ordered
// all the same.
TEST(PlantedOrder, aSignalThatComesBeforeItsSemaphoreIsNoRace)
{
    const auto late = [](pl::Ref x, pl::Ref out) {
        const pl::Ref from = x.at({pl::ds(0, 8), pl::all}), to = out.at({pl::ds(0, 8), pl::all});
        const pl::Value core = pl::axisIndex("core");
        pl::delay(core * 5000);
        pl::runScoped({pl::dmaSemaphores("sem"), pl::semaphores("turn"), {"a", kF32, {8, 128}}},
                      [&](const Refs& refs) {
                          pl::when(core == 0, [&] {
                              copyAndWait(from, to, refs[0]);
                              pl::semaphoreSignal(refs[1], 1, 1);
                          });
                          pl::when(core == 1, [&] {
                              pl::semaphoreWait(refs[1], 1);
                              copyAndWait(to, refs[2], refs[0]);
                          });
                          return Nothing{};
                      });
    };
    const ir::Program program = mustTrace(
        pl::kernel("late", {pl::in("x", kF32, {16, 128}), pl::out("out", kF32, {16, 128})},
                   [&](pl::Ref x, pl::Ref out) { pl::coreMap("core", 2, [&] { late(x, out); }); }));
    EXPECT_EQ(findingsBesidesResults(runOf(program, v5p())), "");
}

TEST(PlantedOrder, twoCoresWaitForEachOther)
{
    const Planted bug = meets(false);
    expectOne(bug, meets(true), {"deadlock", "turn"}, v5p());
    const machine::RunResult run = runOf(bug.program, v5p());
    EXPECT_EQ(run.trace->info().stoppedBy, "deadlock");
    const std::string message = run.trace->info().findings[0].message;
    for (const char* part :
         {"TensorCore 0 and another wait at", "for 1 of the semaphore turn, which has 0, since"}) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }
}

TEST(PlantedOrder, aSemaphoreIsLeftOver)
{
    expectOne(counts(1), counts(2), {"semaphore_left_over", "sem[1]"});
}

TEST(PlantedOrder, moreIsWaitedForThanSignalled)
{
    const Planted bug = counts(3);
    const machine::RunResult run = runOf(bug.program, v5e());
    ASSERT_EQ(findingsOf(run, "deadlock").size(), 1U) << findingsText(run);
    EXPECT_EQ(run.trace->waits().size(), 1U) << "the wait lasts to the end";
}

TEST(PlantedOrder, aCopyIsNeverAwaited)
{
    expectOne(copies(false), copies(true), {"copy_never_awaited", "sem"});
}

// It makes no wait on that semaphore sure of its copy, but they all have one cause.
TEST(PlantedOrder, aWaitTooFewForSeveralCopiesIsOneFinding)
{
    expectOne(gathers(false, false), gathers(true, false), {"copy_never_awaited", "sem"});
    const Planted read = gathers(false, true);
    expectOne(read, gathers(true, true), {"read_before_wait", "one"});
    const std::string message =
        findingsOf(runOf(read.program, v5e()), "read_before_wait")[0].message;
    EXPECT_NE(message.find(" sem ends with 512 bytes of them that nobody has waited for."),
              std::string::npos)
        << message;
}

// What a read sees without a wait for the copy depends on the mode; after the wait it does not.
// What the copy had yet to bring is said once, and what nobody wrote as well.
TEST(PlantedOrder, aCopyThatIsReadEarlyHidesOnlyItsOwnElements)
{
    const machine::RunResult early = runOf(storesEarly(NobodysRow::None), v5e());
    EXPECT_EQ(findingsOf(early, "read_before_wait").size(), 1U) << findingsText(early);
    EXPECT_TRUE(findingsOf(early, "undefined_written_back").empty()) << findingsText(early);
    for (const NobodysRow when : {NobodysRow::Between, NobodysRow::After}) {
        const machine::RunResult run = runOf(storesEarly(when), v5e());
        const std::vector<trace::Finding> found = findingsOf(run, "undefined_written_back");
        EXPECT_EQ(findingsOf(run, "read_before_wait").size(), 1U) << findingsText(run);
        ASSERT_EQ(found.size(), 1U) << findingsText(run);
        EXPECT_NE(found[0].message.find("with 128 of 1024 elements undefined"), std::string::npos)
            << found[0].message;
    }
}

TEST(DmaExecutionMode, decidesWhatAnUnorderedReadSees)
{
    const auto first = [](const machine::RunResult& run) { return elementsOf(run.outputs[0])[0]; };
    for (const auto mode :
         {machine::DmaMode::Timed, machine::DmaMode::Eager, machine::DmaMode::OnWait}) {
        machine::Settings settings;
        settings.dmaExecutionMode = mode;
        // x holds 1. The slot is undefined until the copy lands, and then 1 more is added.
        const double early = first(runOf(doubles(false).program, v5e(), settings));
        EXPECT_EQ(std::isnan(early), mode != machine::DmaMode::Eager);
        EXPECT_EQ(first(runOf(doubles(true).program, v5e(), settings)), 2);
        // The write-back reads 1 when it starts; with on_wait it reads when it is waited for.
        EXPECT_EQ(first(runOf(reuses(false).program, v5e(), settings)),
                  mode == machine::DmaMode::OnWait ? 2 : 1);
        EXPECT_EQ(runOf(reuses(false).program, v5e(), settings).trace->copies(),
                  runOf(reuses(false).program, v5e()).trace->copies())
            << "times are the same";
    }
}

// The first wait makes the second copy. The first copy, made by the second wait, reads what its
// source holds by then.
TEST(DmaExecutionMode, onWaitDoesAsMuchAsIsWaitedFor)
{
    const ir::Program program = manualDma(
        {kOne, {"two", kF32, {16, 128}}, {"three", kF32, {16, 128}}, pl::dmaSemaphores("sem")},
        [](pl::Ref, pl::Ref out, const Refs& refs) {
            refs[0][pl::all] = pl::full({16, 128}, 1, kF32);
            refs[1][pl::all] = pl::full({16, 128}, 2, kF32);
            pl::dmaStart(refs[0], out, refs[3]);
            pl::dmaStart(refs[1], refs[2], refs[3]);
            pl::dmaWait(refs[2], refs[3]);
            refs[0][pl::all] = refs[2][pl::all] + 5;
            pl::dmaWait(out, refs[3]);
        });
    machine::Settings settings;
    settings.dmaExecutionMode = machine::DmaMode::Eager;
    EXPECT_EQ(elementsOf(runOf(program, v5e(), settings).outputs[0])[0], 1);
    settings.dmaExecutionMode = machine::DmaMode::OnWait;
    EXPECT_EQ(elementsOf(runOf(program, v5e(), settings).outputs[0])[0], 7);
}

// Two copies to the same place signal one semaphore. The one started last is made first, and the
// other one lands on top of it.
TEST(DmaExecutionMode, onWaitDoesTheLastStartedFirst)
{
    const ir::Program program =
        manualDma({kOne, {"two", kF32, {16, 128}}, pl::dmaSemaphores("sem")},
                  [](pl::Ref, pl::Ref out, const Refs& refs) {
                      refs[0][pl::all] = pl::full({16, 128}, 1, kF32);
                      refs[1][pl::all] = pl::full({16, 128}, 2, kF32);
                      pl::dmaStart(refs[0], out, refs[2]);
                      pl::dmaStart(refs[1], out, refs[2]);
                      pl::dmaWait(out, refs[2]);
                      pl::dmaWait(out, refs[2]);
                  });
    machine::Settings settings;
    EXPECT_EQ(elementsOf(runOf(program, v5e(), settings).outputs[0])[0], 2);
    settings.dmaExecutionMode = machine::DmaMode::OnWait;
    EXPECT_EQ(elementsOf(runOf(program, v5e(), settings).outputs[0])[0], 1);
}

} // namespace pallascope::machine_test
