// Tests manual DMA from its start to the wait for it, without an engine.
#include "core/machine/parts/arguments.h"
#include "core/machine/parts/manual_copies.h"
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace pallascope::machine_test {

namespace {

// tile = x by manual DMA, then tile + 1.
ir::Program copying()
{
    Result<ir::Program> program = pl::kernel(
        "copying", {pl::in("x", DType::F32, {8, 128}), pl::out("out", DType::F32, {8, 128})},
        [](pl::Ref x, pl::Ref) {
            pl::runScoped({pl::dmaSemaphores("sem"), {"tile", DType::F32, {8, 128}}},
                          [&](const std::vector<pl::Ref>& refs) {
                              pl::dmaStart(x, refs[1], refs[0]);
                              pl::dmaWait(refs[1], refs[0]);
                              refs[1][pl::all] = refs[1][pl::all].load() + 1.0F;
                              return std::vector<pl::Value>{};
                          });
        });
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    return *std::move(program);
}

struct DmaRun
{
    explicit DmaRun(const machine::Settings& settings = {})
        : run(settings, copying())
    {
        Array x = makeArray(DType::F32, {8, 128});
        for (std::int64_t i = 0; i < x.shape.elements(); ++i) {
            machine::writeElement(DType::F32, x.data.get(), i, static_cast<double>(i));
        }
        if (!arguments.bind({x})) {
            throw std::runtime_error("x can be bound");
        }
        run.scopes.allocate({run.ref("sem"), run.ref("tile")}, owned);
        run.turn().endAt(machine::kLongestRun);
    }

    BareRun run;
    std::set<std::int32_t> aliased;
    machine::Arguments arguments{run.context(), aliased, run.agents, run.findings};
    machine::StoreGroups groups{run.context(), run.copies};
    machine::ManualCopies dma{run.context(), run.agents,   run.copies,  run.semaphores,
                              groups,        run.accesses, run.findings};
    machine::Owned owned;

    void start() { dma.start(run.operation(ir::OpCode::DmaStart)); }

    void wait() { dma.waitFor(run.operation(ir::OpCode::DmaWait)); }

    [[nodiscard]] std::int32_t tile() { return run.turn().binding(run.ref("tile")).buffer; }
};

} // namespace

TEST(ManualDma, signalsItsSemaphoreWithItsBytesWhenItEnds)
{
    DmaRun of;
    of.start();
    ASSERT_EQ(of.run.recorder().position().copies, 1);
    ASSERT_EQ(of.run.signals().size(), 1U);
    const machine::Signal& signal = of.run.signals().front();
    EXPECT_EQ(signal.amount, 8 * 128 * 4);
    EXPECT_EQ(signal.at.value(), of.run.recorder().builder.copies.end[0]);
    EXPECT_LE(of.run.turn().horizon(), signal.at) << "a turn ends when a signal comes";
    EXPECT_TRUE(of.run.copies.isOnItsWay(of.tile()));
}

TEST(ManualDma, aWaitForItEndsWithItAndTheElementsAreThere)
{
    DmaRun of;
    of.start();
    of.wait();
    ASSERT_TRUE(of.run.agent().waiting);
    const Picoseconds end = of.run.signals().front().at;
    of.run.deliverFirst();
    EXPECT_FALSE(of.run.agent().waiting);
    EXPECT_EQ(of.run.agent().time, end);
    of.run.copies.land(end);
    EXPECT_EQ(of.run.elementAt(of.tile(), 129), 129);
    of.run.scopes.release(of.owned);
    EXPECT_TRUE(of.run.found().empty());
}

TEST(ManualDma, thatMovesAtItsWaitLeavesTheTargetUndefinedUntilThen)
{
    machine::Settings settings;
    settings.dmaExecutionMode = machine::DmaMode::OnWait;
    DmaRun of(settings);
    of.start();
    of.run.deliverFirst();
    EXPECT_FALSE(of.run.isDefined(of.tile()));
    of.wait();
    EXPECT_TRUE(of.run.isDefined(of.tile()));
}

TEST(ManualDma, whoseScopeEndsBeforeAWaitIsFound)
{
    DmaRun of;
    of.start();
    of.run.scopes.release(of.owned);
    ASSERT_FALSE(of.run.found().empty());
    EXPECT_EQ(of.run.found()[0].kind, "copy_never_awaited");
}

} // namespace pallascope::machine_test
