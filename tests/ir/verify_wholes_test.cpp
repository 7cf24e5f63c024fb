// Kernels and fusions and what they may hold: the verifier must say what is wrong, and where.
#include "core/ir/print.h"
#include "core/ir/verify.h"
#include "tests/ir/kernels.h"
#include "tests/ir/wholes.h"

#include <gtest/gtest.h>

namespace pallascope::ir_test {

using ir::OpCode;

namespace {

const Shape kShape{8, 128};

using Body = std::function<void(pl::Ref x, pl::Ref out)>;

// A program with x and out in HBM that only does `body`.
Result<ir::Program> program(const Body& body)
{
    return pl::kernel("whole",
                      {pl::in("x", DType::F32, kShape), pl::out("out", DType::F32, kShape)},
                      [&](pl::Ref x, pl::Ref out) { body(x, out); });
}

// What the author is told, without the place.
std::string complaint(const Body& body)
{
    const std::string all = sentence(program(body));
    const std::size_t place = all.find(": ");
    return place == std::string::npos ? all : all.substr(place + 2);
}

void add(const pl::Ref& x, const pl::Ref& out)
{
    out[pl::all] = x[pl::all] + 1.0;
}

void step(const pl::Ref& x, const pl::Ref& out)
{
    pl::emitPipeline({.in = {pl::wholeArray()}, .out = {pl::wholeArray()}},
                     [](pl::Ref a, pl::Ref b) { add(a, b); })(x, out);
}

// In each of these, the kernel or the fusion stands where it may not.
std::vector<std::pair<std::string, std::function<void(const std::function<void()>&)>>> insides()
{
    return {{"kernel", [](const auto& inner) { kernel("outer", inner); }},
            {"core_map", [](const auto& inner) { pl::coreMap("core", 1, inner); }}};
}

} // namespace

TEST(Wholes, areKernelsAndFusionsBesideEachOther)
{
    const Result<ir::Program> both = program([](pl::Ref x, pl::Ref out) {
        kernel("one", [&] { step(x, out); });
        fusion({"two"}, [&] { add(x, out); });
        kernel("three", [&] { step(x, out); });
    });
    EXPECT_EQ(sentence(both), "");
}

TEST(Wholes, ofLoopsAndBranchesAroundThemAreFine)
{
    EXPECT_EQ(complaint([](pl::Ref x, pl::Ref out) {
                  pl::foriLoop(3, {}, [&](pl::Value i, const auto&) {
                      pl::when(i > 0, [&] { kernel("one", [&] { step(x, out); }); });
                      fusion({"two"}, [&] { add(x, out); });
                      return std::vector<pl::Value>{};
                  });
              }),
              "");
}

TEST(Wholes, printTheirNames)
{
    const ir::Program both = program([](pl::Ref x, pl::Ref out) {
                                 kernel("one", [&] { step(x, out); });
                                 fusion({"two"}, [&] { add(x, out); });
                                 fusion({"three", false}, [&] { add(x, out); });
                             }).value();
    const std::string text = ir::printText(both);
    EXPECT_NE(text.find("kernel[name=one]"), std::string::npos) << text;
    EXPECT_NE(text.find("fusion[name=two]"), std::string::npos) << text;
    EXPECT_NE(text.find("fusion[name=three launches=False]"), std::string::npos) << text;
}

TEST(Wholes, haveOneBodyWithoutArguments)
{
    const ir::Program good = program([](pl::Ref x, pl::Ref out) {
                                 kernel("one", [&] { step(x, out); });
                                 fusion({"two"}, [&] { add(x, out); });
                             }).value();
    const auto refusal = [&](std::size_t which, const std::function<void(ir::Operation&)>& spoil) {
        ir::Program bad = good;
        ir::Operation& operation = bad.body.operations[which];
        spoil(operation);
        const std::string place = bad.where(operation.location) + ": ";
        const std::string told = sentence(ir::verify(bad));
        EXPECT_EQ(told.substr(0, place.size()), place);
        return told.substr(std::min(told.size(), place.size()));
    };
    const std::string needs[] = {"kernel needs one body without arguments and results.",
                                 "fusion needs one body without arguments."};
    for (const std::size_t which : {0U, 1U}) {
        EXPECT_EQ(refusal(which, [](auto& one) { one.regions.clear(); }), needs[which]);
        EXPECT_EQ(refusal(which, [](auto& one) { one.regions.emplace_back(); }), needs[which]);
        EXPECT_EQ(
            refusal(which,
                    [&](auto& one) { one.regions[0].arguments.push_back(good.arguments[0].ref); }),
            needs[which]);
    }
    const ir::ValueId loaded = good.body.operations[1].regions[0].operations[0].results[0];
    EXPECT_EQ(refusal(0, [&](auto& one) { one.regions[0].results.push_back(loaded); }), needs[0]);
}

TEST(Wholes, yieldWhatAFusionReturns)
{
    EXPECT_EQ(complaint([](pl::Ref x, pl::Ref out) {
                  const pl::Value sum =
                      fusion({"sum"}, [&]() -> std::vector<pl::Value> {
                          return {pl::reduce(OpCode::ReduceSum, x[pl::all], {0, 1})};
                      }).at(0);
                  EXPECT_EQ(sum.shape(), Shape{});
                  EXPECT_EQ(sum.dtype(), DType::F32);
                  fusion({"add"}, [&] { out[pl::all] = x[pl::all] + sum; });
              }),
              "");
}

TEST(Wholes, doNotStandInsideOneAnother)
{
    const std::string wrong =
        " stands inside a kernel, a fusion, a core_map or a pipeline; put it around them.";
    for (const auto& [name, around] : insides()) {
        SCOPED_TRACE(name);
        EXPECT_EQ(complaint([&, &around = around](pl::Ref x, pl::Ref out) {
                      around([&] { kernel("inner", [&] { step(x, out); }); });
                  }),
                  "kernel" + wrong);
        EXPECT_EQ(complaint([&, &around = around](pl::Ref x, pl::Ref out) {
                      around([&] { fusion({"inner"}, [&] { add(x, out); }); });
                  }),
                  "fusion" + wrong);
    }
    EXPECT_EQ(complaint([](pl::Ref x, pl::Ref out) {
                  pl::emitPipeline(
                      {.in = {pl::wholeArray()}, .out = {pl::wholeArray()}},
                      [&](pl::Ref, pl::Ref) { fusion({"inner"}, [&] { add(x, out); }); })(x, out);
              }),
              "fusion" + wrong);
}

TEST(Wholes, ofAFusionHoldValuesLoadsStoresBranchesAndLoops)
{
    EXPECT_EQ(complaint([](pl::Ref x, pl::Ref out) {
                  fusion({"all"}, [&] {
                      const pl::Value top = pl::reduce(OpCode::ReduceMax, x[pl::all], {0, 1});
                      pl::when(top > 1.0, [&] { add(x, out); });
                      const auto grow = [](pl::Value, auto carry) -> std::vector<pl::Value> {
                          return {carry[0] * 2.0};
                      };
                      const pl::Value grown = pl::foriLoop(3, {top}, grow)[0];
                      const pl::Value shrunk = pl::whileLoop(
                          {grown}, [](auto carry) { return carry[0] > 1.0; },
                          [](auto carry) -> std::vector<pl::Value> { return {carry[0] * 0.5}; })[0];
                      out[pl::all] = x[pl::all] * shrunk;
                  });
              }),
              "");
}

TEST(Wholes, ofAFusionHoldNothingElse)
{
    const auto holds = [](const std::string& what) {
        return "a fusion holds " + what
               + "; expected operations on values, loads, stores, branches and loops.";
    };
    const auto inFusion = [](const std::function<void(pl::Ref, pl::Ref)>& body) {
        return complaint([&](pl::Ref x, pl::Ref out) { fusion({"bad"}, [&] { body(x, out); }); });
    };
    EXPECT_EQ(inFusion([](pl::Ref x, pl::Ref out) { step(x, out); }), holds("pipeline"));
    EXPECT_EQ(inFusion([](pl::Ref x, pl::Ref out) { kernel("inner", [&] { step(x, out); }); }),
              holds("kernel"));
    EXPECT_EQ(inFusion([](pl::Ref x, pl::Ref out) { fusion({"inner"}, [&] { add(x, out); }); }),
              holds("fusion"));
    EXPECT_EQ(inFusion([](pl::Ref, pl::Ref) { pl::coreMap("core", 1, [] {}); }), holds("core_map"));
    EXPECT_EQ(inFusion([](pl::Ref, pl::Ref) {
                  pl::runScoped({}, [](const auto&) { return std::vector<pl::Value>{}; });
              }),
              holds("run_scoped"));
    EXPECT_EQ(inFusion([](pl::Ref, pl::Ref) { pl::delay(5); }), holds("delay"));
    // Putting it into a branch does not make it legal.
    EXPECT_EQ(inFusion([](pl::Ref x, pl::Ref) {
                  const pl::Value top = pl::reduce(OpCode::ReduceMax, x[pl::all], {0, 1});
                  pl::when(top > 1.0, [] { pl::delay(5); });
              }),
              holds("delay"));
    EXPECT_EQ(complaint([](pl::Ref x, pl::Ref out) {
                  pl::runScoped({pl::dmaSemaphores("sem")}, [&](const auto& refs) {
                      fusion({"bad"}, [&] { pl::dmaStart(x, out, refs[0]); });
                      return std::vector<pl::Value>{};
                  });
              }),
              holds("dma_start"));
}

TEST(Wholes, aloneOfAFusionLoadAndStoreWhatIsInHbm)
{
    const std::string wrong = " reaches Ref<hbm>{f32[8,128]}: loads and stores work on refs to "
                              "vmem, tilespmem, smem and tmem, other memory only through copies.";
    const auto load = [](pl::Ref x, pl::Ref) { (void)x[pl::all].load(); };
    const auto store = [](pl::Ref, pl::Ref out) { out[pl::all] = 1.0; };
    EXPECT_EQ(complaint([&](pl::Ref x, pl::Ref out) { kernel("k", [&] { load(x, out); }); }),
              "get" + wrong);
    EXPECT_EQ(complaint([&](pl::Ref x, pl::Ref out) { kernel("k", [&] { store(x, out); }); }),
              "swap" + wrong);
    EXPECT_EQ(complaint(load), "get" + wrong); // outside any kernel
    EXPECT_EQ(complaint([&](pl::Ref x, pl::Ref out) {
                  fusion({"f"}, [&] { store(x, out); });
                  load(x, out); // after the fusion
              }),
              "get" + wrong);
    EXPECT_EQ(complaint([&](pl::Ref x, pl::Ref out) {
                  fusion({"f"}, [&] {
                      load(x, out);
                      store(x, out);
                  });
              }),
              "");
    // Other accesses belong into kernels.
    EXPECT_EQ(complaint([](pl::Ref x, pl::Ref) {
                  fusion({"f"}, [&] {
                      const pl::Value mask = pl::full(kShape, 1, DType::Bool);
                      (void)pl::maskedLoad(x, mask, pl::full(kShape, 0, DType::F32));
                  });
              }),
              "masked_load" + wrong);
}

} // namespace pallascope::ir_test
