// Tests direct use of the matrix unit, without an engine.
#include "core/machine/parts/matrix_unit.h"
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace pallascope::machine_test {

namespace {

using ir::OpCode;

// Requests a product of two square matrices and takes it.
ir::Program askingProgram()
{
    const Shape square{128, 128};
    constexpr auto kUnitMemory = ir::MemorySpace::Accumulator;
    Result<ir::Program> program = pl::kernel(
        "asking", {pl::in("x", DType::BF16, square), pl::out("out", DType::F32, square)},
        [&](pl::Ref, pl::Ref) {
            pl::runScoped({{"fifo", DType::F32, square, kUnitMemory},
                           {"rhs", DType::BF16, square, kUnitMemory},
                           {"lhs", DType::BF16, square}},
                          [](const std::vector<pl::Ref>& refs) {
                              pl::matmulLhsFifo(refs[0], refs[2][pl::all].load(), refs[1]);
                              (void)pl::matmulPopFifo(refs[0]);
                              return std::vector<pl::Value>{};
                          });
        });
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    return *std::move(program);
}

struct AskingRun
{
    BareRun run{{}, askingProgram()};
    machine::MatrixUnit unit{run.context(), run.agents, run.findings};

    AskingRun()
    {
        machine::Owned owned;
        run.scopes.allocate({run.ref("fifo"), run.ref("rhs"), run.ref("lhs")}, owned);
        const ir::Operation& asked = run.operation(OpCode::MatmulLhsFifo);
        run.turn().value(asked.operands[1]) = machine::RuntimeValue::zeros(DType::BF16, {128, 128});
    }
};

} // namespace

TEST(MatrixUnit, worksBesideWhoAsksAndIsWaitedFor)
{
    AskingRun of;
    const machine::PlanItem& item = of.run.itemOf(OpCode::MatmulLhsFifo);
    of.unit.accumulate(item);
    EXPECT_EQ(of.run.agent().time, Picoseconds(0)) << "who asks goes on";
    of.unit.accumulate(item);
    of.unit.popFirst(of.run.operation(OpCode::MatmulPopFifo));
    EXPECT_EQ(of.run.agent().time, item.duration) << "the first of them is done";
    of.unit.popFirst(of.run.operation(OpCode::MatmulPopFifo));
    EXPECT_EQ(of.run.agent().time, item.duration + item.duration) << "the second came after it";
}

TEST(MatrixUnit, aProductThatNobodyAskedForEndsTheRun)
{
    AskingRun of;
    of.unit.popFirst(of.run.operation(OpCode::MatmulPopFifo));
    EXPECT_TRUE(of.run.ending.hasStopped());
    ASSERT_EQ(of.run.found().size(), 1U);
    EXPECT_EQ(of.run.found()[0].kind, "empty_fifo");
}

} // namespace pallascope::machine_test
