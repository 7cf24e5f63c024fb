// Valid programs that were tampered with: the verifier must say what is wrong, and where.
#include "core/ir/verify.h"
#include "tests/ir/kernels.h"

#include <gtest/gtest.h>

namespace pallascope::ir_test {

using ir::OpCode;

namespace {

// A grid of 2 steps and x[8,128] in blocks of 4 rows; a cond with a result, a scan and a while.
ir::Program wellFormed()
{
    const auto kernel = [](pl::Ref xHbm, pl::Ref outHbm) {
        const auto body = [](pl::Ref x, pl::Ref out) {
            const pl::Value loaded = x[pl::all].load();
            const pl::Value picked = pl::cond(
                pl::programId(0) == 0, [&] { return std::vector{pl::exp(loaded)}; },
                [&] { return std::vector{loaded + loaded}; })[0];
            const pl::Value summed =
                pl::foriLoop(3, {picked}, [](auto, auto carry) -> std::vector<pl::Value> {
                    return {carry[0] + 1.0};
                })[0];
            const auto small = [](auto carry) {
                return pl::reduce(OpCode::ReduceMax, carry[0], {0, 1}) < 9.0;
            };
            const auto grow = [](auto carry) -> std::vector<pl::Value> { return {carry[0] * 2.0}; };
            out[pl::all] = pl::whileLoop({summed}, small, grow)[0];
        };
        const auto rows = pl::block({4, 128}, [](auto i) { return pl::at(i, 0); });
        pl::emitPipeline({.grid = {2}, .in = {rows}, .out = {rows}}, body)(xHbm, outHbm);
    };
    const Shape shape{8, 128};
    return pl::kernel("good", {pl::in("x", DType::F32, shape), pl::out("out", DType::F32, shape)},
                      kernel)
        .value();
}

class Verify : public testing::Test
{
protected:
    ir::Operation& pipeline() { return m_program.body.operations.at(0); }

    ir::PipelineParams& params() { return std::get<ir::PipelineParams>(pipeline().params); }

    ir::Operation& first(OpCode code)
    {
        for (ir::Operation& operation : pipeline().regions.at(0).operations) {
            if (operation.code == code) {
                return operation;
            }
        }
        throw std::logic_error("no such operation");
    }

    ir::ValueId fresh(const ir::Type& type) { return freshValue(m_program, type); }

    // The sentence must be "<where the operation is>: <what>".
    void expectRefused(const ir::Operation& at, const std::string& what)
    {
        const Status status = ir::verify(m_program);
        ASSERT_FALSE(status);
        EXPECT_EQ(status.error().kind, ErrorKind::User);
        EXPECT_EQ(status.error().message, m_program.where(at.location) + ": " + what);
    }

    ir::Program m_program = wellFormed();
};

} // namespace

TEST_F(Verify, aTracedProgramIsFine)
{
    EXPECT_TRUE(ir::verify(m_program));
}

TEST_F(Verify, argumentsAreRefs)
{
    m_program.values[static_cast<std::size_t>(m_program.arguments[0].ref.index)].type.space.reset();
    EXPECT_EQ(sentence(ir::verify(m_program)),
              "The argument x of good is f32[8,128]; expected a ref in hbm, or an input in smem.");
}

TEST_F(Verify, valuesAreDefinedBeforeTheyAreUsed)
{
    auto& operations = pipeline().regions[0].operations;
    std::swap(operations[1], operations[2]); // eq now stands before the program_id that it compares
    ASSERT_EQ(operations[1].code, OpCode::Eq);
    expectRefused(operations[1], "eq uses a value before it is defined.");
}

TEST_F(Verify, valuesExist)
{
    ir::Operation& eq = first(OpCode::Eq);
    eq.operands[0] = {1'000'000};
    expectRefused(eq, "eq uses a value before it is defined.");
    eq.operands[0] = {-1};
    expectRefused(eq, "eq uses a value before it is defined.");
}

TEST_F(Verify, whatABranchDefinesEndsWithIt)
{
    const ir::ValueId inBranch = first(OpCode::Cond).regions[1].operations[0].results[0];
    ir::Operation& scan = first(OpCode::Scan);
    scan.operands[0] = inBranch;
    expectRefused(scan, "scan uses a value before it is defined.");
}

TEST_F(Verify, onlyControlHasRegions)
{
    ir::Operation& eq = first(OpCode::Eq);
    eq.regions.emplace_back(); // nobody would look at the operations in it
    eq.regions[0].operations.push_back({.code = OpCode::Scan});
    expectRefused(eq, "eq has operations within it; it takes none.");
}

TEST_F(Verify, regionsReturnWhatTheyDefine)
{
    first(OpCode::Cond).regions[0].results[0] = fresh({DType::F32, {4, 128}, {}});
    EXPECT_EQ(sentence(ir::verify(m_program)),
              "A region of good returns a value that it does not define.");
}

TEST_F(Verify, resultsHaveTheTypeOfTheRule)
{
    ir::Operation& eq = first(OpCode::Eq);
    m_program.values[static_cast<std::size_t>(eq.results[0].index)].type.dtype = DType::Int32;
    expectRefused(eq, "eq yields bool[], but its result is typed i32[].");
    eq.results.clear();
    expectRefused(eq, "eq has another number of results than it should.");
}

TEST_F(Verify, gridQueriesNameAnAxisOfTheGrid)
{
    ir::Operation& query = first(OpCode::ProgramId);
    query.params = ir::AxisParams{1};
    expectRefused(query, "program_id asks for an axis that the grid does not have.");
    query.params = std::monostate{};
    expectRefused(query, "program_id asks for an axis that the grid does not have.");
}

TEST_F(Verify, branchesReturnTheSameTypes)
{
    ir::Operation& cond = first(OpCode::Cond);
    const std::vector<ir::Region> both = cond.regions;
    cond.regions[1].results.clear();
    expectRefused(cond, "cond has branches that return different types.");
    cond.regions = {both[0]};
    expectRefused(cond, "cond needs two branches or more.");
}

TEST_F(Verify, scanTakesAndReturnsWhatItCarries)
{
    ir::Operation& scan = first(OpCode::Scan);
    const ir::Operation good = scan;
    const std::string needs =
        "scan needs a length, at least one round of it at once, and one body with a counter.";
    scan.params = ir::ScanParams{-1};
    expectRefused(scan, needs);
    scan.params = std::monostate{};
    expectRefused(scan, needs);
    scan.params = ir::ScanParams{3, 0};
    expectRefused(scan, needs);
    scan = good;
    scan.regions[0].results.clear();
    expectRefused(scan, "scan carries other types than its body returns.");
    scan = good;
    scan.regions[0].arguments.push_back(fresh({DType::F32, {}, {}}));
    expectRefused(scan, "scan carries other types than its body takes.");
    scan = good;
    scan.regions[0].arguments[0] = fresh({DType::F32, {}, {}});
    expectRefused(scan, "scan counts in an int32 scalar, not f32[].");
}

TEST_F(Verify, whileTestsOneBool)
{
    ir::Operation& loop = first(OpCode::While);
    const ir::Operation good = loop;
    loop.regions[0].results.clear();
    expectRefused(loop, "while needs a condition that returns one bool, and a body.");
    loop = good;
    loop.regions[1].results.clear();
    expectRefused(loop, "while carries other types than its body returns.");
    loop = good;
    loop.regions[0].arguments.push_back(fresh({DType::F32, {}, {}}));
    expectRefused(loop, "while carries other types than its regions take.");
}

TEST_F(Verify, blockSpecsFitTheirArrays)
{
    const ir::PipelineParams good = params();
    params().specs[0].block.pop_back();
    expectRefused(pipeline(), "The block spec of x has 1 dimensions, its array f32[8,128] has 2.");
    params() = good;
    params().specs[1].block[0].size = 0;
    expectRefused(pipeline(), "The block spec of out has a block of 0 elements; expected 1 or "
                              "more, and 1 for a squeezed axis.");
    params() = good;
    params().specs[0].inBuffers = 0;
    expectRefused(pipeline(), "The block spec of x asks for 0 buffers; expected 1 to 1024.");
    params() = good;
    params().specs[1].outBuffers = 3;
    EXPECT_TRUE(ir::verify(m_program));
    params().origin = ir::PipelineOrigin::PallasCall;
    expectRefused(pipeline(), "The block spec of out asks for 3 buffers; a pallas_call has 1 or 2, "
                              "emit_pipeline any number.");
    params() = good;
    params().origin = ir::PipelineOrigin::PallasCall;
    EXPECT_TRUE(ir::verify(m_program));
    params().specs[0].inBuffers = 3;
    expectRefused(pipeline(), "The block spec of x asks for 3 buffers; a pallas_call has 1 or 2, "
                              "emit_pipeline any number.");
}

TEST_F(Verify, blockRefsAreTheBlocks)
{
    const ir::ValueId block = pipeline().regions[0].arguments[0];
    m_program.values[static_cast<std::size_t>(block.index)].type.shape = Shape{8, 128};
    expectRefused(pipeline(),
                  "The block ref of x is typed Ref<vmem>{f32[8,128]}, its spec cuts f32[4,128].");
}

TEST_F(Verify, semaphoresHaveNoBlocks)
{
    const ir::ValueId array = pipeline().operands[0];
    m_program.values[static_cast<std::size_t>(array.index)].type.space =
        ir::MemorySpace::DmaSemaphore;
    expectRefused(pipeline(), "The operand x of a pipeline is of semaphores, which have no blocks; "
                              "its body may use them as they are.");
}

TEST_F(Verify, gridsAreFiniteAndNotEmpty)
{
    params().grid[0] = 0;
    expectRefused(pipeline(), "pipeline has a grid axis of 0 steps; expected 1 or more.");
    params().grid = {std::int64_t{1} << 40, std::int64_t{1} << 40};
    expectRefused(pipeline(), "pipeline has a grid of more than 2^63 steps.");
}

TEST_F(Verify, indexMapsTakeTheGridAndReturnBlockIndices)
{
    ir::Region& map = pipeline().regions[1];
    const ir::Region good = map;
    map.results.pop_back();
    expectRefused(pipeline(), "The index map of x must take one index per grid axis and return 2 "
                              "block indices.");
    map = good;
    map.arguments.clear();
    expectRefused(pipeline(), "The index map of x must take one index per grid axis and return 2 "
                              "block indices.");
    map = good;
    map.results[0] = fresh({DType::F32, {}, {}});
    expectRefused(pipeline(), "The index map of x must return int32 scalars, not f32[].");
}

TEST_F(Verify, aPipelineHasARegionPerSpec)
{
    pipeline().regions.pop_back();
    expectRefused(pipeline(), "pipeline needs one operand, one block ref and one index map per "
                              "block spec, and one operand per dynamic grid axis.");
}

} // namespace pallascope::ir_test
