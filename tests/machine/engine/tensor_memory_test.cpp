// Products that add to TMEM: when they are done, who may use what meanwhile, pairs of blocks, and
// what fits.
#include "core/cost/tensor_memory.h"
#include "core/ir/builder_tensor.h"
#include "core/ir/verify.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;
using Refs = std::vector<pl::Ref>;

constexpr Extent kM = 128, kN = 64, kK = 64;

// What a block does after both operands are in SMEM: refs are a, b, sum, loaded, done.
using TensorBody = std::function<void(const pl::Ref& x, const pl::Ref& out, const Refs& refs)>;

ir::Program product(const TensorBody& body, Extent columns = kN)
{
    return mustTrace(pl::kernel("product",
                                {pl::in("a", DType::F16, {kM, kK}),
                                 pl::in("b", DType::F16, {kK, kN}), pl::out("out", kF32, {kM, kN})},
                                [&](pl::Ref a, pl::Ref b, pl::Ref out) {
                                    gpu::launch({}, [&] {
                                        gpu::runScoped({gpu::smem("a_tile", DType::F16, {kM, kK}),
                                                        gpu::smem("b_tile", DType::F16, {kK, kN}),
                                                        gpu::tmem("sum", {kM, columns}),
                                                        gpu::barrier("loaded", 2),
                                                        gpu::barrier("done")},
                                                       true, [&](const Refs& refs) {
                                                           gpu::copyGmemToSmem(a, refs[0], refs[3]);
                                                           gpu::copyGmemToSmem(b, refs[1], refs[3]);
                                                           gpu::barrierWait(refs[3]);
                                                           body(a, out, refs);
                                                       });
                                    });
                                }));
}

machine::RunResult runOnB200(const ir::Program& program)
{
    std::vector<Array> inputs;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type& type = program.type(argument.ref);
            inputs.push_back(
                arrayOf(type.dtype, type.shape,
                        std::vector<double>(static_cast<std::size_t>(type.shape.elements()), 1.0)));
        }
    }
    return mustRun(program, inputs, machine::ValueMode::Full, b200());
}

void multiply(const Refs& refs)
{
    gpu::tensorMultiply({refs[2], refs[0], refs[1]}, pl::full(Shape{}, 0, DType::Bool));
}

// What a block of a cluster has of what its blocks allocate together.
template<class Block>
pl::Ref part(const pl::Ref& ref, const Block& block)
{
    return ref.at({block, pl::all, pl::all});
}

gpu::TensorFactors factorsOf(const Refs& refs, int block)
{
    return {part(refs[2], block), part(refs[0], block), part(refs[1], block)};
}

} // namespace

TEST(TensorMemory, aProductIsDoneWhenItsCommitHasArrived)
{
    const machine::RunResult run =
        runOnB200(product([](const pl::Ref&, const pl::Ref& out, const Refs& refs) {
            multiply(refs);
            gpu::tensorCommitArrive(refs[4]);
            gpu::barrierWait(refs[4]);
            out[pl::all] = refs[2][pl::all].load();
        }));
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0]),
              std::vector<double>(static_cast<std::size_t>(kM * kN), static_cast<double>(kK)));
}

TEST(TensorMemory, aSumIsReadTooEarly)
{
    const machine::RunResult run =
        runOnB200(product([](const pl::Ref&, const pl::Ref& out, const Refs& refs) {
            multiply(refs);
            gpu::tensorCommitArrive(refs[4]);
            out[pl::all] = refs[2][pl::all].load();
            gpu::barrierWait(refs[4]);
        }));
    EXPECT_NE(findingsText(run).find("read_before_wait"), std::string::npos) << findingsText(run);
}

TEST(TensorMemory, anOperandIsRefilledTooEarly)
{
    const machine::RunResult run =
        runOnB200(product([](const pl::Ref& a, const pl::Ref& out, const Refs& refs) {
            multiply(refs);
            gpu::tensorCommitArrive(refs[4]);
            gpu::copyGmemToSmem(a, refs[0], refs[3]);
            gpu::barrierArrive(refs[3]);
            gpu::barrierWait(refs[4]);
            gpu::barrierWait(refs[3]);
            out[pl::all] = refs[2][pl::all].load();
        }));
    EXPECT_NE(findingsText(run).find("overwritten_in_flight"), std::string::npos)
        << findingsText(run);
}

TEST(TensorMemory, aProductOverwritesWhatALoadReads)
{
    const auto overwritten = [](bool waits) {
        return findingsText(
            runOnB200(product([&](const pl::Ref&, const pl::Ref& out, const Refs& refs) {
                for (int i = 0; i < 2; ++i) {
                    multiply(refs);
                    gpu::tensorCommitArrive(refs[4]);
                    gpu::barrierWait(refs[4]);
                    out[pl::all] = refs[2][pl::all].load();
                    if (waits) {
                        gpu::waitLoadTmem();
                    }
                }
            })));
    };
    EXPECT_EQ(overwritten(true), "");
    EXPECT_NE(overwritten(false).find("no wait_load_tmem covers"), std::string::npos)
        << overwritten(false);
}

TEST(TensorMemory, productsOfOneSmFollowEachOther)
{
    const auto lasts = [](int products) {
        return runOnB200(product([&](const pl::Ref&, const pl::Ref& out, const Refs& refs) {
                   for (int i = 0; i < products; ++i) {
                       multiply(refs);
                   }
                   gpu::tensorCommitArrive(refs[4]);
                   gpu::barrierWait(refs[4]);
                   out[pl::all] = refs[2][pl::all].load();
               }))
            .trace->end();
    };
    // An m128n64k16 takes 48 cycles, in which SMEM gives its operands; four make one of these.
    const Picoseconds each = toPicoseconds(Cycles(4 * 48), b200().agents.front().clock);
    EXPECT_NEAR(static_cast<double>((lasts(9) - lasts(1)).value()),
                8.0 * static_cast<double>(each.value()), 16.0);
}

TEST(TensorMemory, hasAsManyColumnsAsTheChip)
{
    EXPECT_EQ(cost::tensorColumns(kF32, {128, 256}), 256);
    EXPECT_EQ(cost::tensorColumns(DType::F16, {128, 256}), 128);
    EXPECT_EQ(cost::tensorColumns(kF32, {2, 64, 100}), 200);
    EXPECT_EQ(cost::allocatedColumns(1), 32);
    EXPECT_EQ(cost::allocatedColumns(200), 256);
    EXPECT_EQ(cost::allocatedColumns(0), 0);
    const auto fits = [](Extent columns) {
        const ir::Program program = product(
            [](const pl::Ref&, const pl::Ref& out, const Refs&) {
                out[pl::all] = pl::full({kM, kN}, 0, kF32);
            },
            columns);
        const Status status = machine::checkFit(program, b200());
        return status ? std::string() : status.error().message;
    };
    EXPECT_EQ(fits(512), "");
    EXPECT_NE(fits(516).find("TMEM"), std::string::npos) << fits(516);
}

// Each block of a pair has half of the columns of the right operand, and its own rows.
TEST(TensorMemory, aPairOfBlocksMultipliesTogether)
{
    const ir::Program program =
        mustTrace(pl::kernel("pair", {pl::out("out", kF32, {2, kM, 2 * kN})}, [&](pl::Ref out) {
            gpu::Launch launch;
            launch.cluster = {{"pair", 2}};
            gpu::launch(launch, [&] {
                const pl::Value block = pl::axisIndex("pair");
                gpu::runScopedOfCluster(
                    {gpu::smem("a", DType::F16, {2, kM, kK}),
                     gpu::smem("b", DType::F16, {2, kK, kN}), gpu::tmem("sum", {2, kM, 2 * kN}),
                     gpu::barrier("filled", 2, {2}), gpu::barrier("done", 1, {2})},
                    2, [&](const Refs& refs) {
                        const pl::Value number = pl::convert(block + 1, DType::F16);
                        part(refs[0], block)[pl::all] = pl::broadcastTo(number, {kM, kK});
                        part(refs[1], block)[pl::all] = pl::broadcastTo(number, {kK, kN});
                        gpu::commitSmem();
                        gpu::barrierArrive(refs[3].at(0));
                        pl::when(block == 0, [&] {
                            gpu::barrierWait(refs[3].at(0));
                            gpu::tensorMultiply(factorsOf(refs, 0), factorsOf(refs, 1),
                                                pl::full(Shape{}, 0, DType::Bool));
                            gpu::tensorCommitArrive(refs[4].at(0));
                            gpu::tensorCommitArrive(refs[4].at(1));
                        });
                        gpu::barrierWait(refs[4].at(block));
                        part(out, block)[pl::all] = part(refs[2], block)[pl::all].load();
                    });
            });
        }));
    const machine::RunResult run = runOnB200(program);
    EXPECT_EQ(findingsText(run), "");
    std::vector<double> expected;
    for (int row = 0; row < 2 * kM; ++row) {
        for (int column = 0; column < 2 * kN; ++column) {
            expected.push_back(static_cast<double>((row / kM + 1) * (column / kN + 1) * kK));
        }
    }
    EXPECT_EQ(elementsOf(run.outputs[0]), expected);
}

} // namespace pallascope::machine_test
