// Tests operations between segments, without an engine.
#include "core/machine/parts/sync_operations.h"
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace pallascope::machine_test {

namespace {

using ir::OpCode;

ir::Program signalsAndDelays()
{
    Result<ir::Program> program =
        pl::kernel("signals", {pl::out("out", DType::Int32, {1})}, [](pl::Ref) {
            pl::runScoped({pl::semaphores("counter")}, [](const std::vector<pl::Ref>& refs) {
                pl::semaphoreSignal(refs[0], 3);
                pl::delay(pl::semaphoreRead(refs[0]) * 100);
                return std::vector<pl::Value>{};
            });
        });
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    return *std::move(program);
}

struct SyncRun
{
    SyncRun() { run.semaphores.allocate(run.ref("counter"), owned); }

    void doOperation(OpCode code) { operations.run(run.itemOf(code)); }

    BareRun run{{}, signalsAndDelays()};
    machine::Owned owned;
    std::vector<std::int32_t> dispatched{0};
    std::int64_t turns = 0;
    machine::CoreMaps maps{run.context(), dispatched,     turns,
                           run.agents,    run.semaphores, run.accesses};
    machine::SyncOperations operations{run.context(), run.agents,   run.copies, run.semaphores,
                                       run.barriers,  run.accesses, maps,       run.findings};
};

} // namespace

TEST(SyncOperations, aSignalCountsAndAReadSeesTheCount)
{
    SyncRun of;
    of.doOperation(OpCode::SemaphoreSignal);
    of.doOperation(OpCode::SemaphoreRead);
    const ir::Operation& read = of.run.operation(OpCode::SemaphoreRead);
    EXPECT_EQ(of.run.turn().value(read.results[0]).scalar, 3);
}

TEST(SyncOperations, aDelayTakesItsNanosecondsAndIsRecordedAsAWait)
{
    SyncRun of;
    of.run.agent().time = Picoseconds(5);
    const ir::Operation& delay = of.run.operation(OpCode::Delay);
    of.run.turn().value(delay.operands[0]) = machine::RuntimeValue::scalarOf(DType::Int32, 300);
    of.doOperation(OpCode::Delay);
    EXPECT_EQ(of.run.agent().time, Picoseconds(300'005));
    of.run.recorder().closeRows();
    const trace::Waits& waits = of.run.recorder().builder.waits;
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_EQ(waits.begin[0], 5);
    EXPECT_EQ(waits.end[0], 300'005);
    EXPECT_FALSE(of.run.ending.isReached());
}

TEST(SyncOperations, aDelayPastTheLongestRunEndsIt)
{
    SyncRun of;
    of.run.agent().time = machine::kLongestRun;
    const ir::Operation& delay = of.run.operation(OpCode::Delay);
    of.run.turn().value(delay.operands[0]) = machine::RuntimeValue::scalarOf(DType::Int32, 1);
    of.doOperation(OpCode::Delay);
    ASSERT_TRUE(of.run.ending.error());
    EXPECT_EQ(of.run.ending.error()->kind, ErrorKind::Limit);
}

} // namespace pallascope::machine_test
