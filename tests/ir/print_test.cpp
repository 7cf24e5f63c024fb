// The listing of a program: its lines, names and literals.
#include "core/ir/print.h"
#include "tests/ir/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace pallascope::ir_test {

using ir::OpCode;

namespace {

Result<ir::Program> rowSums()
{
    const auto kernel = [](pl::Ref xHbm, pl::Ref outHbm) {
        const auto body = [](pl::Ref x, pl::Ref out, pl::Ref sum) {
            pl::when(pl::programId(1) == 0, [&] { sum[pl::all] = pl::zerosLike(sum); });
            const pl::Value wide = pl::convert(x[{pl::all, pl::ds(0, 64)}], DType::F32);
            sum[pl::all] += pl::reduce(OpCode::ReduceSum, wide * 0.05, {1});
            out[pl::all] = pl::foriLoop(
                2, {sum[pl::all].load()},
                [](auto, auto carry) -> std::vector<pl::Value> { return {pl::exp(carry[0])}; })[0];
        };
        const auto shifted = [](auto i, auto j) { return pl::at(i, j + 1); };
        const auto byRow = [](auto i, auto /*j*/) { return pl::at(i); };
        pl::emitPipeline({.grid = {2, 3},
                          .in = {pl::block({8, 128}, shifted, 3)},
                          .out = {pl::block({8}, byRow)},
                          .scratch = {{"sum", DType::F32, {8}}}},
                         body)(xHbm, outHbm);
    };
    return pl::kernel("row_sums",
                      {pl::in("x", DType::BF16, {16, 512}), pl::out("out", DType::F32, {16})},
                      kernel);
}

} // namespace

TEST(Print, aKernelReadsLikeAJaxpr)
{
    const Result<ir::Program> program = rowSums();
    ASSERT_TRUE(program) << sentence(program);
    EXPECT_EQ(ir::printText(*program),
              R"(row_sums(x:Ref<hbm>{bf16[16,512]}, out:Ref<hbm>{f32[16]} out) {
  pipeline grid=(2, 3) schedule=0.12 {
    in  x     (8, 128) bf16  map { a = add j 1; (i, a) }  buffers 3
    out out   (8) f32  map (i)  buffers 2
    scratch sum vmem f32[8]
    b:i32 = program_id[axis=1]
    c:bool = eq b 0
    cond c {
      d:f32[8] = broadcast_in_dim 0.0
      sum[:] <- d
    }
    e:bf16[8,64] <- x[:,0:64]
    f:f32[8,64] = convert_element_type[new_dtype=f32] e
    g:f32[8,64] = broadcast_in_dim 0.05
    h:f32[8,64] = mul f g
    k:f32[8] = reduce_sum[axes=(1)] h
    l:f32[8] <- sum[:]
    m:f32[8] = add l k
    sum[:] <- m
    n:f32[8] <- sum[:]
    o:f32[8] = scan[length=2] n {
      lambda p q.
      r:f32[8] = exp q
      in (r)
    }
    out[:] <- o
  }
}
)");
}

TEST(Print, anIndexMapOfAnIndirectBlockLoadsItsList)
{
    const auto kernel = [](pl::Ref list, pl::Ref x, pl::Ref out) {
        const auto rows = [&](auto i) { return pl::at(list[pl::ds(i * 4, 4)], 0); };
        const auto plain = [](auto i) { return pl::at(i, 0); };
        pl::emitPipeline({.grid = {2},
                          .in = {pl::block({pl::indirect(4), 128}, rows)},
                          .out = {pl::block({4, 128}, plain)}},
                         [](pl::Ref from, pl::Ref to) { to[pl::all] = from[pl::all]; })(x, out);
    };
    const Result<ir::Program> program =
        pl::kernel("gather",
                   {pl::scalarPrefetch("list", DType::Int32, {8}),
                    pl::in("x", DType::F32, {16, 128}), pl::out("out", DType::F32, {8, 128})},
                   kernel);
    ASSERT_TRUE(program) << sentence(program);
    const std::string text = ir::printText(*program);
    EXPECT_NE(
        text.find("in  x     (Indirect(4), 128) f32  map { a = mul i 4; b = get list a; (b, 0) }"),
        std::string::npos)
        << text;
}

TEST(Print, everyLineNamesItsOperationOnce)
{
    const Result<ir::Program> program = rowSums();
    ASSERT_TRUE(program);
    std::vector<std::int32_t> named;
    for (const ir::PrintedLine& line : ir::print(*program)) {
        if (line.operation >= 0) {
            named.push_back(line.operation);
        }
    }
    // Names ascend in program order, except those of index maps, which stand in the lines of their
    // block specs.
    EXPECT_TRUE(std::is_sorted(named.begin(), named.end()));
    EXPECT_EQ(named.size(), static_cast<std::size_t>(program->operationCount) - 1);
}

TEST(Print, literalsOfFloatsShowThatTheyAreFloats)
{
    const Result<ir::Program> program =
        traced({pl::out("out", DType::F32, {8, 128})}, [](const std::vector<pl::Ref>& refs) {
            for (const double number :
                 {1.0, 0.01, -0.5, 1e30, -0.0, -std::numeric_limits<double>::infinity()}) {
                refs[0][pl::all] = pl::full({8, 128}, number, DType::F32);
            }
            refs[0][pl::all] = pl::convert(pl::full({8, 128}, -7, DType::Int32), DType::F32);
        });
    ASSERT_TRUE(program) << sentence(program);
    std::vector<std::string> literals;
    for (const ir::PrintedLine& line : ir::print(*program)) {
        const std::string name = "broadcast_in_dim ";
        if (const std::size_t at = line.text.find(name); at != std::string::npos) {
            literals.push_back(line.text.substr(at + name.size()));
        }
    }
    EXPECT_EQ(literals,
              (std::vector<std::string>{"1.0", "0.01", "-0.5", "1e+30", "-0.0", "-inf", "-7"}));
}

} // namespace pallascope::ir_test
