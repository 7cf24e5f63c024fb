// The rounds of loops that copy or wait: which are recorded, when they begin and end, and that they
// do not depend on what values are computed.
#include "core/trace/loop_rounds.h"
#include "core/trace_file/trace_file.h"
#include "tests/machine/support.h"
#include "tests/machine/trace_difference.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::machine_test {

namespace {

using Refs = std::vector<pl::Ref>;
using Nothing = std::vector<pl::Value>;

constexpr std::int64_t kLoopedRows = 64; // of x and out

// A kernel without a grid that has a block of 8 rows in VMEM and a semaphore.
ir::Program looping(const std::function<void(pl::Ref x, pl::Ref out, const Refs& refs)>& body)
{
    return mustTrace(pl::kernel(
        "looping",
        {pl::in("x", kF32, {kLoopedRows, 128}), pl::out("out", kF32, {kLoopedRows, 128})},
        [&](pl::Ref x, pl::Ref out) {
            pl::runScoped({{"near", kF32, {8, 128}}, pl::dmaSemaphores("sem")},
                          [&](const Refs& refs) {
                              body(x, out, refs);
                              return Nothing{};
                          });
        }));
}

pl::Value constantOf(int value)
{
    return pl::full({}, value, kInt);
}

pl::Ref blockRows(const pl::Ref& array, const pl::Value& block)
{
    return array.at({pl::ds(block * 8, 8), pl::all});
}

// Copies a block of x to out.
void moveBlock(const pl::Ref& x, const pl::Ref& out, const Refs& refs, const pl::Value& block)
{
    copyAndWait(blockRows(x, block), refs[0], refs[1]);
    copyAndWait(refs[0], blockRows(out, block), refs[1]);
}

std::shared_ptr<const trace::Trace>
tracedRounds(const ir::Program& program, machine::ValueMode values = machine::ValueMode::Full,
             const chip::Chip& chip = v5e())
{
    machine::RunResult run = mustRun(program, {counting(kF32, {kLoopedRows, 128})}, values, chip);
    EXPECT_EQ(findingsText(run), "");
    return run.trace;
}

// Which loop, and which round: "0:0 1:0 1:1".
std::string roundsText(const trace::Trace& trace)
{
    std::string text;
    for (std::size_t row = 0; row < trace.rounds().size(); ++row) {
        text += (row == 0 ? "" : " ") + std::to_string(trace.rounds().loop[row]) + ":"
                + std::to_string(trace.rounds().round[row]);
    }
    return text;
}

ir::Program nestedLoops()
{
    return looping([](pl::Ref x, pl::Ref out, const Refs& refs) {
        pl::foriLoop(4, {}, [&](pl::Value i, const auto&) {
            pl::foriLoop(2, {}, [&](pl::Value j, const auto&) {
                moveBlock(x, out, refs, i * 2 + j);
                return Nothing{};
            });
            return Nothing{};
        });
    });
}

} // namespace

TEST(Rounds, ofNestedLoopsLieInEachOther)
{
    const auto trace = tracedRounds(nestedLoops());
    ASSERT_EQ(trace->info().loops.size(), 2U);
    EXPECT_EQ(trace->info().loops[0].parent, trace::kNone);
    EXPECT_EQ(trace->info().loops[1].parent, 0);
    EXPECT_EQ(roundsText(*trace), "0:0 1:0 1:1 0:1 1:0 1:1 0:2 1:0 1:1 0:3 1:0 1:1");
    const trace::Rounds& rounds = trace->rounds();
    for (std::size_t row = 0; row < rounds.size(); row += 3) {
        EXPECT_EQ(rounds.begin[row + 1], rounds.begin[row]);
        EXPECT_EQ(rounds.end[row + 1], rounds.begin[row + 2]);
        EXPECT_EQ(rounds.end[row + 2], rounds.end[row]);
    }
    // Each inner round has the two copies that it starts and waits for.
    for (std::size_t copy = 0; copy < trace->copies().size(); ++copy) {
        const std::size_t row = copy / 4 * 3 + 1 + copy / 2 % 2;
        EXPECT_GE(trace->copies().issue[copy], rounds.begin[row]);
        EXPECT_LE(trace->copies().end[copy], rounds.end[row]);
    }
}

TEST(Rounds, areNamedByTheirLineWhereTheAuthorGaveNoName)
{
    const auto trace = tracedRounds(nestedLoops());
    const trace::Loop& loop = trace->info().loops[0];
    EXPECT_EQ(loop.name, "loop at line " + std::to_string(loop.source.line));
    EXPECT_GT(loop.source.line, 0);
    EXPECT_EQ(trace->info().operations[static_cast<std::size_t>(loop.operation)].name, "scan");
}

// A library may have a function that makes loops: its author looks for a loop where it is called.
TEST(Rounds, areWhereTheKernelCallsAHelperOfAnotherFile)
{
    ir::Program program = nestedLoops();
    const auto at = [&](ir::LocationId id) -> ir::Location& {
        return program.locations[static_cast<std::size_t>(id.index)];
    };
    std::vector<ir::LocationId> loops;
    std::string own;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code == ir::OpCode::Scan) {
            loops.push_back(operation.location);
        } else if (operation.code == ir::OpCode::RunScoped) {
            own = at(operation.location).file;
        }
    });
    ASSERT_EQ(loops.size(), 2U);
    const auto call = static_cast<std::int32_t>(program.locations.size());
    const std::int32_t line = at(loops[0]).line;
    program.locations.push_back({own, line, "kernel", {}});
    at(loops[0]) = {"library/loops.py", 9, "repeat", {call}};
    const auto trace = tracedRounds(program);
    const trace::Loop& loop = trace->info().loops[0];
    EXPECT_EQ(loop.name, "loop at line " + std::to_string(line));
    EXPECT_EQ(loop.source.line, line);
    EXPECT_EQ(trace->info().sources[static_cast<std::size_t>(loop.source.file)].path, own);
}

// As Python names a function that is defined in another one.
TEST(Rounds, areNamedByTheFunctionThatIsTheBody)
{
    ir::Program program = nestedLoops();
    std::vector<const ir::Operation*> loops;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code == ir::OpCode::Scan) {
            loops.push_back(&operation);
        }
    });
    const auto name = [&](ir::LocationId id, const std::string& function) {
        program.locations[static_cast<std::size_t>(id.index)].function = function;
    };
    for (ir::Location& location : program.locations) {
        location.function = "kernel.<locals>.sequence.<locals>.page.<locals>._";
    }
    name(loops[0]->location, "kernel");
    name(loops[1]->location, "kernel.<locals>.sequence");
    const auto trace = tracedRounds(program);
    EXPECT_EQ(trace->info().loops[0].name, "sequence");
    EXPECT_EQ(trace->info().loops[1].name, "page");
}

TEST(Rounds, areNotRecordedOfLoopsThatOnlyCompute)
{
    const auto trace = tracedRounds(looping([](pl::Ref x, pl::Ref out, const Refs& refs) {
        copyAndWait(blockRows(x, constantOf(0)), refs[0], refs[1]);
        pl::foriLoop(5, {}, [&](pl::Value, const auto&) {
            refs[0][pl::all] = refs[0][pl::all] + 1.0F;
            return Nothing{};
        });
        pl::foriLoop(8, {}, [&](pl::Value i, const auto&) {
            copyAndWait(refs[0], blockRows(out, i), refs[1]);
            return Nothing{};
        });
    }));
    EXPECT_EQ(trace->info().loops.size(), 1U);
    EXPECT_EQ(roundsText(*trace), "0:0 0:1 0:2 0:3 0:4 0:5 0:6 0:7");
}

// The condition that ends a while loop belongs to its last round. Its rounds follow each other
// without a gap.
TEST(Rounds, ofAWhileLoopFollowEachOther)
{
    const auto trace = tracedRounds(looping([](pl::Ref x, pl::Ref out, const Refs& refs) {
        pl::whileLoop(
            {constantOf(0)}, [](std::vector<pl::Value> carry) { return carry[0] < 8; },
            [&](std::vector<pl::Value> carry) {
                moveBlock(x, out, refs, carry[0]);
                return std::vector<pl::Value>{carry[0] + 1};
            });
    }));
    const trace::Rounds& rounds = trace->rounds();
    ASSERT_EQ(roundsText(*trace), "0:0 0:1 0:2 0:3 0:4 0:5 0:6 0:7");
    for (std::size_t row = 1; row < rounds.size(); ++row) {
        EXPECT_EQ(rounds.begin[row], rounds.end[row - 1]);
        EXPECT_LT(rounds.begin[row], rounds.end[row]);
    }
    EXPECT_EQ(rounds.end.back(), trace->end().value());
}

TEST(Rounds, ofALoopThatIsNotEnteredAreNone)
{
    const auto trace = tracedRounds(looping([](pl::Ref x, pl::Ref out, const Refs& refs) {
        pl::foriLoop(0, {}, [&](pl::Value i, const auto&) {
            moveBlock(x, out, refs, i);
            return Nothing{};
        });
        pl::whileLoop(
            {constantOf(9)}, [](std::vector<pl::Value> carry) { return carry[0] < 8; },
            [&](std::vector<pl::Value> carry) {
                moveBlock(x, out, refs, carry[0]);
                return std::vector<pl::Value>{carry[0] + 1};
            });
        pl::foriLoop(8, {}, [&](pl::Value i, const auto&) {
            moveBlock(x, out, refs, i);
            return Nothing{};
        });
    }));
    EXPECT_EQ(trace->info().loops.size(), 3U);
    EXPECT_EQ(roundsText(*trace), "2:0 2:1 2:2 2:3 2:4 2:5 2:6 2:7");
}

// The second core has half as many rounds. Rows of both lie between each other, by time.
TEST(Rounds, ofSeveralCoresAreToldApart)
{
    const ir::Program program = mustTrace(pl::kernel(
        "cores", {pl::in("x", kF32, {kLoopedRows, 128}), pl::out("out", kF32, {kLoopedRows, 128})},
        [&](pl::Ref x, pl::Ref out) {
            pl::coreMap("core", 2, [&] {
                pl::runScoped({{"near", kF32, {8, 128}}, pl::dmaSemaphores("sem")},
                              [&](const Refs& refs) {
                                  const pl::Value core = pl::axisIndex("core");
                                  pl::foriLoop(4, {}, [&](pl::Value i, const auto&) {
                                      moveBlock(x, out, refs, core * 4 + i);
                                      return Nothing{};
                                  });
                                  return Nothing{};
                              });
            });
        }));
    const auto trace = tracedRounds(program, machine::ValueMode::Full, v5p());
    const trace::Rounds& rounds = trace->rounds();
    ASSERT_EQ(rounds.size(), 8U);
    EXPECT_EQ(std::count(rounds.agent.begin(), rounds.agent.end(), 1), 4);
    EXPECT_TRUE(std::is_sorted(rounds.begin.begin(), rounds.begin.end()));
    const trace::LoopRounds loops(*trace);
    EXPECT_EQ(loops.size(0), 4U); // those of the first core
    EXPECT_EQ(loops.agent(0), 0);
}

TEST(Rounds, ofSeveralDevicesAreToldApart)
{
    const ir::Program program =
        mustTrace(pl::kernel("devices",
                             {pl::sharded(pl::in("x", kF32, {8, 128}), {{"d"}, {}}),
                              pl::sharded(pl::out("out", kF32, {8, 128}), {{"d"}, {}})},
                             [&](pl::Ref x, pl::Ref out) {
                                 pl::onMesh({{"d", 8}});
                                 pl::runScoped({pl::dmaSemaphores("sem")}, [&](const Refs& refs) {
                                     pl::foriLoop(3, {}, [&](pl::Value, const auto&) {
                                         copyAndWait(x, out, refs[0]);
                                         return Nothing{};
                                     });
                                     return Nothing{};
                                 });
                             }));
    const auto trace = tracedRounds(program);
    ASSERT_EQ(trace->rounds().size(), 24U);
    const trace::LoopRounds loops(*trace);
    EXPECT_EQ(loops.size(0), 3U);
    EXPECT_EQ(loops.outermost(), (std::vector<std::int32_t>{0}));
}

TEST(Rounds, areTheSameWhateverValuesAreComputed)
{
    const ir::Program program = nestedLoops();
    const auto full = tracedRounds(program),
               needed = tracedRounds(program, machine::ValueMode::Needed);
    EXPECT_EQ(firstDifference(*full, *needed), "");
    EXPECT_EQ(full->rounds(), needed->rounds());
}

// Of a run that a finding ends the rounds under way end with it.
TEST(Rounds, endWithARunThatStops)
{
    const machine::RunResult run =
        mustRun(looping([](pl::Ref x, pl::Ref, const Refs& refs) {
                    pl::foriLoop(3, {}, [&](pl::Value i, const auto&) {
                        pl::when(i < 1, [&] { pl::dmaStart(blockRows(x, i), refs[0], refs[1]); });
                        pl::dmaWait(refs[0], refs[1]); // the second waits for nothing
                        return Nothing{};
                    });
                }),
                {counting(kF32, {kLoopedRows, 128})});
    EXPECT_FALSE(run.completed);
    ASSERT_EQ(roundsText(*run.trace), "0:0 0:1");
    EXPECT_EQ(run.trace->rounds().end.back(), run.trace->end().value());
}

TEST(Rounds, comeBackFromAFile)
{
    const auto trace = tracedRounds(nestedLoops());
    const std::string text = trace_file::toJson(*trace);
    const auto again = trace_file::fromJson(text, "test");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(**again == *trace);
    EXPECT_EQ(trace_file::toJson(**again), text);
}

// Files of older versions have neither key, and neither have those of programs without such loops.
TEST(Rounds, leaveNoKeyInAFileWithoutThem)
{
    const auto trace = tracedRounds(looping([](pl::Ref x, pl::Ref out, const Refs& refs) {
        for (int block = 0; block < 8; ++block) {
            moveBlock(x, out, refs, constantOf(block));
        }
    }));
    const std::string text = trace_file::toJson(*trace);
    EXPECT_EQ(text.find("\"rounds"), std::string::npos);
    EXPECT_EQ(text.find("\"loops\""), std::string::npos);
}

} // namespace pallascope::machine_test
