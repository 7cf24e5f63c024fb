// What the builder refuses of kernels for GPUs, and how they print and read back.
#include "core/ir/builder_tensor.h"
#include "core/ir/print.h"
#include "core/ir/verify.h"
#include "tests/ir/kernels.h"

#include <gtest/gtest.h>

namespace pallascope::ir_test {

namespace {

namespace gpu = pl::gpu;
using Refs = std::vector<pl::Ref>;

// A kernel of one block whose scope has an array in SMEM, a barrier and an accumulator.
Result<ir::Program> scoped(const std::function<void(pl::Ref x, const Refs& refs)>& body)
{
    return pl::kernel(
        "gpu", {pl::in("x", DType::F16, {64, 64}), pl::out("y", DType::F16, {64, 64})},
        [&](pl::Ref x, pl::Ref) {
            gpu::launch({}, [&] {
                gpu::runScoped({gpu::smem("tile", DType::F16, {64, 64}),
                                gpu::barrier("ready", 2, {2}), gpu::accumulator("acc", {64, 64})},
                               true, [&](const Refs& refs) { body(x, refs); });
            });
        });
}

std::string errorOf(const Result<ir::Program>& program)
{
    return program ? "" : program.error().message;
}

testing::AssertionResult says(const Result<ir::Program>& program, const std::string& what)
{
    if (!program && program.error().message.find(what) != std::string::npos) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << (program ? "it is accepted" : program.error().message);
}

} // namespace

TEST(GpuPrograms, unionsAreOfSharedMemory)
{
    Result<ir::Program> program = scoped([](pl::Ref, const Refs&) {});
    ASSERT_TRUE(program) << errorOf(program);
    ir::Operation& coreMap = program->body.operations[0];
    auto& params = std::get<ir::ScopedParams>(coreMap.regions[0].operations[0].params);
    const auto verdict = [&](std::vector<std::int32_t> unions, std::vector<std::int32_t> groups) {
        params.unions = std::move(unions);
        params.groups = std::move(groups);
        const Status status = ir::verify(*program);
        return status ? std::string() : status.error().message;
    };
    EXPECT_EQ(verdict({1, 0, 0}, {2, 0, 0}), "");
    EXPECT_NE(ir::printText(*program).find("unions=(1,0,0) groups=(2,0,0)"), std::string::npos);
    EXPECT_NE(verdict({1, 0}, {0, 0}).find("expected those of all its refs"), std::string::npos);
    EXPECT_NE(verdict({1, 0, 0}, {0, 0}).find("expected those of all its refs"), std::string::npos);
    EXPECT_NE(verdict({0, 1, 0}, {0, 0, 0}).find("refs in smem"), std::string::npos);
    EXPECT_NE(verdict({-1, 0, 0}, {0, 0, 0}).find("numbers from 0 on"), std::string::npos);
}

TEST(GpuPrograms, printWithTheirBarriers)
{
    const Result<ir::Program> program = scoped([](pl::Ref x, const Refs& refs) {
        gpu::copyGmemToSmem(x, refs[0], refs[1].at(0));
        gpu::barrierWait(refs[1].at(0));
        gpu::wgmma(refs[2], refs[0], refs[0].transpose({1, 0}));
        gpu::wgmmaWait(0);
    });
    ASSERT_TRUE(program) << errorOf(program);
    EXPECT_TRUE(ir::verify(*program));
    const std::string text = ir::printText(*program);
    EXPECT_NE(text.find("run_scoped[collective arrivals=(0,2,0)]"), std::string::npos) << text;
    EXPECT_NE(text.find("core_map[axis=thread cores=1 direct_access]"), std::string::npos) << text;
    EXPECT_NE(text.find("wgmma_wait[n=0]"), std::string::npos) << text;
}

TEST(GpuPrograms, copyBetweenEqualRefsOfTheRightMemories)
{
    EXPECT_TRUE(says(
        scoped([](pl::Ref x, const Refs& refs) { gpu::copyGmemToSmem(refs[0], x, refs[1].at(0)); }),
        "expected a ref to hbm and one to smem"));
    EXPECT_TRUE(says(scoped([](pl::Ref x, const Refs& refs) {
                         gpu::copySmemToGmem(refs[0].at({pl::ds(0, 32), pl::all}), x);
                     }),
                     "of one dtype and shape"));
}

TEST(GpuPrograms, namesOneBarrier)
{
    EXPECT_TRUE(says(scoped([](pl::Ref, const Refs& refs) { gpu::barrierArrive(refs[1]); }),
                     "takes one barrier, not"));
    EXPECT_TRUE(says(scoped([](pl::Ref, const Refs& refs) { gpu::barrierWait(refs[0]); }),
                     "takes one barrier, not"));
}

TEST(GpuPrograms, multiplyIntoAccumulators)
{
    EXPECT_TRUE(
        says(scoped([](pl::Ref, const Refs& refs) { gpu::wgmma(refs[0], refs[0], refs[0]); }),
             "expected [m,k] times [k,n] to [m,n]"));
    EXPECT_TRUE(
        says(scoped([](pl::Ref, const Refs&) { gpu::wgmmaWait(-1); }), "expected 0 or more"));
    EXPECT_TRUE(says(scoped([](pl::Ref, const Refs&) { gpu::setMaxRegisters(100, true); }),
                     "expected a multiple of 8 from 24 to 256"));
}

TEST(GpuPrograms, scaleFactorsByRowsAndByPartsOfK)
{
    // A product of [128,64] and [64,64] with these scales of its rows and of its columns.
    const auto scaledBy = [](const Shape& rows, const Shape& columns, DType dtype) {
        return pl::kernel("scaled", {pl::out("y", DType::F32, {128, 64})}, [&](pl::Ref) {
            gpu::launch({}, [&] {
                gpu::runScoped(
                    {gpu::smem("lhs", DType::F8E4M3FN, {128, 64}),
                     gpu::smem("rhs", DType::F8E4M3FN, {64, 64}), gpu::tmem("sum", {128, 64}),
                     gpu::tmem("of_rows", rows, dtype), gpu::tmem("of_columns", columns, dtype)},
                    true, [](const Refs& refs) {
                        gpu::tensorMultiply({refs[2], refs[0], refs[1]}, {refs[3], refs[4]},
                                            pl::full(Shape{}, 0, DType::Bool));
                    });
            });
        });
    };
    constexpr DType kCodes = DType::UInt8;
    EXPECT_TRUE(scaledBy({128, 2}, {128, 2}, kCodes)) << "further rows are not used";
    EXPECT_TRUE(scaledBy({128, 4}, {64, 4}, DType::F8E4M3FN));
    const std::string wanted = "as many columns as divide k";
    EXPECT_TRUE(says(scaledBy({128, 2}, {128, 2}, DType::F32), wanted));
    EXPECT_TRUE(says(scaledBy({128, 3}, {64, 3}, kCodes), wanted));
    EXPECT_TRUE(says(scaledBy({128, 2}, {64, 4}, kCodes), wanted));
    EXPECT_TRUE(says(scaledBy({64, 2}, {64, 2}, kCodes), wanted));
    EXPECT_TRUE(says(scaledBy({128, 2}, {32, 2}, kCodes), wanted));
}

TEST(GpuPrograms, makeBarriersOfAtLeastOneArrival)
{
    const Result<ir::Program> program =
        pl::kernel("none", {pl::out("y", DType::F32, {8})}, [&](pl::Ref) {
            gpu::launch({}, [&] {
                gpu::runScoped({gpu::barrier("one", 1), gpu::barrier("none", 0)}, true,
                               [](const Refs&) {});
            });
        });
    EXPECT_TRUE(says(program, "expected at least 1 for barriers"));
}

TEST(GpuPrograms, loadFromHbmOnlyWhereAgentsAccessItDirectly)
{
    const auto kernel = [](bool direct) {
        return pl::kernel("direct", {pl::in("x", DType::F32, {8}), pl::out("y", DType::F32, {8})},
                          [&](pl::Ref x, pl::Ref y) {
                              const auto body = [&] { y[pl::all] = x[pl::all].load(); };
                              if (direct) {
                                  gpu::launch({}, body);
                              } else {
                                  pl::coreMap("core", 1, body);
                              }
                          });
    };
    EXPECT_TRUE(kernel(true)) << errorOf(kernel(true));
    EXPECT_TRUE(says(kernel(false), "other memory only through copies"));
}

TEST(GpuPrograms, changeNumbersAtomically)
{
    const auto kernel = [](DType dtype, ir::AtomicType type) {
        return pl::kernel("atomic", {pl::out("y", dtype, {8})}, [&](pl::Ref y) {
            gpu::launch({}, [&] { gpu::atomicRmw(type, y, pl::full({8}, 1, dtype)); });
        });
    };
    const Result<ir::Program> sums = kernel(DType::F16, ir::AtomicType::Add);
    ASSERT_TRUE(sums) << errorOf(sums);
    EXPECT_NE(ir::printText(*sums).find("atomic_rmw[add]"), std::string::npos)
        << ir::printText(*sums);
    EXPECT_TRUE(says(kernel(DType::F16, ir::AtomicType::Max), "expected int32 or uint32"));
    EXPECT_TRUE(says(kernel(DType::F32, ir::AtomicType::Xor), "expected int32 or uint32"));
    EXPECT_TRUE(says(kernel(DType::Int8, ir::AtomicType::Add), "expected int32 or uint32"));
}

TEST(GpuPrograms, haveAgentsOfWholeWarps)
{
    const auto kernel = [](std::int32_t threads) {
        return pl::kernel("warps", {pl::out("y", DType::F32, {8})}, [&](pl::Ref) {
            ir::CoreMapParams mesh{"block"};
            mesh.threads = threads;
            pl::coreMap(mesh, [] {});
        });
    };
    EXPECT_NE(ir::printText(*kernel(64)).find("threads=64"), std::string::npos);
    EXPECT_EQ(ir::printText(*kernel(128)).find("threads"), std::string::npos);
    EXPECT_TRUE(says(kernel(48), "expected a multiple of 32 up to 1024"));
    EXPECT_TRUE(says(kernel(2048), "expected a multiple of 32 up to 1024"));
}

TEST(GpuPrograms, sayWhoCompilesThem)
{
    const auto kernel = [](std::string compiler) {
        return pl::kernel("compiled", {pl::out("y", DType::F32, {8})}, [&](pl::Ref) {
            ir::CoreMapParams mesh{"block"};
            mesh.compiler = compiler;
            pl::coreMap(mesh, [] {});
        });
    };
    EXPECT_NE(ir::printText(*kernel("triton")).find("compiler=triton"), std::string::npos);
    EXPECT_EQ(ir::printText(*kernel("")).find("compiler"), std::string::npos);
    EXPECT_TRUE(says(kernel("gcc"), "names the compiler \"gcc\"; expected \"triton\""));
}

} // namespace pallascope::ir_test
