// How straight-line code of a GPU is divided at what it loads from GMEM.
#include "core/ir/builder_gpu.h"
#include "core/ir/infer.h"
#include "core/machine/prepare/load_levels.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <functional>

namespace pallascope::machine_test {

namespace {

using Body = std::function<void(const pl::Ref& x, const pl::Ref& y, const pl::Ref& out)>;

ir::Program onGpu(const Body& body)
{
    const Shape shape{64, 128};
    return pl::kernel(
               "block",
               {pl::in("x", kF32, shape), pl::in("y", kF32, shape), pl::out("out", kF32, shape)},
               [&](const pl::Ref& x, const pl::Ref& y, const pl::Ref& out) {
                   pl::gpu::launch({}, [&] { body(x, y, out); });
               })
        .value();
}

// The names of the loads, stores and exponentials of each part.
std::string partsOf(const ir::Program& program)
{
    std::vector<const ir::Operation*> operations;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (!ir::endsSegment(operation.code)) {
            operations.push_back(&operation);
        }
    });
    std::string text;
    std::size_t count = 0;
    for (const auto& part : machine::dividedByLoads(program, operations)) {
        text += "[";
        for (const ir::Operation* operation : part) {
            const std::string name(ir::opName(operation->code));
            if (name == "get" || name == "swap" || name == "exp") {
                text += (text.back() == '[' ? "" : " ") + name;
            }
            ++count;
        }
        text += "]";
    }
    EXPECT_EQ(count, operations.size());
    return text;
}

} // namespace

TEST(LoadLevels, haveWhatNeedsALoadBehindIt)
{
    EXPECT_EQ(partsOf(onGpu([](const pl::Ref& x, const pl::Ref&, const pl::Ref& out) {
                  out[pl::all] = pl::exp(x[pl::all].load());
              })),
              "[get][exp swap]");
}

// As compilers move loads up: nothing of the first one is needed for the second.
TEST(LoadLevels, haveLoadsThatNeedNoOtherTogether)
{
    EXPECT_EQ(partsOf(onGpu([](const pl::Ref& x, const pl::Ref& y, const pl::Ref& out) {
                  const pl::Value power = pl::exp(x[pl::all].load());
                  out[pl::all] = power + y[pl::all].load();
              })),
              "[get get][exp swap]");
}

// What is stored may be what is loaded behind it.
TEST(LoadLevels, keepLoadsBehindStores)
{
    EXPECT_EQ(partsOf(onGpu([](const pl::Ref& x, const pl::Ref& y, const pl::Ref& out) {
                  out[pl::all] = pl::exp(x[pl::all].load());
                  out[pl::all] = pl::exp(y[pl::all].load());
              })),
              "[get][exp swap get][exp swap]");
}

TEST(LoadLevels, areOneWithoutLoads)
{
    EXPECT_EQ(partsOf(onGpu([](const pl::Ref&, const pl::Ref&, const pl::Ref& out) {
                  out[pl::all] = pl::exp(pl::full({64, 128}, 1.0, kF32));
              })),
              "[exp swap]");
}

} // namespace pallascope::machine_test
